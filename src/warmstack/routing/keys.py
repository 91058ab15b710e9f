"""From a request to the key of its route: the prefix, and the identifier that goes with it.

Source: PrefixAwareRoutingConfig and InvokeEndpointInput of botocore 1.44.8 (read 2026-11-30): bytes from the start of
the body, characters of the text content of ``messages`` on the OpenAI path; the same prefix and the same PrefixAwareId
go to the same instance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from warmstack.routing.choices import ShortBodies, TextParts

_DIGEST_BYTES = 16
_LENGTH_BYTES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """The part of a request that decides its route.

    Args:
        data: The bytes, or the characters in UTF-8.
        short: Whether the request ended before the prefix length.
    """

    data: bytes
    short: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteKey:
    """A digest of a prefix and its identifier; nothing of the body can be read from it.

    Args:
        digest: 16 bytes.
    """

    digest: bytes

    def __str__(self) -> str:
        return f"{self.digest[:4].hex()}…"


def body_prefix(body: bytes, length: int) -> Prefix:
    """Return the first ``length`` bytes of a body (InvokeEndpoint and its streaming form)."""
    return Prefix(data=body[:length], short=len(body) < length)


def messages_prefix(messages: object, length: int, *, text_parts: TextParts = TextParts.CONCATENATED) -> Prefix:
    """Return the first ``length`` characters of the text content of messages (the OpenAI path).

    Args:
        messages: The value of ``messages``. What is no text in it counts for nothing: images, tool calls, and forms
            that the server is going to refuse.
        length: In characters.
        text_parts: What stands between two texts.
    """
    between = "\n" if text_parts is TextParts.LINES else ""
    taken: list[str] = []
    left = length
    for text in _texts(messages):
        joined = between + text if taken else text
        taken.append(joined[:left])
        left -= len(taken[-1])
        if not left:
            break
    # Guard: JSON may hold half of a surrogate pair, which strict UTF-8 has no bytes for.
    return Prefix(data="".join(taken).encode("utf-8", "surrogatepass"), short=left > 0)


def route_key(
    prefix: Prefix, prefix_aware_id: str | None = None, *, short_bodies: ShortBodies = ShortBodies.WHOLE_BODY
) -> RouteKey | None:
    """Return the key of a route, or None where the request has none.

    Args:
        prefix: Of :func:`body_prefix` or :func:`messages_prefix`.
        prefix_aware_id: PrefixAwareId of the request.
        short_bodies: Whether a short request has a key.
    """
    if prefix.short and short_bodies is ShortBodies.UNKEYED:
        return None
    # The length stands before the identifier, so that ("ab", "c") and ("a", "bc") differ, and so do none and empty.
    named = b"" if prefix_aware_id is None else prefix_aware_id.encode("utf-8", "surrogatepass")
    length = 0 if prefix_aware_id is None else len(named) + 1
    digest = sha256(length.to_bytes(_LENGTH_BYTES, "big"))
    digest.update(named)
    digest.update(prefix.data)
    return RouteKey(digest=digest.digest()[:_DIGEST_BYTES])


def _texts(messages: object) -> Iterator[str]:
    for message in messages if isinstance(messages, list) else ():
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, str):
            yield content
        for part in content if isinstance(content, list) else ():
            text = part.get("text") if isinstance(part, dict) else part
            if isinstance(text, str):
                yield text
