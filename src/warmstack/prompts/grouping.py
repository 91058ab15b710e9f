"""Which requests should share a prefix: those of one conversation, or else those that open alike.

A file that names conversations is taken at its word. Otherwise requests belong together when the value of their system
prompt is the same, or of their first message without one, or the first characters of a prompt that is one text. It is
the value that counts, so that two ways to write the same prompt meet; and times, identifiers and numbers in it do not
count, so that a prompt with the date in it is found and not taken for many prompts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import orjson

from warmstack.payload.varying import masked
from warmstack.workload import RecordedRequest

_OPENING_CHARACTERS = 4096
_TEXT_CHARACTERS = 256
_NAME_CHARACTERS = 48
_SYSTEM_ROLES = ("system", "developer")
_PROMPTS = ("inputs", "prompt", "input")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The group of a request.

    Args:
        key: equal for requests of the same group.
        name: for people.
        is_conversation: the file names it.
        route: equal for requests whose prefixes can meet: same endpoint, component and PrefixAwareId.
    """

    key: bytes
    name: str
    is_conversation: bool
    route: bytes


def group_of(request: RecordedRequest, body: Mapping[str, Any] | None) -> Group:
    """Return the group of a request.

    Args:
        request: with its conversation, endpoint, component and PrefixAwareId: requests of two never share a route.
        body: what its bytes hold, or None when they are no JSON object.
    """
    route = (request.endpoint, request.component, request.prefix_aware_id)
    meets = _digest(*route)
    if request.conversation is not None:
        key = _digest(*route, "c", request.conversation)
        return Group(key=key, name=request.conversation, is_conversation=True, route=meets)
    opening = _opening(body) if body is not None else request.body[:_TEXT_CHARACTERS].decode("utf-8", "replace")
    name = " ".join(opening[: 2 * _NAME_CHARACTERS].split())[:_NAME_CHARACTERS]
    return Group(key=_digest(*route, "o", _stable(opening)), name=name, is_conversation=False, route=meets)


def has_prompt(body: Mapping[str, Any]) -> bool:
    """Return whether a body asks for an answer; those that open and close sessions do not."""
    return "requestType" not in body or "messages" in body or any(key in body for key in _PROMPTS)


def _opening(body: Mapping[str, Any]) -> str:
    messages = body.get("messages")
    if isinstance(messages, list) and messages:
        first = messages[0]
        if not isinstance(first, dict):
            return _written(first)
        role = first.get("role")
        # Guard: the role is a part of it, or a user could say what the system does.
        kind = "" if role in _SYSTEM_ROLES else f"{role}: "
        return kind + _written(first.get("content"))
    for key in _PROMPTS:
        if key in body:
            return _written(body[key])[:_TEXT_CHARACTERS]
    return _written(body)[:_TEXT_CHARACTERS]


def _written(value: object) -> str:
    if isinstance(value, list) and value and all(isinstance(part, dict) and "text" in part for part in value):
        # Guard: a text and a list of one text part are the same prompt, which two clients write differently.
        return "".join(str(part["text"]) for part in value)[:_OPENING_CHARACTERS]
    if isinstance(value, str):
        return value[:_OPENING_CHARACTERS]
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()[:_OPENING_CHARACTERS]
    except orjson.JSONEncodeError:
        return ascii(value)[:_OPENING_CHARACTERS]


@lru_cache(maxsize=256)
def _stable(opening: str) -> str:
    return masked(opening.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")


def _digest(*parts: str | None) -> bytes:
    text = "\0".join("\1" if part is None else part for part in parts)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
