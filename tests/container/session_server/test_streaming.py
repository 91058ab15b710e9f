"""Streams: the engine's bytes, when it sends them, and no longer than the client listens."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.container.session_server.harness import Stack, running_stack, wait_until

CHAT = json.dumps({"messages": [{"role": "user", "content": "x"}], "stream": True})
PLAIN = json.dumps({"messages": [{"role": "user", "content": "x"}]})


@pytest.fixture
def held() -> Iterator[Stack]:
    """An engine that makes the first token of an answer, and the others when it is let."""
    with running_stack(hold_after=1) as running:
        yield running


@pytest.mark.parametrize("path", ["/invocations", "/v1/chat/completions"])
def test_a_stream_is_passed_on_byte_for_byte(stack: Stack, path: str) -> None:
    through = stack.request("POST", path, CHAT, {"Content-Type": "application/json"})
    connection = stack.connect()
    connection.port = stack.engine_port
    connection.request("POST", "/v1/chat/completions", CHAT, {"Content-Type": "application/json"})
    direct = connection.getresponse()
    assert through.headers["content-type"] == direct.headers["content-type"]
    assert through.body == direct.read()
    connection.close()


def test_chunks_are_not_held_back(held: Stack) -> None:
    connection = held.connect()
    connection.request("POST", "/invocations", CHAT)
    response = connection.getresponse()
    first = response.read1()
    assert first.count(b"data: ") == 1
    assert held.engine.counters.finished == 1  # the probe's
    held.engine.options.hold_after = -1
    assert response.read().endswith(b"data: [DONE]\n\n")
    connection.close()


@pytest.mark.parametrize("body", [CHAT, PLAIN])
@pytest.mark.parametrize("after_first", [True, False])
def test_a_client_that_goes_away_has_its_request_aborted(held: Stack, body: str, after_first: bool) -> None:
    connection = held.connect()
    connection.request("POST", "/invocations", body)
    if after_first and body is CHAT:
        connection.getresponse().read1()
    else:
        wait_until(lambda: held.engine.counters.running == 1, "the engine has the request")
    connection.sock.close()
    connection.close()
    wait_until(lambda: held.engine.counters.aborted == 1, "the engine aborts the request")
    assert held.engine.counters.finished == 1


def test_an_engine_that_breaks_off_ends_the_stream_with_an_error(stack: Stack) -> None:
    stack.engine.options.break_after = 3
    try:
        answer = stack.request("POST", "/invocations", CHAT)
        lines = stack.post({"inputs": "x", "stream": True})
        whole = stack.request("POST", "/invocations", PLAIN)
    finally:
        stack.engine.options.break_after = -1
    *tokens, last = answer.body.split(b"\n\n")[:-1]
    assert (answer.status, len(tokens)) == (200, 3)
    assert json.loads(last.removeprefix(b"data: "))["error"]["code"] == "engine_connection_broken"
    assert json.loads(lines.body.splitlines()[-1])["error"]["code"] == "engine_connection_broken"
    assert (whole.status, whole.error["code"]) == (503, "engine_connection_broken")


def test_many_streams_at_once(stack: Stack) -> None:
    stack.engine.options.token_seconds = 0.01
    connections = [stack.connect() for _ in range(32)]
    for connection in connections:
        connection.request("POST", "/invocations", CHAT)
    bodies = {connection.getresponse().read() for connection in connections}
    for connection in connections:
        connection.close()
    stack.engine.options.token_seconds = 0.0
    assert len(bodies) == 1
    assert bodies.pop().endswith(b"data: [DONE]\n\n")


def test_a_slow_reader_does_not_stop_the_others(stack: Stack) -> None:
    stack.engine.options.tokens = 20_000
    try:
        reader = stack.connect()
        reader.request("POST", "/invocations", CHAT)
        assert stack.post({"prompt": "x", "max_tokens": 1}).status == 200
        assert stack.get("/ping").status == 200
        reader.close()
    finally:
        stack.engine.options.tokens = 8
    wait_until(lambda: stack.engine.counters.running == 0, "the engine is idle")
