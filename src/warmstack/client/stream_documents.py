"""A stream's bytes, in any portions → its documents: the data of server-sent events, and JSON lines.

Which of the two a stream is, each line says for itself: one of server-sent events begins with a field's name or a
colon, a JSON line with a brace. Lines end with CRLF, LF or CR (the HTML standard, section 9.2.6).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from warmstack.client.json_values import UnexpectedValueError, shown

LARGEST_BYTES: Final = 32 * 1024 * 1024
"""The largest document: above what SageMaker lets through (25 MB), so that only a broken stream comes near."""
_MARK = b"\xef\xbb\xbf"
_FIELDS = (b"data", b"event", b"id", b"retry")


class StreamDocuments:
    """Collects bytes, and gives the documents that are whole.

    Args:
        largest_bytes: The largest document; what is longer is no stream of ours.
    """

    def __init__(self, largest_bytes: int = LARGEST_BYTES) -> None:
        self._largest = largest_bytes
        self._pieces: list[bytes] = []
        self._pieces_bytes = 0
        self._event: list[bytes] = []
        self._event_bytes = 0
        self._begun = False
        self._after_return = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Add bytes; yield each document that they complete.

        Args:
            data: The next bytes.

        Raises:
            UnexpectedValueError: A line is of neither form, or too long.
        """
        if self._after_return and data.startswith(b"\n"):
            data = data[1:]  # the second half of a CRLF
            self._after_return = False
        if not data:
            return
        self._after_return = data.endswith(b"\r")
        # Guard: pieces of a long line are joined once, when it ends. Joining them with each portion would copy a line
        # of 8 MB five hundred times.
        lines = data.splitlines(keepends=True)
        rest = b"" if lines[-1].endswith((b"\n", b"\r")) else lines.pop()
        if lines and self._pieces:
            lines[0] = b"".join((*self._pieces, lines[0]))
            self._pieces.clear()
            self._pieces_bytes = 0
        for line in lines:
            document = self._line(line.rstrip(b"\r\n"))
            if document is not None:
                yield document
        if rest:
            self._pieces.append(rest)
            self._pieces_bytes += len(rest)
            self._check(self._pieces_bytes)

    def rest(self) -> Iterator[bytes]:
        """Yield what the stream's end completes: a last line without its end, an event without its empty line.

        Raises:
            UnexpectedValueError: The last line is of neither form.
        """
        tail = b"".join(self._pieces)
        self._pieces.clear()
        if tail and not any(name.startswith(tail) for name in (_MARK, *_FIELDS)):
            document = self._line(tail)
            if document is not None:
                yield document
        if self._event:
            yield self._take_event()

    def _line(self, line: bytes) -> bytes | None:
        """Return the document that a line completes, if it does."""
        if not self._begun:
            self._begun = True
            line = line.removeprefix(_MARK)
        if not line:
            return self._take_event() if self._event else None
        if line.startswith(b"data:"):
            data = line[6:] if line.startswith(b"data: ") else line[5:]
            self._event.append(data)
            self._event_bytes += len(data) + 1
            if self._event_bytes > self._largest:
                self._check(self._event_bytes)
            return None
        if line.startswith(b"{"):
            self._check(len(line))
            if not self._event:
                return line
        elif line.startswith(b":") or line.partition(b":")[0] in _FIELDS:
            return None
        raise UnexpectedValueError(
            f"a line is {shown(line[:60])}; it must be a field of a server-sent event, or a JSON object"
        )

    def _take_event(self) -> bytes:
        event = self._event[0] if len(self._event) == 1 else b"\n".join(self._event)
        self._event.clear()
        self._event_bytes = 0
        return event

    def _check(self, size: int) -> None:
        if size > self._largest:
            raise UnexpectedValueError(f"a document is longer than {self._largest:,} bytes")
