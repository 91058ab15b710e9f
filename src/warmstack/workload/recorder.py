"""Recording what an application sends: a client of sagemaker-runtime that keeps a copy of each body."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from warmstack.workload.formats import MARK, VERSION

_LOG = logging.getLogger(__name__)
_MODE = 0o600
"""For the owner alone: bodies hold what people wrote."""


class Recorder:
    """A client of sagemaker-runtime that writes each invocation's body to a file and passes the call on as it is.

    Wrap the client once, and use it as before::

        runtime = Recorder(boto3.client("sagemaker-runtime"), "requests.jsonl")

    Each call of ``invoke_endpoint`` and ``invoke_endpoint_with_response_stream`` adds a line: the body, the time, the
    endpoint, the inference component, SessionId and PrefixAwareId; nothing of the answer. **Bodies may hold personal
    data**: the file is created for its owner alone (mode 0600), and it is yours to keep short and to delete. All else
    is the client's own: methods, attributes, exceptions. What cannot be recorded is told once in the log of
    ``warmstack.workload.recorder``, and never to the application.

    Args:
        client: a boto3 client of sagemaker-runtime, or what looks like one.
        path: the file, which is created or continued. Threads and processes may share it.
        clock: the time in seconds since 1970.
    """

    def __init__(self, client: Any, path: str | Path, *, clock: Callable[[], float] = time.time) -> None:
        self._client = client
        self._path = Path(path)
        self._clock = clock
        self._lock = threading.Lock()
        self._file: int | None = None
        self._torn = self._warned = False

    def __getattr__(self, name: str) -> Any:
        # Guard: a copy under construction has no client yet, and would ask for it without end.
        if name == "_client":
            raise AttributeError(name)
        return getattr(self._client, name)

    def invoke_endpoint(self, *args: Any, **kwargs: Any) -> Any:
        """Record the request and pass it on to the client."""
        return self._call("invoke_endpoint", args, kwargs)

    def invoke_endpoint_with_response_stream(self, *args: Any, **kwargs: Any) -> Any:
        """Record the request and pass it on to the client."""
        return self._call("invoke_endpoint_with_response_stream", args, kwargs)

    def close(self) -> None:
        """Close the client and the file."""
        try:
            self._client.close()
        finally:
            with self._lock:
                if self._file is not None:
                    os.close(self._file)
                    self._file = None

    def _call(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        send = getattr(self._client, method)
        started = self._time()
        body = kwargs.get("Body")
        if hasattr(body, "read") and not _seekable(body):
            copied = _Copied(body)
            try:
                return send(*args, **kwargs | {"Body": copied})
            finally:
                self._record(method, kwargs, copied.taken, started)
        self._record(method, kwargs, body, started)
        return send(*args, **kwargs)

    def _time(self) -> float | None:
        try:
            return self._clock()
        except Exception as error:
            self._warn(error)
            return None

    def _record(self, method: str, call: Mapping[str, Any], body: object, started: float | None) -> None:
        try:
            self._append(_line(method, call, body, started))
        # Guard: nothing that goes wrong here is the application's business, whatever it is.
        except Exception as error:
            self._warn(error)

    def _append(self, line: bytes) -> None:
        with self._lock:
            if self._file is None:
                # Another process may append to it too: each line is one write at the end of the file.
                self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, _MODE)
            # Guard: half a line, left by a disk that was full, must not swallow the next one.
            line = b"\n" + line if self._torn else line
            self._torn = True
            written = os.write(self._file, line)
            while written < len(line):
                written += os.write(self._file, line[written:])
            self._torn = False

    def _warn(self, error: Exception) -> None:
        if not self._warned:
            self._warned = True
            _LOG.warning("requests are not recorded in %s: %s: %s", self._path, type(error).__name__, error)


def _seekable(stream: Any) -> bool:
    try:
        stream.seek(stream.tell())
    except Exception:
        return False
    return True


def _line(method: str, call: Mapping[str, Any], body: object, started: float | None) -> bytes:
    data = _bytes_of(body)
    row: dict[str, Any] = {
        MARK: VERSION,
        "time": started,
        "operation": method,
        "endpoint": call.get("EndpointName"),
        "component": call.get("InferenceComponentName"),
        "session_id": call.get("SessionId"),
        "prefix_aware_id": call.get("PrefixAwareId"),
        "content_type": call.get("ContentType"),
    }
    try:
        row["body"] = data.decode()
    except UnicodeDecodeError:
        row["body_base64"] = b64encode(data).decode()
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "replace") + b"\n"


def _bytes_of(body: Any) -> bytes:
    if hasattr(body, "read"):
        stream, place = body, body.tell()
        try:
            body = stream.read()
        finally:
            stream.seek(place)
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    if body is None or isinstance(body, bytes | bytearray | memoryview):
        return bytes(body or b"")
    raise TypeError(f"the body is a {type(body).__name__}")


class _Copied:
    """A stream that can be read once, and what was read from it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.taken = bytearray()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __iter__(self) -> Iterator[Any]:
        for piece in self._stream:
            yield self._kept(piece)

    def read(self, *args: Any) -> Any:
        """Read from the stream."""
        return self._kept(self._stream.read(*args))

    def _kept(self, piece: Any) -> Any:
        # Guard: the call gets the piece whatever it is; the copy is only of what it can be of.
        if isinstance(piece, bytes | bytearray):
            self.taken += piece
        elif isinstance(piece, str):
            self.taken += piece.encode("utf-8", "surrogatepass")
        return piece
