"""LMI's streams: an engine's pieces of any size, its end, and clients that go before they have read anything."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from tests.unit.local.definitions import model
from tests.unit.local.dialects.benches import simulated
from tests.unit.local.dialects.golden import CHAT, COMPLETION, ask, open_stream
from warmstack.local.container import ContainerGoneError, ContainerRequest
from warmstack.local.dialects.front import in_front

EVENTS = b'data: {"a": 1}\n\ndata: {"b": "\xc3\xa9"}\n\ndata: [DONE]\n\n'


class Engine:
    """Streams some events in pieces of a size, and breaks off before the end if it shall."""

    def __init__(self, events: bytes, size: int, *, breaks: bool = False) -> None:
        self.closed = 0
        self.path = ""
        self._events = events
        self._size = size
        self._breaks = breaks
        self.status = 200
        self.headers: Mapping[str, str] = {"content-type": "text/event-stream; charset=utf-8"}

    async def send(self, request: ContainerRequest) -> Engine:
        self.path = request.path
        return self

    async def pieces(self) -> AsyncIterator[bytes]:
        for at in range(0, len(self._events), self._size):
            yield self._events[at : at + self._size]
        if self._breaks:
            raise ContainerGoneError("gone")

    async def close(self) -> None:
        self.closed += 1


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_pieces_may_have_any_size(size: int) -> None:
    container = in_front(model(server="lmi"), Engine(EVENTS, size))
    answer = asyncio.run(ask(container, "/invocations", CHAT | {"stream": True}))
    assert answer.text == '{"a": 1}\n{"b": "\u00e9"}\n\n'


def test_an_engine_that_breaks_off_breaks_the_stream() -> None:
    container = in_front(model(server="lmi"), Engine(EVENTS[:20], 20, breaks=True))
    with pytest.raises(ContainerGoneError):
        asyncio.run(ask(container, "/invocations", CHAT | {"stream": True}))


@pytest.mark.parametrize("read", [0, 1])
def test_a_client_that_goes_ends_the_request(read: int) -> None:
    engine = Engine(EVENTS, 1)

    async def scenario() -> None:
        reply = await open_stream(in_front(model(server="lmi"), engine), CHAT | {"stream": True})
        pieces = reply.pieces()
        for _ in range(read):
            await anext(pieces)
        await reply.close()

    asyncio.run(scenario())
    assert engine.closed == 1


def test_in_a_stream_of_tokens_a_chunk_without_its_token_is_an_error() -> None:
    chunk = b'data: {"choices": [{"index": 0, "text": "x", "logprobs": null}]}\n\n'
    engine = Engine(chunk, 100)
    container = in_front(model(server="lmi"), engine)
    answer = asyncio.run(ask(container, "/invocations", {"inputs": "x", "stream": True}))
    assert (engine.path, answer.value["code"]) == ("/v1/completions", 424)


def test_tokens_that_come_in_one_chunk_are_told_as_the_first() -> None:
    """As LMI does: vLLM puts those that wait for a slower reader into one."""
    probabilities = {"tokens": ["token_id:1", "token_id:2"], "token_logprobs": [-1.0, -2.0]}
    choice = {"index": 0, "text": "ab", "logprobs": probabilities, "finish_reason": "length"}
    engine = Engine(b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\ndata: [DONE]\n\n", 1000)
    answer = asyncio.run(ask(in_front(model(server="lmi"), engine), "/invocations", {"inputs": "x", "stream": True}))
    told = {"index": 0, "token": {"id": 1, "text": "ab", "logprob": -1.0}, "generated_text": "ab", "details": None}
    assert [json.loads(line) for line in answer.text.split("\n") if line] == [told]


@pytest.mark.parametrize(("form", "lines"), [(COMPLETION, 3), (CHAT, 4), ({"inputs": "Copies live"}, 3)])
def test_the_simulated_engine_sends_each_token_by_itself(form: dict[str, Any], lines: int) -> None:
    container, _ = simulated({}, changes={"server": "lmi"})
    body = form | {"stream": True, "parameters": {"max_new_tokens": 3}}
    answer = asyncio.run(ask(container, "/invocations", body))
    assert len([line for line in answer.text.split("\n") if line]) == lines, answer.text


def test_the_simulated_engine_is_let_go() -> None:
    container, engine = simulated({}, changes={"server": "lmi"})

    async def scenario() -> list[int]:
        reply = await open_stream(container, CHAT | {"stream": True, "max_tokens": 50})
        pieces = reply.pieces()
        # The first one, which names the role, comes before anything is computed.
        await anext(pieces)
        await anext(pieces)
        running = [engine.counters.running]
        await reply.close()
        return [*running, engine.counters.running]

    assert asyncio.run(scenario()) == [1, 0]
