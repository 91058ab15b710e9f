"""Streams without a session: events in order, closed however they end, and what arrived if they break."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest

from tests.unit.client.network import DONE, FakeParts, Network, event
from warmstack.client import failures as fail
from warmstack.client.events import Finish, TextDelta
from warmstack.client.failures import DeadlineExceeded, InvalidArgument, StreamInterrupted


def streaming(*chunks: Any, **options: Any) -> tuple[Network, Any]:
    network = Network(**options)
    network.will_stream(*chunks)
    return network, network.client.stream("Hello")


def test_events_come_in_order_and_the_connection_is_closed() -> None:
    network, stream = streaming(event("Hel"), event("lo"), event(finish="stop"), DONE)
    events = list(stream)
    assert events == [TextDelta(text="Hel"), TextDelta(text="lo"), Finish(reason="stop")]
    assert network.transport.opened[0].closed == 1
    response = stream.response()
    assert (response.text, response.finish_reason) == ("Hello", "stop")
    assert list(stream) == [], "it is read once"


def test_the_first_event_has_a_time() -> None:
    network, stream = streaming(event("a"), event(finish="stop"), DONE)
    network.clock.seconds += 2
    events = iter(stream)
    next(events)
    network.clock.seconds += 3
    list(events)
    call = stream.response().call
    assert (call.ttft_seconds, call.seconds, call.request_id, call.variant) == (2.0, 5.0, "stream-1", "primary")


def test_leaving_a_loop_closes_the_connection() -> None:
    network, stream = streaming(event("a"), event("b"), event(finish="stop"), DONE)
    for _ in stream:
        break
    assert network.transport.opened[0].closed == 1
    assert list(stream) == []


def test_an_exception_in_a_with_statement_closes_the_connection() -> None:
    network, stream = streaming(event("a"), event(finish="stop"), DONE)
    with pytest.raises(ZeroDivisionError), stream:
        _ = 1 / 0
    assert network.transport.opened[0].closed == 1


@pytest.mark.parametrize("tail", [(), (b'data: {"choices": [{"index": 0, "del',)], ids=["between", "within"])
def test_a_stream_that_ends_without_a_word_is_interrupted(tail: tuple[bytes, ...]) -> None:
    network, stream = streaming(event("Hel"), *tail)
    seen = []
    with pytest.raises(StreamInterrupted) as raised:
        seen.extend(stream.text())
    assert raised.value.response is not None
    assert raised.value.response.text == "Hel"
    assert network.transport.opened[0].closed == 1


def test_a_stream_that_brings_nothing_is_interrupted() -> None:
    _, stream = streaming()
    with pytest.raises(StreamInterrupted, match="ended before the answer did"):
        list(stream)


def test_a_failure_before_the_first_event_is_itself() -> None:
    network, stream = streaming(fail.ModelExited("gone"))
    with pytest.raises(fail.ModelExited):
        list(stream)
    assert network.transport.opened[0].closed == 1


def test_an_error_of_the_server_in_the_stream_is_typed() -> None:
    _, stream = streaming(event("a"), b'data: {"error": {"message": "broken", "code": 500}}\n\n', DONE)
    with pytest.raises(StreamInterrupted) as raised:
        list(stream)
    assert isinstance(raised.value.cause, fail.ModelFailed)


def test_an_error_of_the_server_is_not_waited_behind() -> None:
    """LMI keeps the connection of a stream that failed open for two minutes."""
    parts = [event("a") + b'data: {"error": {"message": "broken", "code": 500}}\n\n', fail.ReadTimedOut("in vain")]
    _, stream = streaming(*parts)
    with pytest.raises(StreamInterrupted) as raised:
        list(stream)
    assert isinstance(raised.value.cause, fail.ModelFailed)


def test_what_no_server_sends_is_malformed() -> None:
    _, stream = streaming(b"<html>busy</html>\n")
    with pytest.raises(fail.AnswerMalformed):
        list(stream)


def test_a_stream_is_started_again_where_nothing_took_it() -> None:
    network = Network()
    network.transport.streams.append(fail.Throttled("x"))
    network.will_stream(event("a", finish="stop"), DONE)
    stream = network.client.stream("Hello")
    list(stream)
    assert stream.response().call is not None
    assert stream.response().call.retries == 1


def test_a_stream_that_was_refused_raises_at_once() -> None:
    network = Network()
    network.transport.streams.append(fail.EndpointNotFound("x"))
    with pytest.raises(fail.EndpointNotFound):
        network.client.stream("Hello")


def test_a_stream_has_a_longest_time() -> None:
    network, stream = streaming(event("a"), event("b"), event(finish="stop"), DONE)
    events = iter(stream)
    next(events)
    network.clock.seconds += 481
    with pytest.raises(StreamInterrupted) as raised:
        next(events)
    assert isinstance(raised.value.cause, DeadlineExceeded)


def test_a_stream_takes_messages_or_a_prompt() -> None:
    network = Network()
    network.will_stream(b'data: {"choices": [{"index": 0, "text": "b", "finish_reason": "length"}]}\n\n', DONE)
    stream = network.client.stream(prompt="a", max_tokens=1)
    assert list(stream.text()) == ["b"]
    assert network.transport.bodies[0]["prompt"] == "a"
    for arguments in ({}, {"messages": "a", "prompt": "b"}):
        with pytest.raises(InvalidArgument, match="takes messages or prompt="):
            network.client.stream(**arguments)  # type: ignore[arg-type]


def test_a_stream_is_read_by_one_loop() -> None:
    network, stream = streaming(event("a"), event("b"), event(finish="stop"), DONE)
    events = iter(stream)
    next(events)
    with pytest.raises(InvalidArgument, match="read by another loop"):
        list(stream)
    assert len(list(events)) == 2, "the first loop goes on"
    assert network.transport.opened[0].closed == 1


def test_a_stream_that_is_forgotten_is_closed() -> None:
    network, stream = streaming(event("a"), event(finish="stop"), DONE)
    del stream
    gc.collect()
    assert network.transport.opened[0].closed == 1


def test_what_breaks_behind_the_answer_is_no_failure() -> None:
    _, stream = streaming(event("a"), event(finish="stop"), fail.ConnectionLost("gone"))
    assert list(stream) == [TextDelta(text="a"), Finish(reason="stop")]


def test_a_stream_that_another_thread_closes_ends() -> None:
    class Closed(FakeParts):
        def __iter__(self) -> Iterator[bytes]:
            yield event("a")
            stream.close()
            raise fail.ConnectionLost("closed")

    _, stream = streaming(event("never"))
    stream._source = iter(Closed([]))
    assert list(stream) == [TextDelta(text="a")]
