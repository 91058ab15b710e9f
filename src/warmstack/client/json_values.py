"""JSON as servers send it, and its members with the types that they must have."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NoReturn

import orjson

from warmstack.client.events import Usage


class UnexpectedValueError(ValueError):
    """A document is not what a server of ours sends; the text says what it has."""


def read_json(data: bytes) -> Any:
    """Return the value of a JSON document.

    Engines cut tokens in the middle of a character; a server may then send half of a surrogate pair, as an escape or
    as three bytes. orjson refuses both. They are read here, and `sound` mends them.

    Args:
        data: The document, in UTF-8.

    Raises:
        ValueError: It is none, is nested too deeply, or has a number that is not finite.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        if b"\\u" not in data and b"\xed" not in data:
            raise
    try:
        text = data.decode("utf-8", "surrogatepass")
        return json.loads(text, parse_constant=_refused, parse_float=_finite)
    except RecursionError:
        raise UnexpectedValueError("it is nested too deeply") from None


def sound(text: str) -> str:
    """Return a text that is Unicode: halves of a pair that stand together are joined, others become U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def optional_text(owner: Mapping[str, Any], name: str) -> str | None:
    """Return a text, or None where it is null or absent.

    Raises:
        UnexpectedValueError: It is something else.
    """
    value = owner.get(name)
    if value is None or isinstance(value, str):
        return value
    raise UnexpectedValueError(f"{name} is {shown(value)}; it must be a text or null")


def mappings(value: object, name: str) -> list[dict[str, Any]]:
    """Return a list of objects.

    Raises:
        UnexpectedValueError: It is something else.
    """
    if isinstance(value, list):
        for one in value:
            if not isinstance(one, dict):
                break
        else:
            return value
    raise UnexpectedValueError(f"{name} is {shown(value)}; it must be a list of objects")


def index_of(owner: Mapping[str, Any], otherwise: int) -> int:
    """Return the ``index`` of a choice or of a tool's call.

    Args:
        owner: It.
        otherwise: What it is where it is null or absent.

    Raises:
        UnexpectedValueError: It is no whole number from 0.
    """
    value = owner.get("index")
    if value is None:
        return otherwise
    return _count(value, "index")


def read_usage(value: object) -> Usage | None:
    """Return the counted tokens of a ``usage``; None for null.

    Raises:
        UnexpectedValueError: It is something else.
    """
    if value is None:
        return None
    if not isinstance(value, dict):
        raise UnexpectedValueError(f"usage is {shown(value)}; it must be an object or null")
    prompt = _count(value.get("prompt_tokens"), "usage.prompt_tokens")
    # A first usage of a stream may leave out what is not there yet.
    completion = _count(value.get("completion_tokens") or 0, "usage.completion_tokens")
    total = value.get("total_tokens")
    details = value.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        total_tokens=prompt + completion if total is None else _count(total, "usage.total_tokens"),
        cached_tokens=None if cached is None else _count(cached, "usage.prompt_tokens_details.cached_tokens"),
    )


def shown(value: object) -> str:
    """Return a value for a message, cut to a readable length."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _count(value: object, name: str) -> int:
    # Guard: true is an int in Python.
    if type(value) is int and value >= 0:
        return value
    raise UnexpectedValueError(f"{name} is {shown(value)}; it must be a whole number from 0")


def _finite(text: str) -> float:
    value = float(text)
    if math.isfinite(value):
        return value
    raise UnexpectedValueError(f"{text[:20]} is no finite number")


def _refused(text: str) -> NoReturn:
    raise UnexpectedValueError(f"{text} is no number of JSON")
