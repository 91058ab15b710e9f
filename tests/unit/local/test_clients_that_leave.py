"""Clients that go away at every stage: nothing stays in flight, and nothing is told as a defect."""

from __future__ import annotations

import logging
import socket
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.unit.local.clients import chat
from tests.unit.local.definitions import endpoint, variant
from tests.unit.local.running import Local, running
from warmstack.local import serving
from warmstack.local.platform.fault_orders import FaultOrder, inflict
from warmstack.local.remote import ask
from warmstack.local.simulated import Latency

INVOKE = "/endpoints/demo/invocations"
STREAM = "/endpoints/demo/invocations-response-stream"


@pytest.fixture
def local(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Iterator[Local]:
    latency = Latency(decode_seconds_per_token=0.01)
    with (
        caplog.at_level(logging.WARNING),
        running(endpoint(variants=(variant(instances=1),)), folder=tmp_path, latency=latency) as local,
    ):
        yield local


def request(path: str, body: bytes, *, length: int | None = None) -> bytes:
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Authorization: AWS4-HMAC-SHA256 x\r\nContent-Length: {len(body) if length is None else length}\r\n\r\n"
    )
    return head.encode() + body


def leave(
    local: Local,
    data: bytes,
    *,
    after_seconds: float = 0.0,
    when: Callable[[], bool] = lambda: True,
    reset: bool = False,
) -> None:
    address = urlsplit(local.url)
    with socket.create_connection((address.hostname or "", address.port or 0)) as client:
        client.sendall(data)
        time.sleep(after_seconds)
        local.until(when)
        if reset:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def settled(local: Local) -> bool:
    (copy,) = local.platform.endpoints["demo"].copies.values()
    return copy.in_flight == copy.instance.in_flight == 0


@pytest.mark.parametrize("reset", [False, True])
@pytest.mark.parametrize(
    ("data", "after_seconds"),
    [
        (request(INVOKE, b"", length=50), 0.05),
        (request(INVOKE, b"{", length=50), 0.05),
        (request("/", b"{", length=50), 0.05),
        (request("/_warmstack/faults", b"{", length=50), 0.05),
        (request(INVOKE, chat(max_tokens=20)), 0.0),
        (request(INVOKE, chat(max_tokens=20)), 0.05),
        (request(STREAM, chat(max_tokens=20, stream=True)), 0.0),
        (request(STREAM, chat(max_tokens=20, stream=True)), 0.05),
    ],
)
def test_nothing_stays_in_flight(
    local: Local, caplog: pytest.LogCaptureFixture, data: bytes, after_seconds: float, reset: bool
) -> None:
    for _ in range(5):
        leave(local, data, after_seconds=after_seconds, reset=reset)
    # Connections are taken up in their order: when this one is answered, nothing of the others is still to come.
    ask(local.url, "status", seconds=60)
    local.until(lambda: settled(local))
    local.until(lambda: all(entry.status is not None for entry in local.services.journal.newest_first()))
    assert caplog.records == []


def test_a_client_that_leaves_before_a_streams_head_frees_its_copy(
    local: Local, caplog: pytest.LogCaptureFixture
) -> None:
    (copy,) = local.platform.endpoints["demo"].copies.values()
    local.run(inflict(local.platform, FaultOrder(fault="slow", target=copy.name, seconds=1)))
    leave(local, request(STREAM, chat(stream=True)), when=lambda: copy.in_flight == 1)
    local.until(lambda: next(local.services.journal.newest_first()).status is not None)
    local.until(lambda: settled(local))
    assert caplog.records == []


@pytest.mark.parametrize("hangs", [False, True])
@pytest.mark.parametrize(("path", "told"), [(INVOKE, b"ModelError"), (STREAM, b"the model process exited")])
def test_requests_that_outlast_the_grace_are_told_that_their_copy_ended(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    *,
    told: bytes,
    hangs: bool,
) -> None:
    monkeypatch.setattr("warmstack.local.serving.GRACE_SECONDS", 0.2)
    latency = Latency(decode_seconds_per_token=0.05)
    client = socket.socket()
    with caplog.at_level(logging.WARNING), client:
        with running(endpoint(variants=(variant(instances=1),)), folder=tmp_path, latency=latency) as local:
            (copy,) = local.platform.endpoints["demo"].copies.values()
            copy.faults.hangs = hangs
            client.connect((urlsplit(local.url).hostname, urlsplit(local.url).port))
            client.sendall(request(path, chat(max_tokens=2000, stream=path == STREAM)))
            local.until(lambda: copy.in_flight == 1)
        received = b"".join(iter(lambda: client.recv(65536), b""))
    assert told in received
    assert caplog.records == []


def test_an_idle_connection_is_the_clients_to_close(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that the server closes just when its client sends again breaks that request off."""
    assert serving.KEEP_ALIVE_SECONDS > 60, "clients keep theirs for a minute at most"
    monkeypatch.setattr(serving, "KEEP_ALIVE_SECONDS", 0)
    with (
        running(endpoint(variants=(variant(instances=1),)), folder=tmp_path) as local,
        socket.create_connection((urlsplit(local.url).hostname, urlsplit(local.url).port), timeout=60) as client,
    ):
        client.sendall(request(INVOKE, chat(max_tokens=1)))
        received = b"".join(iter(lambda: client.recv(65536), b""))
    assert received.startswith(b"HTTP/1.1 200"), "and at once it is the server that closes"
