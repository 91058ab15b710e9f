"""Reading recorded requests from files and folders, one at a time, in the order in which they were sent."""

from __future__ import annotations

import gzip
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import IO

from warmstack.workload.errors import WorkloadError
from warmstack.workload.formats import agent_time, format_of, request_of
from warmstack.workload.lines import Line, Stream, lines, opened
from warmstack.workload.requests import RecordedRequest, WorkloadFormat


def read_requests(path: str | Path, *, form: WorkloadFormat | None = None) -> Iterator[RecordedRequest]:
    """Yield the requests of a file, or of all files below a folder in the order of their names.

    A file may be packed by gzip, and of any size: one request is in memory at a time. Requests come in the order of the
    file; rows of agent traces, which are written when an answer is complete, in that of their times.

    Args:
        path: the file or the folder. Files and folders whose name begins with a dot are left out.
        form: the format of every file; by default each file's first line tells it.

    Raises:
        WorkloadError: there is no such file, or a line of it cannot be read.
    """
    for file in _files(Path(path)):
        yield from _read_file(file, form)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    try:
        found = [one for one in path.rglob("*") if one.is_file() and not _hidden(one.relative_to(path))]
    except OSError as error:
        raise WorkloadError(f"{path} cannot be read: {error.strerror or error}") from error
    if not found:
        raise WorkloadError(f"{path} holds no file; name a file of recorded requests, or a folder of such files")
    return sorted(found)


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _read_file(path: Path, form: WorkloadFormat | None) -> Iterator[RecordedRequest]:
    with opened(path) as stream:
        found = lines(stream, str(path))
        first = next(found, None)
        if first is None:
            return
        form = form or format_of(first)
        if form is WorkloadFormat.AGENT:
            if not path.is_file():
                raise WorkloadError(f"{path} is no file, and an agent trace is read twice; write it to a file first")
            yield from _in_time_order(path)
            return
        for line in chain((first,), found):
            yield request_of(line, form)


def _in_time_order(path: Path) -> Iterator[RecordedRequest]:
    """Yield the rows of an agent trace by their time: an index of places is in memory, and not the rows."""
    with opened(path) as given, tempfile.TemporaryFile() as unpacked:
        stream: Stream = given
        if isinstance(given, gzip.GzipFile):
            # To go back in a packed file is to unpack it again from its start.
            stream = unpacked
            _unpack(given, unpacked, path)
        index = []
        offset = stream.tell()
        for line in lines(stream, str(path)):
            index.append((agent_time(line), line.number, offset))
            offset = stream.tell()
        for _, number, place in sorted(index):
            stream.seek(place)
            line = next(lines(stream, str(path)))
            yield request_of(Line(source=line.source, number=number, data=line.data), WorkloadFormat.AGENT)


def _unpack(packed: gzip.GzipFile, target: IO[bytes], path: Path) -> None:
    try:
        shutil.copyfileobj(packed, target)
    except (OSError, EOFError, zlib.error) as error:
        raise WorkloadError(f"{path} cannot be unpacked: {error}; copy the file again") from error
    target.seek(0)
