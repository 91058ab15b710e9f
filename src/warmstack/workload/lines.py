"""The lines of files that may be large, packed or broken: one line in memory at a time."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import orjson

from warmstack.workload.errors import WorkloadError

_LONGEST_LINE = 64 * 1024**2
"""Ten times the largest body that SageMaker takes (6,291,456 bytes), which is what escaping can make of one."""
Stream = IO[bytes] | gzip.GzipFile
_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line that is not empty.

    Args:
        source: the file.
        number: from 1.
        data: without the line break.
    """

    source: str
    number: int
    data: bytes

    def error(self, problem: str) -> WorkloadError:
        """Return the error for a problem with this line."""
        return WorkloadError(f"{self.source}:{self.number}: {problem}")

    def parsed(self) -> dict[str, Any]:
        """Return the object that the line holds.

        Raises:
            WorkloadError: it holds none.
        """
        value = self._value()
        if not isinstance(value, dict):
            raise self.error(
                f"the line is a JSON {_json_type(value)}, and a request is an object; "
                "write one object a line: jq -c '.[]'"
            )
        return value

    def _value(self) -> Any:
        try:
            return orjson.loads(self.data)
        except orjson.JSONDecodeError as error:
            # Guard: clients send what orjson refuses, such as NaN and half surrogate pairs; it counts as they sent it.
            try:
                return json.loads(self.data.decode())
            except (ValueError, RecursionError):
                raise self.error(self._why(error)) from None

    def _why(self, error: orjson.JSONDecodeError) -> str:
        if self.data.startswith(b"\xef\xbb\xbf"):
            return "the file begins with a byte order mark, which JSON does not allow; save it as UTF-8 without one"
        if self.number == 1 and self.data.strip() in {b"{", b"["}:
            return "one JSON document over several lines; there must be one object a line: jq -c . FILE > FILE.jsonl"
        return (
            f"the line is no JSON: {error.msg} at column {error.colno}; write one object a line, or leave the line out"
        )


def _json_type(value: object) -> str:
    names = {list: "array", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")


@contextmanager
def opened(path: Path) -> Iterator[Stream]:
    """Open a file for its bytes, unpacked where it is packed by gzip.

    Raises:
        WorkloadError: it cannot be opened.
    """
    try:
        with path.open("rb") as raw:
            # Guard: a pipe cannot go back to its start.
            if not raw.peek(len(_GZIP_MAGIC)).startswith(_GZIP_MAGIC):
                yield raw
                return
            with gzip.GzipFile(fileobj=raw, mode="rb") as unpacked:
                yield unpacked
    except OSError as error:
        raise WorkloadError(f"{path} cannot be read: {error.strerror or error}") from error


def lines(stream: Stream, source: str) -> Iterator[Line]:
    """Yield the lines that are not empty.

    Raises:
        WorkloadError: a line is too long, or the file is damaged.
    """
    number = 0
    while True:
        number += 1
        try:
            data = stream.readline(_LONGEST_LINE + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise WorkloadError(f"{source}:{number}: the rest cannot be read: {error}; copy the file again") from error
        if not data:
            return
        if len(data) > _LONGEST_LINE:
            raise WorkloadError(
                f"{source}:{number}: the line is longer than {_LONGEST_LINE:,} bytes, and SageMaker takes bodies of up "
                "to 6,291,456; write one object a line"
            )
        data = data.removesuffix(b"\n").removesuffix(b"\r")
        if data.strip():
            yield Line(source=source, number=number, data=data)
