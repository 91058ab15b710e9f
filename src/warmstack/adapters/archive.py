"""Reading an adapter's archive in one pass, without unpacking it to the disk.

The archive may be hostile. What tarfile reads as a whole are the headers that hold long names; they are limited here.
"""

from __future__ import annotations

import gzip
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from warmstack.adapters.contents import Contents, Entry, Kind, Look
from warmstack.adapters.problems import AdapterError

_MOST_ENTRIES = 10_000
_LARGEST_PIECE = 1024**2
MOST_BYTES = 64 * 1024**3
"""What an archive may hold unpacked, and still be an adapter."""
MOST_TIMES = 200
"""How many times larger than the archive its contents may be: weights hardly shrink, and zeros do not matter."""


class _LimitError(ValueError):
    """The archive asks for more than it may; the text says what."""


class _Unpacked:
    """The bytes behind gzip, as tarfile wants them, with limits on one piece and on all."""

    def __init__(self, stream: gzip.GzipFile, most_bytes: int) -> None:
        self._stream, self._most, self._largest = stream, most_bytes, 0

    def read(self, size: int = -1) -> bytes:
        if size < 0 or size > _LARGEST_PIECE + tarfile.BLOCKSIZE:
            raise _LimitError(f"a header claims {size:,} bytes")
        data = self._stream.read(size)
        self._count()
        return data

    def seek(self, place: int, whence: int = 0) -> int:
        if whence or place > self._most:
            raise _LimitError(f"it claims more than {self._most:,} bytes unpacked")
        # In steps, so that the limit is noticed on the way and not behind it.
        while place - self._stream.tell() > _LARGEST_PIECE:
            if not self._stream.read(_LARGEST_PIECE):
                raise EOFError
            self._count()
        return self._stream.seek(place)

    def tell(self) -> int:
        return self._stream.tell()

    def _count(self) -> None:
        if self._stream.tell() > self._most:
            raise _LimitError(f"it unpacks to more than {self._most:,} bytes")


def read_archive(path: Path) -> Contents:
    """Read an archive: its members, and the headers and texts that the checks need.

    Raises:
        AdapterError: the file cannot be opened.
    """
    try:
        packed_bytes = path.stat().st_size
        stream = path.open("rb")
    except OSError as error:
        raise AdapterError(f"{path} cannot be read: {error.strerror or error}") from error
    look, entries = Look(), []
    damage = None
    most = min(MOST_BYTES, max(packed_bytes * MOST_TIMES, 10 * _LARGEST_PIECE))
    with stream:
        try:
            for entry in read_members(stream, most, look):
                entries.append(entry)  # noqa: PERF402 - what was read before the damage stays
        except (tarfile.TarError, OSError, EOFError, zlib.error, ValueError, OverflowError) as error:
            damage = _why(error)
    return Contents(
        label=str(path),
        packed=True,
        entries=tuple(entries),
        packed_bytes=packed_bytes,
        texts=look.texts,
        tables=look.tables,
        damage=damage,
    )


def read_members(stream: IO[bytes], most_bytes: int, look: Look) -> Iterator[Entry]:
    """Yield the members of an archive as they come; whoever stops early has read no further.

    Args:
        stream: the archive.
        most_bytes: what it may hold unpacked.
        look: takes the headers and texts that the checks need.

    Raises:
        OSError: it is no whole archive, as do tarfile.TarError, zlib.error, EOFError, ValueError and OverflowError.
    """
    with gzip.GzipFile(fileobj=stream, mode="rb") as unpacked:
        limited = _Unpacked(unpacked, most_bytes)
        count = 0
        with tarfile.open(fileobj=limited, mode="r:", errors="surrogateescape") as archive:  # type: ignore[call-overload]
            while (member := archive.next()) is not None:
                count += 1
                if count > _MOST_ENTRIES:
                    raise _LimitError(f"it has more than {_MOST_ENTRIES:,} members")
                kind = _kind(member)
                if kind == "file" and (content := archive.extractfile(member)) is not None:
                    look.into(_clean(member.name), member.size, content.read)
                yield Entry(
                    name=_clean(member.name),
                    kind=kind,
                    size=member.size,
                    target=_clean(member.linkname) if kind == "link" else None,
                )
        # Guard: tarfile stops at the mark of the end. Only the rest shows that gzip's own end and checksum are right.
        while limited.read(_LARGEST_PIECE):
            pass


def _kind(member: tarfile.TarInfo) -> Kind:
    if member.isdir():
        return "folder"
    if member.issym() or member.islnk():
        return "link"
    return "file" if member.isreg() and not member.issparse() else "other"


def _clean(name: str) -> str:
    """Return a name without the ``./`` that tar puts before what it is told to pack as ``.``."""
    return name.removeprefix("./") or name


def _why(error: BaseException) -> str:
    if isinstance(error, EOFError):
        return "it ends too early"
    if isinstance(error, gzip.BadGzipFile | zlib.error):
        return f"it is no whole gzip file: {error}"
    if isinstance(error, tarfile.TarError):
        return f"it is no tar archive: {error}"
    return str(error) or type(error).__name__
