"""Reading an adapter's folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from warmstack.adapters.contents import Contents, Entry, Look
from warmstack.adapters.problems import AdapterError

_MOST_ENTRIES = 10_000


def read_folder(folder: Path) -> Contents:
    """Read a folder: everything in it, and the headers and texts that the checks need.

    Raises:
        AdapterError: it cannot be listed, or holds too much to be an adapter.
    """
    entries = tuple(_entries(folder))
    files = ((one.name, folder / one.name) for one in entries if one.kind == "file")
    return read_files(files, label=str(folder), entries=entries)


def read_files(files: Iterable[tuple[str, Path]], *, label: str, entries: tuple[Entry, ...]) -> Contents:
    """Read files under the names that they have, or are to have, in an archive.

    Raises:
        AdapterError: one of them cannot be read.
    """
    look = Look()
    for name, path in files:
        try:
            with path.open("rb") as stream:
                look.into(name, os.fstat(stream.fileno()).st_size, stream.read)
        except OSError as error:
            raise AdapterError(f"{path} cannot be read: {error.strerror or error}") from error
    return Contents(label=label, packed=False, entries=entries, texts=look.texts, tables=look.tables)


def _entries(folder: Path) -> Iterator[Entry]:
    waiting, count = [folder], 0
    while waiting:
        here = waiting.pop(0)
        try:
            found = sorted(here.iterdir(), key=lambda one: os.fsencode(one.name))
        except OSError as error:
            raise AdapterError(f"{here} cannot be listed: {error.strerror or error}") from error
        for path in found:
            count += 1
            if count > _MOST_ENTRIES:
                raise AdapterError(f"{folder} holds more than {_MOST_ENTRIES:,} files; name the adapter's own folder")
            entry = _entry(path, path.relative_to(folder).as_posix(), folder)
            yield entry
            if entry.kind == "folder":
                waiting.append(path)


def _entry(path: Path, name: str, folder: Path) -> Entry:
    try:
        state = path.lstat()
        if stat.S_ISLNK(state.st_mode):
            target = path.resolve()
            if not target.is_relative_to(folder.resolve()) or not target.is_file():
                return Entry(name=name, kind="link", size=0, target=str(path.readlink()))
            state = target.stat()
    except (OSError, RuntimeError) as error:  # a RuntimeError is a loop of links, until Python 3.12
        raise AdapterError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if stat.S_ISDIR(state.st_mode):
        return Entry(name=name, kind="folder", size=0)
    if stat.S_ISREG(state.st_mode):
        return Entry(name=name, kind="file", size=state.st_size)
    return Entry(name=name, kind="other", size=0)
