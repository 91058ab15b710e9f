"""A gzip file without compression, whose bytes depend on its content and on nothing else.

What a compressor makes of the same input differs between zlib's versions and replacements. LoRA weights hardly shrink,
so the blocks are stored: RFC 1951 section 3.2.4, in the frame of RFC 1952.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

_LARGEST_BLOCK = 65_535
# Magic, deflate, no flags (so no name), no time, no extra flags, system unknown.
_HEADER = b"\x1f\x8b\x08\x00" + bytes(4) + b"\x00\xff"


class StoredGzip:
    """Takes bytes and passes them on as a gzip file; to be closed for its end.

    Args:
        write: takes the file's bytes.
    """

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self._waiting = bytearray()
        self._checksum, self._size = 0, 0
        write(_HEADER)

    def write(self, data: bytes) -> int:
        """Take bytes. Returns how many."""
        self._checksum = zlib.crc32(data, self._checksum)
        self._size += len(data)
        self._waiting += data
        # Guard: whole blocks only, so that the file does not depend on how its content was cut into writes.
        whole = len(self._waiting) - len(self._waiting) % _LARGEST_BLOCK
        for at in range(0, whole, _LARGEST_BLOCK):
            self._block(bytes(self._waiting[at : at + _LARGEST_BLOCK]), last=False)
        del self._waiting[:whole]
        return len(data)

    def close(self) -> None:
        """Write the last block, the checksum and the size."""
        self._block(bytes(self._waiting), last=True)
        self._write(struct.pack("<II", self._checksum, self._size % 2**32))

    def _block(self, data: bytes, *, last: bool) -> None:
        self._write(struct.pack("<BHH", last, len(data), len(data) ^ 0xFFFF))
        self._write(data)
