"""Bodies of requests, in the forms that all three servers take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warmstack.client.failures import InvalidArgument

RESERVED = {
    "messages": "it is the first argument of chat and stream",
    "prompt": "it is the first argument of complete",
    "stream": "stream() streams, chat() and complete() do not",
    "requestType": "session() opens and closes sessions",
}


def chat_body(
    messages: Sequence[Mapping[str, Any]], *, options: Mapping[str, Any], stream: bool = False
) -> dict[str, Any]:
    """Return the body of a chat.

    Args:
        messages: The conversation, in OpenAI's form.
        options: What else the server takes: ``tools``, ``max_tokens``, ``response_format``, …; None is left out.
        stream: Whether the answer comes in parts.

    Raises:
        InvalidArgument: An option is one that the client sets.
    """
    return {"messages": list(messages)} | _options(options, stream=stream)


def completion_body(prompt: str, *, options: Mapping[str, Any], stream: bool = False) -> dict[str, Any]:
    """Return the body of a completion: text in, its continuation out.

    Args:
        prompt: The text.
        options: As of a chat.
        stream: Whether the answer comes in parts.

    Raises:
        InvalidArgument: An option is one that the client sets.
    """
    return {"prompt": prompt} | _options(options, stream=stream)


def _options(options: Mapping[str, Any], *, stream: bool) -> dict[str, Any]:
    for name in options:
        if name in RESERVED:
            raise InvalidArgument(f"the option {name!r} cannot be given: {RESERVED[name]}")
    given = {name: value for name, value in options.items() if value is not None}
    if stream:
        # Without it a stream tells no usage, and with it no cached tokens.
        given = {"stream_options": {"include_usage": True}} | given | {"stream": True}
    return given
