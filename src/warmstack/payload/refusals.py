"""Why a value has no canonical bytes: the place, the value, the rule and the way out."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from uuid import UUID

from warmstack.payload.errors import PayloadError
from warmstack.payload.paths import excerpt, json_path

_DEEPEST = 250
"""Levels below the body. orjson stops a little above 250, and no request of a model server comes near."""
_LOWEST, _HIGHEST = -(2**63), 2**64 - 1


@dataclass(frozen=True, slots=True)
class _Node:
    """A value on the way from the body down to the one that is looked at."""

    value: object
    part: object
    parent: _Node | None
    depth: int

    @property
    def path(self) -> str:
        parts: list[object] = []
        node: _Node | None = self
        while node is not None and node.parent is not None:
            parts.append(node.part)
            node = node.parent
        return json_path(reversed(parts))

    def holds_itself(self) -> bool:
        seen, node = self.value, self.parent
        while node is not None and node.value is not seen:
            node = node.parent
        return node is not None


def refusal(body: object, answer: object) -> PayloadError:
    """Return the error for a body that could not be written.

    Args:
        body: what was to be written.
        answer: what the serializer said, for a reason that is not known here.
    """
    for reason_of in (_reason, _subclass_reason):
        for node in _walk(body):
            reason = reason_of(node)
            if reason is not None:
                return PayloadError(f"{node.path} {reason}")
    return PayloadError(
        f"the body cannot be written as JSON: {answer}; build it of plain dicts, lists, texts and numbers"
    )


def holds_non_finite(value: object) -> bool:
    """Return whether a value that could be written holds NaN or an infinity, which orjson writes as null."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            left.extend(one.values())
        elif isinstance(one, list | tuple):
            left.extend(one)
        elif isinstance(one, Enum):
            left.append(one.value)
        elif isinstance(one, float) and not math.isfinite(one):
            return True
    return False


def _walk(body: object) -> Iterator[_Node]:
    """Yield every value in the order of the body, parents first."""
    left = [_Node(body, "", None, 0)]
    while left:
        node = left.pop()
        yield node
        value = node.value
        if isinstance(value, Enum):
            value = value.value
        if isinstance(value, dict):
            left.extend(_Node(inner, key, node, node.depth + 1) for key, inner in reversed(value.items()))
        elif isinstance(value, list | tuple):
            inner = [_Node(one, place, node, node.depth + 1) for place, one in enumerate(value)]
            left.extend(reversed(inner))


def _reason(node: _Node) -> str | None:
    value = node.value.value if isinstance(node.value, Enum) else node.value
    if node.depth > _DEEPEST:
        return (
            "contains itself; JSON has no cycles: send a copy of the inner value"
            if _is_cycle(node)
            else f"is nested {node.depth} levels deep; at most {_DEEPEST} can be written: flatten it"
        )
    if isinstance(value, dict):
        return next((_key_reason(key) for key in value if _key_reason(key) is not None), None)
    if isinstance(value, str):
        return _surrogate_reason(value)
    if value is None or isinstance(value, bool | list | tuple | UUID):
        return None
    if isinstance(value, int):
        if _LOWEST <= value <= _HIGHEST:
            return None
        return "is a whole number beyond 64 bits; JSON readers lose its digits: send it as text"
    if isinstance(value, float):
        if math.isfinite(value):
            return None
        return f"is {value}; JSON has no NaN and no infinities: leave the key out, or send a number"
    return f"is {_named(value)}; JSON has no such type: {_way_out(value)}"


def _subclass_reason(node: _Node) -> str | None:
    """Return why a kind of float or tuple is refused, which the serializer takes for no float and no tuple."""
    value = node.value
    if isinstance(value, float) and type(value) is not float:
        return f"is {_named(value)}; only a plain float is a number of JSON: send float(value)"
    if isinstance(value, tuple) and type(value) is not tuple:
        return f"is {_named(value)}; only a plain tuple is an array of JSON: send list(value)"
    return None


def _key_reason(key: object) -> str | None:
    if type(key) is str:
        reason = _surrogate_reason(key)
        return None if reason is None else f"has the key {excerpt(key)}, which {reason}"
    return f"has the key {excerpt(key)} of type {type(key).__name__}; keys in JSON are text: write str(key)"


def _surrogate_reason(text: str) -> str | None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return (
            f"holds half of a surrogate pair, \\u{ord(text[error.start]):04x} at character {error.start}; UTF-8 has no "
            'bytes for it: decode what it came from as UTF-8, or use text.encode("utf-8", "replace").decode()'
        )
    return None


def _is_cycle(node: _Node) -> bool:
    above: _Node | None = node
    while above is not None:
        if isinstance(above.value, dict | list | tuple) and above.holds_itself():
            return True
        above = above.parent
    return False


def _named(value: object) -> str:
    kind = type(value)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _way_out(value: object) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        return "send text, or the base64 of the bytes"
    if isinstance(value, set | frozenset):
        return "send sorted(value)"
    if hasattr(value, "isoformat"):
        return "send value.isoformat(), and never before the prompt"
    if hasattr(value, "model_dump"):
        return "send value.model_dump()"
    if hasattr(value, "__dataclass_fields__"):
        return "send dataclasses.asdict(value)"
    return "build the body of plain dicts, lists, texts and numbers"
