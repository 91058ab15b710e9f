"""From a request to its canonical bytes: equal requests become equal bytes, and the prompt comes first.

Source of the layout: RFC 8785 (JSON Canonicalization Scheme) for what is inside a value, without its number format;
PrefixAwareRoutingConfig of botocore 1.44.8 (bytes from the start of the body) for the order on the outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from operator import itemgetter
from typing import Any

import orjson

from warmstack.payload.errors import PayloadError
from warmstack.payload.order import (
    CALL_KEYS,
    FUNCTION_KEYS,
    MESSAGE_KEYS,
    PART_KEYS,
    KeyOrderError,
    body_order,
    inner_order,
)
from warmstack.payload.paths import excerpt
from warmstack.payload.refusals import holds_non_finite, refusal

# Guard: orjson would write dates and dataclasses in a form of its own; a body that holds them was not meant as JSON.
_PLAIN = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
_SORTED = _PLAIN | orjson.OPT_SORT_KEYS
_USUAL_MESSAGE = ["role", "content"]
_ROLE, _CONTENT = itemgetter("role"), itemgetter("content")
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
_TEXT = {str}
_LISTS = (list, tuple)
_tools_before: tuple[bytes, object] = (b"", None)
_SCALARS = frozenset({str, int, bool, type(None)})


class _NonFiniteError(Exception):
    """A NaN or an infinity, which orjson would write as null."""


def canonical(body: Mapping[str, object]) -> bytes:
    """Return the canonical bytes of a request; the body is not changed.

    The prompt comes first (``messages``, ``inputs`` or ``prompt``), then ``tools``, then unknown keys sorted, then
    sampling parameters, and ``model``, ``stream``, ``user``, ``metadata``, identifiers and ``seed`` last. A message is
    ``role``, ``name``, ``content``, ``tool_calls``, ``tool_call_id``, the rest sorted; everything else is sorted by
    key. Compact UTF-8, without an escape that JSON does not require. The result parses to the same JSON value as the
    body, with one exception: ``tools`` are sorted by the name of their function.

    Args:
        body: a JSON object of dicts, lists (or tuples), texts, numbers, booleans and None. An enumeration counts as its
            value, a UUID as its text.

    Raises:
        PayloadError: the body holds something that JSON has no form for, with its path, the rule and the way out.
    """
    if type(body) is not dict and not isinstance(body, Mapping):
        raise PayloadError(f"the body is {excerpt(body)}; a request is a JSON object: build a dict")
    try:
        made: dict[str, object] = {}
        for key in body_order(tuple(body)):
            value = body[key]
            if type(value) in _SCALARS:
                made[key] = value
            elif key == "messages" and isinstance(value, _LISTS):
                made[key] = _messages(value)
            elif key == "tools" and isinstance(value, _LISTS):
                made[key] = _tools(value)
            else:
                made[key] = _value(value)
        return orjson.dumps(made, option=_PLAIN)
    except (orjson.JSONEncodeError, KeyOrderError, _NonFiniteError) as error:
        raise refusal(dict(body), error) from None


def _messages(messages: list[Any] | tuple[Any, ...]) -> object:
    """Return the messages themselves where each is a role and a text, in this order, or copies in the fixed order."""
    if _usual(messages):
        return messages
    return [_object(message, MESSAGE_KEYS, _MESSAGE_VALUES) for message in messages]


def _usual(messages: list[Any] | tuple[Any, ...]) -> bool:
    """Return whether each message is a known role and a text, in this order: the loops are those of the interpreter."""
    try:
        return (
            [*chain.from_iterable(messages)] == _USUAL_MESSAGE * len(messages)
            and _ROLES.issuperset(map(_ROLE, messages))
            and set(map(type, map(_CONTENT, messages))) == _TEXT
        )
    except (TypeError, KeyError):
        return False


def _object(value: object, first: tuple[str, ...], inner: Mapping[str, Any]) -> object:
    """Return a dict in a fixed order of keys, and what is no dict as the serializer wants it."""
    if not isinstance(value, dict):
        return _value(value)
    return {
        key: one if type(one := value[key]) in _SCALARS else inner.get(key, _value)(one)
        for key in inner_order(tuple(value), first)
    }


def _objects(values: object, first: tuple[str, ...], inner: Mapping[str, Any]) -> object:
    if isinstance(values, _LISTS):
        return [_object(one, first, inner) for one in values]
    return _value(values)


def _parts(content: object) -> object:
    return _objects(content, PART_KEYS, {})


def _calls(calls: object) -> object:
    return _objects(calls, CALL_KEYS, _CALL_VALUES)


def _function(function: object) -> object:
    return _object(function, FUNCTION_KEYS, {})


_MESSAGE_VALUES = {"content": _parts, "tool_calls": _calls}
_CALL_VALUES = {"function": _function}


def _value(value: object) -> object:
    """Return a value whose keys are sorted at every level, ready for the serializer."""
    if type(value) in _SCALARS:
        return value
    data = orjson.dumps(value, option=_SORTED)
    # Guard: orjson writes NaN as null. To look for the word is fast, and mostly the answer.
    if b"null" in data and holds_non_finite(value):
        raise _NonFiniteError
    return orjson.Fragment(data)


def _tools(tools: list[Any] | tuple[Any, ...]) -> object:
    """Return the tools sorted by name, without sorting them again where they are those of the call before."""
    global _tools_before  # noqa: PLW0603 - a pair that is replaced as a whole: threads see one or the other
    plain = orjson.dumps(tools, option=_PLAIN)
    if _tools_before[0] == plain:
        return _tools_before[1]
    made = _value(sorted(tools, key=_tool_name))
    if b"null" not in plain:
        _tools_before = (plain, made)
    return made


def _tool_name(tool: object) -> tuple[bool, str]:
    """Return the key that sorts tools: by name, and those without one last, as they came."""
    name = None
    if isinstance(tool, dict):
        function = tool.get("function")
        name = function.get("name") if isinstance(function, dict) else tool.get("name")
    return (False, name) if isinstance(name, str) else (True, "")
