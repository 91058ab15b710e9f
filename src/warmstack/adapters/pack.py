"""Writing an adapter's archive: the same files become the same bytes on every machine."""

from __future__ import annotations

import hashlib
import os
import re
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from warmstack.adapters.problems import AdapterError
from warmstack.adapters.stored_gzip import StoredGzip

_PIECE = 1024**2
_SHOWN_DIGITS = 12
_LONGEST_NAME = 40

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """An archive that was written, or that was there.

    Args:
        path: where it is.
        sha256: of its bytes, in hex.
        size: its bytes.
        existed: whether a file with the same bytes was there before.
    """

    path: Path
    sha256: str
    size: int
    existed: bool


def archive_name(name: str, sha256: str) -> str:
    """Return the file name of an archive: it changes with the content, as SageMaker's ArtifactUrl must."""
    return f"{name}-{sha256[:_SHOWN_DIGITS]}.tar.gz"


def adapter_name(text: str) -> str:
    """Return a text as a name that a spec takes: lower-case letters, digits and single hyphens.

    Raises:
        AdapterError: nothing of it is left, or it begins with no letter.
    """
    name = re.sub(r"[^a-z0-9]+", "-", text.casefold()).strip("-")[:_LONGEST_NAME].rstrip("-")
    if not re.match(r"[a-z]", name):
        raise AdapterError(f"{text!r} gives no name for the adapter; name it with --name, beginning with a letter")
    return name


def pack(files: Mapping[str, Path], target: Path, name: str, progress: Progress = lambda _: None) -> Packed:
    """Write an archive beside its place and move it there when it is whole.

    Args:
        files: the names in the archive and where each file lies; the archive has their order.
        target: the archive's path, or a folder to write it to under a name made from its content.
        name: the first part of such a name.
        progress: told how many bytes of the files were packed since it was last told.

    Raises:
        AdapterError: a file cannot be read or changes meanwhile, or the archive cannot be written.
    """
    folder = target if target.is_dir() else target.parent
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{name}-", suffix=".part", dir=folder)
    except OSError as error:
        raise AdapterError(f"{folder} cannot be written to: {error.strerror or error}") from error
    part = Path(temporary)
    try:
        with os.fdopen(handle, "wb") as stream:
            sha256 = _write(files, stream, progress)
            stream.flush()
            os.fsync(stream.fileno())
        final = target / archive_name(name, sha256) if target.is_dir() else target
        size = part.stat().st_size
        existed = final.is_file() and final.stat().st_size == size and file_sha256(final) == sha256
        if not existed:
            part.chmod(0o644 & ~_umask())
            part.replace(final)
        return Packed(path=final, sha256=sha256, size=size, existed=existed)
    except OSError as error:
        raise AdapterError(f"the archive cannot be written to {folder}: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)


def file_sha256(path: Path) -> str:
    """Return the digest of a file's bytes, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _write(files: Mapping[str, Path], stream: IO[bytes], progress: Progress) -> str:
    digest = hashlib.sha256()

    def write(data: bytes) -> None:
        digest.update(data)
        stream.write(data)

    packed = StoredGzip(write)
    # PAX writes plain ustar headers for such names, and takes files over 8 GiB.
    with tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT, copybufsize=_PIECE) as archive:  # type: ignore[call-overload]
        for name, path in files.items():
            _add(archive, name, path, progress)
    packed.close()
    return digest.hexdigest()


def _add(archive: tarfile.TarFile, name: str, path: Path, progress: Progress) -> None:
    try:
        source = path.open("rb")
    except OSError as error:
        raise AdapterError(f"{path} cannot be read: {error.strerror or error}") from error
    with source:
        member = tarfile.TarInfo(name)  # mode 0644, no owner, no time
        member.size = os.fstat(source.fileno()).st_size
        counted = _Counted(source, member.size, path, progress)
        archive.addfile(member, counted)  # type: ignore[arg-type]  # it calls read, and nothing else
        if source.read(1):
            raise AdapterError(f"{path} grew while it was packed; pack it when nothing writes to it")


class _Counted:
    """A file that tells how much of it was read, and refuses to end early."""

    def __init__(self, source: IO[bytes], size: int, path: Path, progress: Progress) -> None:
        self._source, self._left, self._path, self._progress = source, size, path, progress

    def read(self, size: int) -> bytes:
        wanted = min(size, self._left)
        try:
            data = self._source.read(wanted)
        except OSError as error:
            raise AdapterError(f"{self._path} cannot be read: {error.strerror or error}") from error
        if len(data) < wanted:
            raise AdapterError(f"{self._path} shrank while it was packed; pack it when nothing writes to it")
        self._left -= len(data)
        self._progress(len(data))
        return data
