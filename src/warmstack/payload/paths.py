"""The place of a value in JSON, as people write it: ``messages[0].content``."""

from __future__ import annotations

import re
from collections.abc import Iterable

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*", re.ASCII)
_LONGEST_KEY = 40
_MOST_PARTS = 24


def json_path(parts: Iterable[object]) -> str:
    """Return a path in words: ``messages[0].content``, or ``the body`` for the whole.

    Args:
        parts: keys (text) and positions (whole numbers), from the outside in. A key that is no plain word is quoted.
    """
    text = ""
    shown = tuple(parts)
    if len(shown) > _MOST_PARTS:
        return f"{json_path(shown[: _MOST_PARTS // 2])}…{json_path(shown[-_MOST_PARTS // 2 :])}"
    for part in shown:
        if isinstance(part, int):
            text += f"[{part}]"
        elif isinstance(part, str) and _PLAIN.fullmatch(part):
            text += f".{part}" if text else part
        else:
            text += f"[{excerpt(part)}]"
    return text or "the body"


def excerpt(value: object, longest: int = _LONGEST_KEY) -> str:
    """Return a text or a number as Python writes it, in ASCII and cut, and the type of anything else."""
    if isinstance(value, str | bytes):
        # Guard: cut before it is escaped, or one value could cost more than the whole message.
        return ascii(value) if len(value) <= longest else f"{value[:longest]!a}…"
    if value is None or isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < 10**longest):
        return ascii(value)
    return f"of type {type(value).__name__}"
