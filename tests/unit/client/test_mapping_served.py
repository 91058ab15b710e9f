"""What the local endpoint really sends, by a real boto3: errors → failures; streams and whole answers → the same."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

from tests.ports import refusing_port
from tests.unit.client.test_openai_path import read_request
from tests.unit.local.clients import chat, parts, runtime, whole
from tests.unit.local.definitions import REGION, SESSIONS, component, endpoint, model, variant
from tests.unit.local.running import Local, running
from tests.unit.local.test_openai_path import token
from warmstack.client import failures as fail
from warmstack.client.error_documents import read_error
from warmstack.client.events import Finish, StreamEvent, TextDelta
from warmstack.client.failures import EndpointError
from warmstack.client.mapping import RAISED_BY_AWS_CLIENT, from_botocore, map_service_error
from warmstack.client.responses import Response, read_response
from warmstack.client.stream_parser import StreamParser
from warmstack.local.platform.fault_orders import FaultOrder, inflict
from warmstack.local.simulated import Latency
from warmstack.local.wire.limits import Limits
from warmstack.local.wire.parts import Cut
from warmstack.routing import RoutingChoices, SessionReply

LMI = model(server="lmi", environment={"OPTION_ENABLE_STATEFUL_SESSIONS": "true"})
LMI_WITHOUT = model(server="lmi", environment={"OPTION_ENABLE_STATEFUL_SESSIONS": "false"})
SGLANG = model(server="sglang", image="${Image}", environment={"SAGEMAKER_ENABLE_STATEFUL_SESSIONS": "true"})
SGLANG_WITHOUT = model(server="sglang", image="${Image}")
VLLM = model(environment=SESSIONS)
OPEN = b'{"requestType": "NEW_SESSION"}'


def serving(served: Any, folder: Path, **options: Any) -> Any:
    return running(endpoint(variants=(variant(model=served, instances=1),)), folder=folder, **options)


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    definitions = (
        endpoint(variants=(variant(instances=1),)),
        endpoint("parts", components=(component(copies=1), component("none", copies=0))),
    )
    with running(*definitions, folder=tmp_path, limits=Limits(request_bytes=4000)) as local:
        yield local


def invoke(local: Local, body: bytes | None = None, *, endpoint: str = "demo", **more: Any) -> bytes:
    arguments = {"EndpointName": endpoint, "ContentType": "application/json", "Body": body or chat()} | more
    return bytes(whole(runtime(local.url).invoke_endpoint(**arguments))["Body"])


def failure(work: Callable[[], object]) -> EndpointError:
    with pytest.raises(RAISED_BY_AWS_CLIENT) as raised:
        work()
    return from_botocore(raised.value)


def streamed(local: Local, body: bytes) -> tuple[list[StreamEvent], StreamParser]:
    """Stream as the client does: events until the end, or until a failure."""
    parser = StreamParser()
    events: list[StreamEvent] = []
    try:
        response = runtime(local.url).invoke_endpoint_with_response_stream(
            EndpointName="demo", ContentType="application/json", Body=body
        )
        for part in parts(response):
            events += parser.feed(part)
        events += parser.end()
    except RAISED_BY_AWS_CLIENT as error:
        parser.failure = from_botocore(error)
    return events, parser


@pytest.mark.parametrize(
    ("name", "more", "expected"),
    [
        ("absent", {}, fail.EndpointNotFound),
        ("parts", {}, fail.ComponentRequired),
        ("demo", {"InferenceComponentName": "chat"}, fail.ComponentNotAllowed),
        ("parts", {"InferenceComponentName": "absent"}, fail.ComponentNotFound),
        ("parts", {"InferenceComponentName": "none"}, fail.NoCapacity),
        ("demo", {"Body": b"x" * 5000}, fail.PayloadTooLarge),
        ("demo", {"SessionId": "-"}, fail.RequestRefused),
        ("demo", {"Body": chat(max_tokens=0)}, fail.ModelRefused),
        ("demo", {"Body": b"{"}, fail.ModelRefused),
        ("demo", {"EndpointName": 5}, fail.NotSent),
    ],
)
def test_refusals(local: Local, name: str, more: dict[str, Any], expected: type[EndpointError]) -> None:
    error = failure(lambda: invoke(local, **({"endpoint": name} | more.copy())))
    assert type(error) is expected
    assert (error.request_id is None) is (expected is fail.NotSent)
    if expected is fail.ModelRefused:
        assert (error.status, error.original_status) == (424, 400)
        assert "the container's status 400" in str(error)


def test_a_copy_that_breaks_off(local: Local) -> None:
    (copy,) = local.platform.endpoints["demo"].copies.values()
    copy.faults.cut_after = 2
    error = failure(lambda: invoke(local))
    assert type(error) is fail.ModelExited
    _, parser = streamed(local, chat(stream=True, max_tokens=9))
    assert type(parser.failure) is fail.ModelExited
    assert parser.response().text


def test_a_copy_that_answers_nothing(tmp_path: Path) -> None:
    with serving(VLLM, tmp_path, limits=Limits(response_seconds=0.5)) as local:
        (copy,) = local.platform.endpoints["demo"].copies.values()
        copy.faults.hangs = True
        error = failure(lambda: invoke(local))
    assert type(error) is fail.ModelTimedOut
    assert (error.status, error.original_status, error.retryable) == (424, 0, False)


def test_a_stream_that_takes_too_long(tmp_path: Path) -> None:
    with running(
        endpoint(), folder=tmp_path, limits=Limits(stream_seconds=0.5), latency=Latency(decode_seconds_per_token=0.2)
    ) as local:
        events, parser = streamed(local, chat(stream=True, max_tokens=50))
    assert type(parser.failure) is fail.ModelTimedOut
    assert all(isinstance(one, TextDelta) for one in events)


def test_an_endpoint_without_instances_in_service(tmp_path: Path) -> None:
    with serving(VLLM, tmp_path, restart_seconds=60.0) as local:
        (copy,) = local.platform.endpoints["demo"].copies
        local.run(inflict(local.platform, FaultOrder(fault="kill", target=copy)))
        assert type(failure(lambda: invoke(local))) is fail.ServiceUnavailable


@pytest.mark.parametrize("served", [VLLM, LMI, SGLANG], ids=lambda one: one.server)
def test_a_session_that_a_server_does_not_know(tmp_path: Path, served: Any) -> None:
    with serving(served, tmp_path) as local:
        for body in (chat(), b'{"requestType": "CLOSE"}'):
            error = failure(lambda body=body: invoke(local, body, SessionId="gone"))  # type: ignore[misc]
            assert type(error) is fail.SessionLost
            assert error.original_status in (400, 424)


@pytest.mark.parametrize("field", ["expired_session", "unknown_session"])
def test_a_session_that_the_platform_does_not_know(tmp_path: Path, field: str) -> None:
    choices = RoutingChoices(**{field: SessionReply.REFUSED})
    with serving(VLLM, tmp_path, choices=choices) as local:
        opened = whole(
            runtime(local.url).invoke_endpoint(
                EndpointName="demo", ContentType="application/json", Body=OPEN, SessionId="NEW_SESSION"
            )
        )
        session = opened["NewSessionId"].partition(";")[0] if field == "expired_session" else "gone"
        local.clock.ahead += 700
        assert type(failure(lambda: invoke(local, SessionId=session))) is fail.SessionLost


@pytest.mark.parametrize("served", [model(), LMI_WITHOUT, SGLANG_WITHOUT], ids=["vllm", "lmi", "sglang"])
def test_a_server_without_sessions(tmp_path: Path, served: Any) -> None:
    with serving(served, tmp_path) as local:
        error = failure(lambda: invoke(local, OPEN, SessionId="NEW_SESSION"))
        assert type(error) is fail.SessionsNotEnabled


FORMS: dict[str, dict[str, Any]] = {
    "messages": json.loads(chat("Grüß dich 🙂")),
    "prompt": {"prompt": "hello", "max_tokens": 4},
    "inputs": {"inputs": "hello", "parameters": {"max_new_tokens": 4}},
}


@pytest.mark.parametrize("cutting", [Cut.AS_WRITTEN, Cut.EVERY_BYTE])
@pytest.mark.parametrize(
    ("served", "form"),
    [(VLLM, "messages"), (VLLM, "prompt"), *((one, form) for one in (LMI, SGLANG) for form in FORMS)],
    ids=lambda one: one if isinstance(one, str) else one.server,
)
def test_a_stream_and_the_whole_answer_say_the_same(tmp_path: Path, served: Any, form: str, cutting: Cut) -> None:
    body = FORMS[form]
    with serving(served, tmp_path, cut=cutting) as local:
        answer = read_response(invoke(local, json.dumps(body).encode()))
        events, parser = streamed(local, json.dumps(body | {"stream": True}).encode())
    assert parser.finished
    assert parser.failure is None
    assert sum(isinstance(one, Finish) for one in events) == 1
    found = parser.response()
    assert found.text == answer.text != ""
    assert (found.finish_reason, found.tool_calls, found.model) == (
        answer.finish_reason,
        answer.tool_calls,
        answer.model,
    )
    assert isinstance(answer, Response)
    assert answer.message() == {"role": "assistant", "content": answer.text}


@pytest.mark.parametrize(
    ("path", "key", "body", "expected"),
    [
        ("absent", None, chat(), fail.EndpointNotFound),
        ("parts/inference-components/none", None, chat(), fail.NoCapacity),
        ("parts", None, chat(), fail.ComponentRequired),
        ("demo", "sk-plain", chat(), fail.AccessDenied),
        ("demo", None, chat(max_tokens=0), fail.ModelRefused),
        ("demo", None, b"x" * 5000, fail.PayloadTooLarge),
    ],
)
def test_the_envelope_of_the_openai_path(
    local: Local, path: str, key: str | None, body: bytes, expected: type[EndpointError]
) -> None:
    connection = http.client.HTTPConnection(local.url.removeprefix("http://"), timeout=60)
    headers = {"Authorization": f"Bearer {key or token()}", "Content-Type": "application/json"}
    connection.request("POST", f"/endpoints/{path}/openai/v1/chat/completions", body, headers)
    answer = connection.getresponse()
    error = read_error(json.loads(answer.read()))
    connection.close()
    assert error is not None
    found = map_service_error(error.code, answer.status, error.message)
    assert type(found) is expected
    if expected is fail.ModelRefused:
        assert found.original_status == 400


@contextmanager
def answering(*portions: bytes) -> Iterator[str]:
    """Listen, answer the first request with some bytes, and hang up; without any, keep silent."""
    listener = socket.create_server(("127.0.0.1", 0))
    # For a request that never comes.
    listener.settimeout(60)
    done = threading.Event()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(60)
            read_request(connection)
            for portion in portions:
                connection.sendall(portion)
            if not portions:
                done.wait()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        done.set()
        thread.join()
        listener.close()


def asked(url: str, *, read_seconds: float = 60) -> Callable[[], object]:
    """Return a call by a client that asks once."""
    config = Config(retries={"total_max_attempts": 1}, read_timeout=read_seconds, connect_timeout=60)
    session = boto3.Session(aws_access_key_id="AKIAIOSFODNN7EXAMPLE", aws_secret_access_key="x", region_name=REGION)
    client = session.client("sagemaker-runtime", endpoint_url=url, config=config)

    def call() -> object:
        try:
            return client.invoke_endpoint(EndpointName="demo", Body=b"{}")["Body"].read()
        finally:
            client.close()

    return call


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n"


@pytest.mark.parametrize(
    ("portions", "expected"),
    [
        ((), fail.ReadTimedOut),
        ((b"",), fail.ConnectionLost),
        ((HEAD, b"1234"), fail.ConnectionLost),
        ((b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 7\r\n\r\n<html/>",), fail.ServiceFailed),
        ((b"HTTP/1.1 429 Too Many\r\ncontent-length: 0\r\n\r\n",), fail.Throttled),
    ],
)
def test_what_the_network_does(portions: tuple[bytes, ...], expected: type[EndpointError]) -> None:
    # Silence is waited for; what is sent comes when this machine has the time.
    seconds = 60 if portions else 0.3
    with answering(*portions) as url:
        assert type(failure(asked(url, read_seconds=seconds))) is expected


def test_nobody_listens() -> None:
    with refusing_port() as port:
        error = failure(asked(f"http://127.0.0.1:{port}"))
    assert type(error) is fail.NotConnected
    assert error.retryable


def test_no_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "absent"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    client = boto3.Session(region_name=REGION).client("sagemaker-runtime", endpoint_url="http://127.0.0.1:9")
    error = failure(lambda: client.invoke_endpoint(EndpointName="demo", Body=b"{}"))
    client.close()
    assert type(error) is fail.AccessDenied
