"""OpenAI's client on the OpenAI path of the local endpoint: tokens, streams, components, retries and time-outs."""

from __future__ import annotations

import builtins
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import openai
import pytest

from tests.ports import refusing_port
from tests.unit.local import clients
from tests.unit.local.definitions import REGION, component, endpoint
from tests.unit.local.running import Local, running
from warmstack.client.connections import Connection, Surroundings, connect
from warmstack.client.failures import AccessDenied, NotConfigured
from warmstack.client.openai_path import openai_base_url, openai_client
from warmstack.client.retries import RetryPolicy
from warmstack.client.timeouts import Timeouts

WAIT_SECONDS = 60
MESSAGES: Any = [{"role": "user", "content": "Grüß dich 🙂"}]


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    parts = (component(), component("legal", base="chat"), component("none", copies=0))
    with running(endpoint(), endpoint("parts", components=parts), folder=tmp_path_factory.mktemp("local")) as local:
        yield local


@contextmanager
def connected(url: str, **options: Any) -> Iterator[Connection]:
    waits: list[float] = []
    around = options.pop("surroundings", Surroundings(sleep=waits.append, random=lambda: 1.0))
    connection = connect(boto3_session=clients.session(), endpoint_url=url, surroundings=around, **options)
    yield replace(connection)
    connection.close()


@contextmanager
def asking(local: Local, name: str = "demo", part: str | None = None, **options: Any) -> Iterator[openai.OpenAI]:
    with connected(local.url, **options) as connection, openai_client(connection, name, part) as client:
        yield client


def test_a_chat_and_a_stream(local: Local) -> None:
    with asking(local) as client:
        answer = client.chat.completions.create(model="", messages=MESSAGES, max_tokens=3)
        stream = client.chat.completions.create(model="", messages=MESSAGES, max_tokens=3, stream=True)
        text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    assert text == answer.choices[0].message.content != ""


def test_a_component_and_an_adapter_by_their_physical_names(local: Local) -> None:
    for name in ("chat", "legal"):
        with asking(local, "parts", name) as client:
            client.chat.completions.create(model="", messages=MESSAGES, max_tokens=3)
        assert next(local.services.journal.newest_first()).component == name


def test_a_token_that_expires_is_made_anew(local: Local) -> None:
    around = Surroundings(wall=lambda: datetime.fromtimestamp(local.clock(), UTC))
    with asking(local, surroundings=around) as client:
        for _ in range(3):
            assert client.chat.completions.create(model="", messages=MESSAGES, max_tokens=3).choices
            first = client.api_key
            local.clock.ahead += timedelta(hours=11, minutes=58).total_seconds()
            assert client.chat.completions.create(model="", messages=MESSAGES, max_tokens=3).choices
            assert client.api_key != first
    local.clock.ahead = 0.0


def test_no_capacity_is_tried_again_and_then_told(local: Local) -> None:
    waits: list[float] = []
    around = Surroundings(sleep=waits.append, random=lambda: 1.0)
    policy = RetryPolicy(attempts=3, base_seconds=0.5)
    with (
        asking(local, "parts", "none", surroundings=around, retry=policy) as client,
        pytest.raises(openai.BadRequestError, match="has no capacity"),
    ):
        client.chat.completions.create(model="", messages=MESSAGES)
    assert waits == [0.5, 1.0]


def test_an_error_of_the_model_is_not_tried_again(local: Local) -> None:
    waits: list[float] = []
    with asking(local, surroundings=Surroundings(sleep=waits.append)) as client, pytest.raises(openai.BadRequestError):
        client.chat.completions.create(model="", messages=MESSAGES, max_tokens=0)
    assert waits == []


def read_request(connection: socket.socket) -> bytes:
    """Return a request, with its whole body."""
    found = b""
    while True:
        head, end, body = found.partition(b"\r\n\r\n")
        if end and len(body) == int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]):
            return found
        more = connection.recv(65536)
        if not more:
            raise ConnectionError(f"the client hung up after {found!r}")
        found += more


@contextmanager
def answering(*answers: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """Listen, and give one answer a connection; an empty one keeps silent."""
    listener = socket.create_server(("127.0.0.1", 0))
    # For a request that never comes; how long the client takes to be made is no part of what is tested.
    listener.settimeout(WAIT_SECONDS)
    done, heads = threading.Event(), []

    def serve() -> None:
        for answer in answers:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(WAIT_SECONDS)
                heads.append(read_request(connection))
                if answer:
                    connection.sendall(answer)
                else:
                    done.wait()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", heads
    finally:
        done.set()
        thread.join()
        listener.close()


def answer(status: str, document: Any) -> bytes:
    body = json.dumps(document).encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n"
    return head.encode() + b"content-length: %d\r\n\r\n" % len(body) + body


BUSY = answer("503 Service Unavailable", {"error": {"message": "no", "code": "service_unavailable"}})
THROTTLED = answer("429 Too Many Requests", "no")
FAILED = answer("500 Internal Server Error", {"error": {"message": "no", "code": "model_error"}})
GOOD = answer("200 OK", {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": []})


def test_what_is_safe_is_sent_again_with_the_same_body() -> None:
    with (
        answering(BUSY, THROTTLED, GOOD) as (url, heads),
        connected(url) as connection,
        openai_client(connection, "demo") as client,
    ):
        assert client.chat.completions.create(model="", messages=MESSAGES).id == "x"
    bodies = {head.partition(b"\r\n\r\n")[2] for head in heads}
    assert len(heads) == 3
    assert len(bodies) == 1


def test_what_may_have_been_computed_is_not_sent_again() -> None:
    with (
        answering(FAILED) as (url, heads),
        connected(url) as connection,
        openai_client(connection, "demo") as client,
        pytest.raises(openai.InternalServerError),
    ):
        client.chat.completions.create(model="", messages=MESSAGES)
    assert len(heads) == 1
    waits = Timeouts(read_seconds=0.2, stream_seconds=0.4)
    with (
        answering(b"") as (url, heads),
        connected(url, timeouts=waits) as connection,
        openai_client(connection, "demo") as client,
        pytest.raises(openai.APITimeoutError),
    ):
        client.chat.completions.create(model="", messages=MESSAGES)
    assert len(heads) == 1


def test_a_connection_that_is_refused_is_tried_again() -> None:
    waits: list[float] = []
    around = Surroundings(sleep=waits.append, random=lambda: 0.5)
    with (
        refusing_port() as port,
        connected(f"http://127.0.0.1:{port}", surroundings=around, retry=RetryPolicy(attempts=2)) as connection,
        openai_client(connection, "demo") as client,
        pytest.raises(openai.APIConnectionError),
    ):
        client.chat.completions.create(model="", messages=MESSAGES)
    assert waits == [0.125]


def test_a_stream_may_wait_longer_and_a_time_out_of_the_callers_own_counts() -> None:
    seen: list[Any] = []
    waits = Timeouts(connect_seconds=3, read_seconds=7, stream_seconds=48)
    with (
        answering(*[GOOD] * 4) as (url, _),
        connected(url, timeouts=waits) as connection,
        openai_client(connection, "demo") as client,
    ):
        client._client.event_hooks = {"request": [lambda request: seen.append(request.extensions["timeout"])]}
        text: Any = [{"role": "user", "content": '"stream":true, "stream": true'}]
        client.chat.completions.create(model="", messages=text)
        list(client.chat.completions.create(model="", messages=MESSAGES, stream=True))
        list(client.chat.completions.create(model="", messages=MESSAGES, stream=True, timeout=5))
        client.with_options(timeout=6).chat.completions.create(model="", messages=MESSAGES)
    assert [(one["connect"], one["read"]) for one in seen] == [(3, 7), (3, 48), (5, 5), (6, 6)]


def test_options_of_the_callers_own_win(local: Local) -> None:
    with connected(local.url) as connection:
        own = openai.DefaultHttpxClient()
        with openai_client(connection, "demo", http_client=own, timeout=3, max_retries=1) as client:
            assert client.chat.completions.create(model="", messages=MESSAGES, max_tokens=1).choices
            assert (client._client, client.timeout, client.max_retries) == (own, 3, 1)


@pytest.mark.parametrize(
    ("region", "host"),
    [("us-west-2", "amazonaws.com"), ("cn-north-1", "amazonaws.com.cn"), ("eusc-de-east-1", "amazonaws.eu")],
)
def test_the_address_is_that_of_the_region_and_its_partition(region: str, host: str) -> None:
    connection = connect(boto3_session=clients.session(), region=region)
    with openai_client(connection, "demo") as client:
        assert str(client.base_url) == f"https://runtime.sagemaker.{region}.{host}/endpoints/demo/openai/v1/"
    connection.close()


def test_a_component_is_a_part_of_the_address() -> None:
    part = openai_base_url("http://127.0.0.1:8080/", "demo", "demo-chat")
    assert part == "http://127.0.0.1:8080/endpoints/demo/inference-components/demo-chat/openai/v1"


def test_what_is_missing_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with connected("http://127.0.0.1:9") as connection:
        with pytest.raises(NotConfigured, match="needs a boto3 session"):
            openai_client(replace(connection, session=None), "demo")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION"):
            monkeypatch.delenv(name, raising=False)
        for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
            monkeypatch.setenv(name, str(tmp_path / "absent"))
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        with pytest.raises(AccessDenied, match="no AWS credentials"):
            openai_client(replace(connection, session=boto3.Session(region_name=REGION)), "demo")
        with pytest.raises(NotConfigured, match="no Region"):
            openai_client(replace(connection, session=boto3.Session()), "demo")
        real = builtins.__import__

        def without(name: str, *rest: Any) -> Any:
            if name.partition(".")[0] == "openai":
                raise ModuleNotFoundError("No module named 'openai'", name="openai")
            return real(name, *rest)

        monkeypatch.setattr(builtins, "__import__", without)
        with pytest.raises(
            NotConfigured, match=r"needs openai, which is not installed: pip install 'warmstack\[openai\]'"
        ):
            openai_client(connection, "demo")
