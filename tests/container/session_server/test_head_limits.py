"""The head of a request: how large and how slow it may be."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.container.session_server.harness import PATIENCE_SECONDS, Stack, running_stack

START = b"POST /invocations HTTP/1.1\r\nHost: x\r\n"
BODY = b'{"prompt": "x", "max_tokens": 1}'


@contextmanager
def connected(stack: Stack) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", stack.port), timeout=PATIENCE_SECONDS) as connection:
        yield connection


def everything(connection: socket.socket) -> bytes:
    """Read to the end of the connection."""
    received = b""
    with suppress(ConnectionResetError):
        while part := connection.recv(65536):
            received += part
    return received


def accepted(connection: socket.socket, part: bytes, times: int) -> int:
    """Send a part again and again; return how often that went well."""
    for count in range(times):
        try:
            connection.sendall(part)
        except OSError:
            return count
    return times


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


@pytest.mark.parametrize(
    "head",
    [
        START + b"".join(b"x-%d: %s\r\n" % (number, b"y" * 1000) for number in range(80)) + b"\r\n",
        START + b"x: " + b"y" * 70_000 + b"\r\n\r\n",
        b"POST /invocations?" + b"y" * 70_000 + b" HTTP/1.1\r\n\r\n",
        START + b"x: " + b"y" * 70_000,
    ],
    ids=["many", "long", "target", "endless"],
)
def test_a_head_of_more_than_64_kib_is_431(stack: Stack, head: bytes) -> None:
    with connected(stack) as connection:
        # The answer may come, and the connection end, while the rest is still on its way.
        with suppress(ConnectionError):
            connection.sendall(head)
        answer = everything(connection)
    assert status(answer) == 431
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "head_too_large"


def test_a_head_of_60_kib_is_taken(stack: Stack) -> None:
    head = START + b"connection: close\r\ncontent-length: %d\r\nx: " % len(BODY) + b"y" * 60_000 + b"\r\n\r\n"
    with connected(stack) as connection:
        connection.sendall(head + BODY)
        assert status(everything(connection)) == 200


@pytest.mark.parametrize(
    ("start", "part"),
    [
        (START, b"x: " + b"y" * 1_000_000 + b"\r\n"),
        (START + b"x: ", b"y" * 1_000_000),
        (START + b"transfer-encoding: chunked\r\n\r\n0\r\n", b"x: " + b"y" * 1_000_000 + b"\r\n"),
        (START + b"transfer-encoding: chunked\r\n\r\n0\r\nx: ", b"y" * 1_000_000),
    ],
    ids=["headers", "one header", "trailers", "one trailer"],
)
def test_an_endless_head_is_cut_off(stack: Stack, start: bytes, part: bytes) -> None:
    with connected(stack) as connection:
        connection.sendall(start)
        assert accepted(connection, part, 50) < 50
    assert stack.get("/ping").status == 200


def test_a_head_must_come_in_time(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("session_server.head_limits.HEAD_SECONDS", 0.2)
    with connected(stack) as connection:
        connection.sendall(START)
        answer = everything(connection)
    assert (status(answer), b"head_timeout" in answer) == (408, True)


def test_a_second_head_on_a_connection_must_come_in_time_too(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("session_server.head_limits.HEAD_SECONDS", 0.2)
    with connected(stack) as connection:
        connection.sendall(b"GET /ping HTTP/1.1\r\nHost: x\r\n\r\n" + START)
        answer = everything(connection)
    assert status(answer) == 200
    assert b"HTTP/1.1 408 " in answer


def test_a_connection_that_says_nothing_is_closed_as_an_idle_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("session_server.supervisor.KEEP_ALIVE_SECONDS", 1)
    with running_stack() as stack, connected(stack) as connection:
        assert everything(connection) == b""


def test_a_body_in_many_small_parts_is_no_head(stack: Stack) -> None:
    text = b'{"prompt": "' + b"y" * 30_000 + b'", "max_tokens": 1}'
    chunks = b"".join(b"1\r\n%c\r\n" % one for one in text)
    with connected(stack) as connection:
        connection.sendall(START + b"connection: close\r\ntransfer-encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")
        assert status(everything(connection)) == 200


def test_a_streams_rest_is_not_cut_by_a_head_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("session_server.head_limits.HEAD_SECONDS", 0.1)
    body = b'{"prompt": "x", "stream": true}'
    with running_stack(token_seconds=0.1, tokens=8) as stack, connected(stack) as connection:
        connection.sendall(START + b"content-length: %d\r\n\r\n" % len(body) + body + START)
        answer = everything(connection)
    assert b"data: [DONE]\n\n" in answer
    assert b"HTTP/1.1 408 " in answer
