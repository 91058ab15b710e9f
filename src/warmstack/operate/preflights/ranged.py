"""An object of S3 read from its start, in pieces, and no further than it is needed."""

from __future__ import annotations

import io
from collections.abc import Callable

PIECE_BYTES = 1 << 20


class TooFarError(OSError):
    """What is looked for lies further on than may be read."""


class RangedObject(io.RawIOBase):
    """A stream over an object.

    Args:
        read_range: Returns the bytes from one place up to before another.
        size: The object's bytes.
        most: The most bytes that are read of it.
    """

    def __init__(self, read_range: Callable[[int, int], bytes], size: int, most: int) -> None:
        super().__init__()
        self._read_range = read_range
        self._size = size
        self._most = most
        self._at = 0
        self._piece = b""
        self._begin = 0

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: object) -> int:
        """Fill a buffer with the next bytes, fewer at the end.

        Raises:
            TooFarError: They lie further on than may be read.
        """
        view = memoryview(buffer)  # type: ignore[arg-type]
        data = self._next(len(view))
        view[: len(data)] = data
        return len(data)

    def _next(self, count: int) -> bytes:
        if self._at >= self._size:
            return b""
        if not self._begin <= self._at < self._begin + len(self._piece):
            end = min(self._size, self._at + PIECE_BYTES)
            if end > self._most:
                raise TooFarError(f"it lies behind the first {self._most:,} bytes")
            self._piece, self._begin = self._read_range(self._at, end), self._at
        start = self._at - self._begin
        data = self._piece[start : start + count]
        self._at += len(data)
        return data
