"""Server-sent events: bytes in any portions → whole events, and back."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic_core import to_json

DONE = b"[DONE]"
# An event ends with an empty line; a line ends with CRLF, LF or CR (the HTML standard, section 9.2.6).
_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_LINE = re.compile(rb"\r\n|\n|\r")


class EventSplitter:
    """Collects bytes and returns the events that are complete, whatever portions the bytes come in."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Add bytes; yield each event that they complete, with its line ends."""
        self._rest += data
        start = 0
        for end in _END.finditer(self._rest):
            yield self._rest[start : end.end()]
            start = end.end()
        self._rest = self._rest[start:]

    def rest(self) -> bytes:
        """Return what has come and is no whole event."""
        return self._rest


def event_data(event: bytes) -> bytes | None:
    """Return the data of an event, or None if it has none (a comment, for one)."""
    lines = [line[5:].removeprefix(b" ") for line in _LINE.split(event) if line.startswith(b"data:")]
    return b"\n".join(lines) if lines else None


def encode_event(data: str | bytes) -> bytes:
    """Return an event with this data; each of its lines becomes a line of the event."""
    raw = data.encode() if isinstance(data, str) else data
    return b"".join(b"data: " + line + b"\n" for line in _LINE.split(raw)) + b"\n"


def json_event(value: object) -> bytes:
    """Return an event with a value as JSON."""
    return b"data: " + to_json(value) + b"\n\n"
