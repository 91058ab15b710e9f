"""Whether two strings hold the same character at a place, one as an escape and one as UTF-8, or as two escapes."""

from __future__ import annotations

import json
import re

_ESCAPE = re.compile(rb"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)
_HIGH = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}")
_LONGEST = 12
"""Bytes of the longest form of one character: two escapes of a surrogate pair."""
_LONGEST_UTF_8 = 4


def same_character(left: bytes, right: bytes, start: int, offset: int) -> bool:
    """Return whether two strings differ at an offset in how they write a character, and not in the character.

    Args:
        left: a body.
        right: another one, equal before the offset.
        start: where the string begins, in both.
        offset: where they differ, behind ``start``.
    """
    unit = _unit_start(left, start, offset)
    if b"\\" not in (left[unit : unit + 1], right[unit : unit + 1]):
        return False
    one, other = _character(left, unit), _character(right, unit)
    return one is not None and one == other


def without_escapes(data: bytes) -> bytes:
    """Return the text of a string with question marks, as many, for its escapes: their digits are no numbers."""
    return _ESCAPE.sub(lambda match: b"?" * len(match[0]), data)


def _unit_start(data: bytes, start: int, offset: int) -> int:
    """Return where the character that holds the offset begins; the bytes before the offset are those of both."""
    unit = offset
    before = start + 1
    for match in _ESCAPE.finditer(data, start + 1, offset + _LONGEST):
        if match.start() >= offset:
            break
        before = match.end()
        if match.end() > offset:
            unit = match.start()
    # Guard: the second half of a surrogate pair is no character of its own.
    half = unit - _LONGEST // 2
    if half > start and _HIGH.fullmatch(data, half, unit):
        return half
    while unit > max(before - 1, offset - _LONGEST_UTF_8) and 0x80 <= data[unit] < 0xC0:
        unit -= 1
    return unit


def _character(data: bytes, start: int) -> str | None:
    """Return the character that begins at an offset, in whichever form, or None for what is none."""
    if data[start : start + 1] == b"\\":
        end = _ESCAPE.match(data, start)
        if end is None:
            return None
        stop = end.end()
        if _HIGH.fullmatch(data, start, stop) and (low := _ESCAPE.match(data, stop)) is not None:
            stop = low.end()
        try:
            return str(json.loads(b'"' + data[start:stop] + b'"'))
        except ValueError:
            return None
    for length in range(1, _LONGEST_UTF_8 + 1):
        try:
            return data[start : start + length].decode() or None
        except UnicodeDecodeError:
            continue
    return None
