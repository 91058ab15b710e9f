"""A recorder keeps what is sent, and is not noticed by the application."""

from __future__ import annotations

import errno
import io
import json
import logging
import os
import stat
import threading
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ParamValidationError
from botocore.stub import ANY, Stubber

from warmstack.workload import Recorder, WorkloadFormat, read_requests

CALL = {"EndpointName": "assistant", "ContentType": "application/json"}


class Client:
    """What looks like a client: it reads its body as botocore does, and keeps it."""

    meta = "the service model"

    def __init__(self) -> None:
        self.sent: list[tuple[str, dict[str, Any], bytes]] = []
        self.error: Exception | None = None
        self.closed = False

    def invoke_endpoint(self, **call: Any) -> Any:
        return self._take("plain", call)

    def invoke_endpoint_with_response_stream(self, **call: Any) -> Any:
        return self._take("stream", call)

    def close(self) -> None:
        self.closed = True

    def _take(self, kind: str, call: dict[str, Any]) -> Any:
        body = call["Body"]
        if hasattr(body, "read"):
            data = b"".join(body) if hasattr(body, "lines_only") else body.read(3) + body.read()
        else:
            data = body
        self.sent.append((kind, call, data))
        if self.error is not None:
            raise self.error
        return {"Body": kind}


class Once:
    """A stream that cannot go back, and may fail."""

    def __init__(self, data: bytes, error: Exception | None = None) -> None:
        self._stream, self._error = io.BytesIO(data), error
        self.name = "pipe"

    def read(self, size: int = -1) -> bytes:
        piece = self._stream.read(size)
        if self._error is not None and size < 0:
            raise self._error
        return piece


class Lines(Once):
    lines_only = True

    def __iter__(self) -> Any:
        return iter(self._stream)


def test_calls_pass_and_are_recorded(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    client = Client()
    recorder = Recorder(client, path, clock=iter([10.0, 11.5]).__next__)
    more = {"SessionId": "s-1", "PrefixAwareId": "support~1", "InferenceComponentName": "chat"}
    assert recorder.invoke_endpoint(**CALL, **more, Body='{"a": "è"}'.encode()) == {"Body": "plain"}
    assert recorder.invoke_endpoint_with_response_stream(**CALL, Body=b"\xff\x00") == {"Body": "stream"}
    assert [(kind, data) for kind, _, data in client.sent] == [
        ("plain", '{"a": "è"}'.encode()),
        ("stream", b"\xff\x00"),
    ]
    assert client.sent[0][1] == CALL | more | {"Body": '{"a": "è"}'.encode()}
    recorder.close()
    assert client.closed
    first, second = read_requests(path)
    assert (first.body, first.time, first.format) == ('{"a": "è"}'.encode(), 10.0, WorkloadFormat.RECORDED)
    assert (first.conversation, first.prefix_aware_id) == ("s-1", "support~1")
    assert (first.endpoint, first.component) == ("assistant", "chat")
    assert (second.body, second.time, second.conversation) == (b"\xff\x00", 11.5, None)
    assert "è" in path.read_text(encoding="utf-8")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("body", [b'{"x":1}\n', bytearray(b'{"x":1}\n'), '{"x":1}\n', io.BytesIO(b'{"x":1}\n')])
def test_every_form_of_a_body(tmp_path: Path, body: Any) -> None:
    client = Client()
    Recorder(client, tmp_path / "r").invoke_endpoint(**CALL, Body=body)
    assert client.sent[0][1]["Body"] is body
    assert client.sent[0][2] in (b'{"x":1}\n', '{"x":1}\n')
    assert [one.body for one in read_requests(tmp_path / "r")] == [b'{"x":1}\n']


def test_a_stream_is_sent_from_where_it_stands(tmp_path: Path) -> None:
    client, body = Client(), io.BytesIO(b"head{}")
    body.seek(4)
    Recorder(client, tmp_path / "r").invoke_endpoint(**CALL, Body=body)
    assert client.sent[0][2] == b"{}"
    assert [one.body for one in read_requests(tmp_path / "r")] == [b"{}"]


@pytest.mark.parametrize("stream", [Once, Lines])
def test_a_stream_that_cannot_go_back(tmp_path: Path, stream: type[Once]) -> None:
    client = Client()
    Recorder(client, tmp_path / "r").invoke_endpoint(**CALL, Body=stream(b"abc\ndef"))
    assert client.sent[0][2] == b"abc\ndef"
    assert client.sent[0][1]["Body"].name == "pipe"
    assert [one.body for one in read_requests(tmp_path / "r")] == [b"abc\ndef"]


def test_a_stream_that_fails_fails_in_the_call(tmp_path: Path) -> None:
    with pytest.raises(ConnectionError, match="gone"):
        Recorder(Client(), tmp_path / "r").invoke_endpoint(**CALL, Body=Once(b"abcdef", ConnectionError("gone")))
    assert [one.body for one in read_requests(tmp_path / "r")] == [b"abc"]


def test_a_stream_that_goes_back_and_cannot_be_read_is_left_to_the_call(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(io.BytesIO):
        def read(self, _size: int | None = -1, /) -> bytes:
            raise ConnectionError("gone")

    with pytest.raises(ConnectionError, match="gone"):
        Recorder(Client(), tmp_path / "r").invoke_endpoint(**CALL, Body=Broken(b"abc"))
    assert len(caplog.messages) == 1


def test_a_stream_of_text(tmp_path: Path) -> None:
    class Text(Once):
        def read(self, size: int = -1) -> Any:
            return super().read(size).decode()

    class Plain:
        def invoke_endpoint(self, **call: Any) -> str:
            return str(call["Body"].read())

    assert Recorder(Plain(), tmp_path / "r").invoke_endpoint(**CALL, Body=Text("è".encode())) == "è"
    assert [one.body for one in read_requests(tmp_path / "r")] == ["è".encode()]


def test_errors_of_the_client_are_its_own(tmp_path: Path) -> None:
    client = Client()
    client.error = RuntimeError("throttled")
    recorder = Recorder(client, tmp_path / "r")
    with pytest.raises(RuntimeError, match="throttled"):
        recorder.invoke_endpoint(**CALL, Body=b"{}")
    assert len(list(read_requests(tmp_path / "r"))) == 1
    assert recorder.meta == "the service model"
    with pytest.raises(AttributeError, match="absent"):
        _ = recorder.absent
    import copy

    assert copy.copy(recorder).meta == "the service model"


def test_what_cannot_be_recorded_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    client = Client()
    recorder = Recorder(client, tmp_path / "absent" / "r")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert recorder.invoke_endpoint(**CALL, Body=b"{}") == {"Body": "plain"}
    assert len(client.sent) == 3
    (told,) = caplog.messages
    assert told.startswith(f"requests are not recorded in {tmp_path}/absent/r: FileNotFoundError: ")
    recorder.close()


def test_odd_bodies_and_clocks_do_not_break_the_call(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> float:
        raise OSError("no clock")

    client = Client()
    recorder = Recorder(client, tmp_path / "r", clock=broken)
    recorder.invoke_endpoint(**CALL, Body=7)
    recorder.invoke_endpoint(**CALL, Body=b"{}")
    assert [call["Body"] for _, call, _ in client.sent] == [7, b"{}"]
    assert [(one.body, one.time) for one in read_requests(tmp_path / "r")] == [(b"{}", None)]
    assert len(caplog.messages) == 1


def test_threads_write_whole_lines(tmp_path: Path) -> None:
    recorders = [Recorder(Client(), tmp_path / "r") for _ in range(2)]

    def send(number: int) -> None:
        for place in range(20):
            body = json.dumps({"inputs": f"{number}-{place}", "pad": "x" * 20_000}).encode()
            recorders[number % 2].invoke_endpoint(**CALL, Body=body)

    threads = [threading.Thread(target=send, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = {json.loads(one.body)["inputs"] for one in read_requests(tmp_path / "r")}
    assert len(found) == 120
    for recorder in recorders:
        recorder.close()


def test_a_partial_write_is_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr("warmstack.workload.recorder.os.write", lambda file, data: write(file, data[:7]))
    Recorder(Client(), tmp_path / "r").invoke_endpoint(**CALL, Body=b'{"inputs":"x"}')
    assert [one.body for one in read_requests(tmp_path / "r")] == [b'{"inputs":"x"}']


def test_a_line_that_a_full_disk_cut_does_not_swallow_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, write, left = tmp_path / "r", os.write, [10]

    def full(file: int, data: bytes) -> int:
        if not left[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = write(file, data[: left[0]])
        left[0] -= written
        return written

    runtime = Recorder(Client(), path)
    with monkeypatch.context() as patched:
        patched.setattr("warmstack.workload.recorder.os.write", full)
        runtime.invoke_endpoint(**CALL, Body=b'{"inputs":"cut"}')
    runtime.invoke_endpoint(**CALL, Body=b'{"inputs":"next"}')
    torn, whole = path.read_bytes().splitlines()
    assert len(torn) == 10
    path.write_bytes(whole)
    assert [one.body for one in read_requests(path)] == [b'{"inputs":"next"}']


def test_a_real_client(tmp_path: Path) -> None:
    session = boto3.Session(
        aws_access_key_id="AKIAIOSFODNN7EXAMPLE", aws_secret_access_key="not-a-secret", region_name="us-west-2"
    )
    client = session.client("sagemaker-runtime")
    recorder = Recorder(client, tmp_path / "r")
    assert recorder.meta.service_model.service_name == "sagemaker-runtime"
    with Stubber(client) as stub:
        answer = {"Body": b"", "ContentType": "application/json"}
        stub.add_response("invoke_endpoint", answer, CALL | {"Body": ANY, "PrefixAwareId": "a"})
        stub.add_client_error("invoke_endpoint", "ThrottlingException")
        assert recorder.invoke_endpoint(**CALL, Body=Once(b'{"inputs":"x"}'), PrefixAwareId="a") is not None
        with pytest.raises(recorder.exceptions.ClientError):
            recorder.invoke_endpoint(**CALL, Body=b'{"inputs":"y"}')
    with pytest.raises(ParamValidationError):
        recorder.invoke_endpoint(**CALL, Body=7)
    recorder.close()
    # A stub reads no stream: the copy of one that was never sent is empty.
    assert [one.body for one in read_requests(tmp_path / "r")] == [b"", b'{"inputs":"y"}']
