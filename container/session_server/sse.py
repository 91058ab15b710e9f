"""Server-sent events: bytes in any portions → whole events, and back."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pydantic_core import to_json

DONE = b"[DONE]"
# An event ends with an empty line; a line ends with CRLF, LF or CR (the HTML standard, section 9.2.6). The same
# expression as in container/formatters/server_sent_events.py, so that both images cut alike.
_END = re.compile(rb"\r?\n\r?\n|\r\r")
_LONGEST_END = 4
_LINE = re.compile(rb"\r\n|\n|\r")
_MARK = b"\xef\xbb\xbf"


class EventSplitter:
    """Collects bytes and returns the events that are complete, whatever portions the bytes come in."""

    def __init__(self) -> None:
        self._waiting = bytearray()
        self._searched = 0
        self._begun = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Add bytes; yield each event that they complete, with its line ends."""
        self._waiting += data
        # Guard: only what is new is searched, and the beginning of an end before it. An event of 8 MB comes in 500
        # portions; searching all of them again for each would hold every other request for seconds.
        while end := _END.search(self._waiting, max(0, self._searched - _LONGEST_END)):
            event = bytes(self._waiting[: end.end()])
            del self._waiting[: end.end()]
            self._searched = 0
            yield self._without_mark(event)
        self._searched = len(self._waiting)

    def rest(self) -> bytes:
        """Return what has come and is no whole event."""
        return self._without_mark(bytes(self._waiting))

    def _without_mark(self, event: bytes) -> bytes:
        """Drop a byte order mark at the stream's beginning, which belongs to no field."""
        if self._begun:
            return event
        self._begun = True
        return event.removeprefix(_MARK)


def event_data(event: bytes) -> bytes | None:
    """Return the data of an event, or None if it has none (a comment, for one)."""
    lines = [line.partition(b":")[2].removeprefix(b" ") for line in _LINE.split(event) if _is_data(line)]
    return b"\n".join(lines) if lines else None


def encode_event(data: str | bytes, others: bytes = b"") -> bytes:
    """Return an event with this data; each of its lines becomes a line of the event.

    Args:
        data: The data.
        others: An event whose other lines are kept: its type, its id and comments.
    """
    raw = data.encode() if isinstance(data, str) else data
    kept = [line for line in _LINE.split(others) if line and not _is_data(line)]
    return b"".join(line + b"\n" for line in [*kept, *(b"data: " + line for line in _LINE.split(raw))]) + b"\n"


def json_event(value: object) -> bytes:
    """Return an event with a value as JSON."""
    return b"data: " + to_json(value) + b"\n\n"


def _is_data(line: bytes) -> bool:
    return line.partition(b":")[0] == b"data"
