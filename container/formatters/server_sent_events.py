"""Server-sent events out of a stream of bytes, wherever it was cut."""

from __future__ import annotations

import re
from dataclasses import dataclass

# The end of an event: a line break and an empty line, each in any of its forms.
_END = re.compile(rb"\r?\n\r?\n|\r\r")
_LONGEST_END = 4
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event.

    Args:
        raw: its bytes as received, without the empty line that ends it.
        data: what its ``data`` lines hold, or None without such a line (a comment that keeps a connection alive).
        others: its other lines, in their order.
    """

    raw: bytes
    data: str | None
    others: tuple[str, ...]

    def with_data(self, data: str) -> bytes:
        """Return the bytes of this event with other data, with the empty line that ends it."""
        lines = [*self.others, *(f"data: {line}" for line in re.split(r"\r\n|\r|\n", data))]
        return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape") + b"\n"


class EventReader:
    """Takes bytes as they come and gives whole events.

    An event ends with a line break, so no cut inside a character or a line break changes what is read.
    """

    def __init__(self) -> None:
        self._waiting = bytearray()
        self._searched = 0
        self._begun = False

    def feed(self, received: bytes) -> list[Event]:
        """Return the events that are complete with these bytes."""
        self._waiting += received
        events: list[Event] = []
        while True:
            # What was searched before holds no end, but it may hold the beginning of one.
            end = _END.search(self._waiting, max(0, self._searched - _LONGEST_END))
            if end is None:
                self._searched = len(self._waiting)
                return events
            # Guard: \r\r\n ends with the \n of an end that was found before; it belongs to no event.
            event = self._without_mark(bytes(self._waiting[: end.start()])).strip(b"\r\n")
            del self._waiting[: end.end()]
            self._searched = 0
            if event:
                events.append(_event(event))

    def rest(self) -> list[Event]:
        """Return what the stream ended with, where the empty line was missing."""
        left = self._without_mark(bytes(self._waiting)).strip(b"\r\n")
        self._waiting.clear()
        self._searched = 0
        return [_event(left)] if left else []

    def _without_mark(self, event: bytes) -> bytes:
        """Drop a byte order mark at the stream's beginning, which belongs to no field."""
        if self._begun:
            return event
        self._begun = True
        return event.removeprefix(_MARK)


def _event(raw: bytes) -> Event:
    data: list[str] = []
    others: list[str] = []
    for line in re.split(r"\r\n|\r|\n", raw.decode("utf-8", "surrogateescape")):
        field, _, value = line.partition(":")
        if field == "data":
            data.append(value.removeprefix(" "))
        else:
            others.append(line)
    return Event(raw=raw, data="\n".join(data) if data else None, others=tuple(others))
