"""What kind of text varies: a time, an identifier, a number, or what people wrote."""

from __future__ import annotations

import re
from enum import StrEnum

from warmstack.payload.escapes import without_escapes

_AROUND = 48


class Varying(StrEnum):
    """The kinds of text that vary by themselves."""

    TIMESTAMP = "timestamp"
    ID = "id"
    NUMBER = "number"


_MONTHS = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_DAYS = rb"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*"
_CLOCK = rb"[0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{1,9})?)?(?: ?[AaPp][Mm])?(?:Z| ?[+-][0-9]{2}:?[0-9]{2})?"
_DATE = (
    rb"(?:[12][0-9]{3}[-/.][01]?[0-9][-/.][0-3]?[0-9]|[0-3]?[0-9][-/.][01]?[0-9][-/.][12][0-9]{3}"
    rb"|(?:" + _DAYS + rb",? )?[0-3]?[0-9]\.? " + _MONTHS + rb",? [12][0-9]{3}"
    rb"|(?:" + _DAYS + rb",? )?" + _MONTHS + rb" [0-3]?[0-9](?:st|nd|rd|th)?,? [12][0-9]{3})"
)
_PATTERNS = (
    # Seconds, milliseconds and microseconds since 1970, of the years 2017 to 2033.
    (Varying.TIMESTAMP, re.compile(rb"(?<![0-9])1[5-9][0-9]{8}(?:[0-9]{3}){0,2}(?:\.[0-9]+)?(?![0-9])")),
    (Varying.ID, re.compile(rb"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")),
    (Varying.TIMESTAMP, re.compile(rb"(?<![0-9])" + _DATE + rb"(?:(?:[T, ]|, | at )+" + _CLOCK + rb")?")),
    (Varying.TIMESTAMP, re.compile(rb"(?<![0-9:])" + _CLOCK + rb"(?![0-9:])")),
    # A word of a maker's own, then what no person writes: req_01HZX…, chatcmpl-9a1b…, call_Ab3….
    (Varying.ID, re.compile(rb"\b[A-Za-z]{2,12}[_-](?=[A-Za-z0-9]*[0-9])[A-Za-z0-9]{6,64}\b")),
    (Varying.ID, re.compile(rb"\b(?=[0-9a-fA-F]*[0-9])(?=[0-9a-fA-F]*[a-fA-F])[0-9a-fA-F]{7,128}\b")),
    (Varying.ID, re.compile(rb"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b")),
    (Varying.NUMBER, re.compile(rb"[-+]?[0-9][0-9.,]*(?:[eE][-+]?[0-9]+)?")),
)


def varying(left: bytes, right: bytes, offset: int) -> Varying | None:
    """Return the kind of what differs at an offset of two texts, if both hold the same kind there.

    Args:
        left: one text; before the offset it equals the other.
        right: the other.
        offset: of the first byte that differs.
    """
    start = max(0, offset - _AROUND)
    pieces = [without_escapes(data[start : offset + _AROUND]) for data in (left, right)]
    for kind, pattern in _PATTERNS:
        if all(_covers(pattern, piece, offset - start) for piece in pieces):
            return kind
    return None


def _covers(pattern: re.Pattern[bytes], piece: bytes, offset: int) -> bool:
    # One that ends at the offset counts too: 9 and 10 differ behind the 9 of 9, or at its place.
    return any(match.start() <= offset <= match.end() for match in pattern.finditer(piece))


def masked(text: bytes) -> bytes:
    """Return a text with one mark for each time, identifier and number in it: equal for texts that only vary so."""
    for _, pattern in _PATTERNS:
        text = pattern.sub(b"#", text)
    return text
