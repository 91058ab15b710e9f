"""Streams in sessions: a turn is over with its stream, and a conversation knows what was said."""

from __future__ import annotations

import gc

import pytest

from tests.unit.client.network import DONE, Network, closed, event, opened, said
from tests.unit.client.test_session import CLOSE, LOST, call_of, texts
from warmstack.client import failures as fail
from warmstack.client.failures import (
    ModelExited,
    SessionBusy,
    StreamInterrupted,
)


def test_a_stream_runs_in_the_session_and_joins_the_conversation() -> None:
    network = Network()
    network.will(opened("s-1"), said("b"), closed())
    network.will_stream(event("Hel"), event("lo", finish="stop"), DONE)
    with network.client.session() as session:
        stream = session.stream("one")
        assert list(stream.text()) == ["Hel", "lo"]
        assert call_of(stream.response()).session_id == "s-1"
        session.chat("two")
    assert texts(network, 2) == ["one", "Hello", "two"]
    assert network.transport.opened[0].closed == 1


def test_a_stream_that_is_not_over_keeps_the_conversation_busy() -> None:
    network = Network()
    network.will(opened("s-1"), said("a"), closed())
    network.will_stream(event("Hel"), event("lo", finish="stop"), DONE)
    with network.client.session() as session:
        stream = session.stream("one")
        for turn in (session.chat, session.stream):
            with pytest.raises(SessionBusy, match="read its stream to the end or close it"):
                turn("two")
        with pytest.raises(SessionBusy):
            session.reset()
        stream.close()
        stream.close()
        session.chat("two")
    assert texts(network, 2) == ["two"], "an answer that was left is no part of the conversation"


def test_leaving_a_stream_after_its_answer_keeps_the_turn() -> None:
    network = Network()
    network.will(opened("s-1"), said("b"), closed())
    network.will_stream(event("Hello"), event(finish="stop"), DONE)
    with network.client.session() as session:
        for one in session.stream("one"):
            if type(one).__name__ == "Finish":
                break
        session.chat("two")
    assert texts(network, 2) == ["one", "Hello", "two"]


@pytest.mark.parametrize("parts", [1, 3])
def test_leaving_a_stream_before_its_answer_forgets_the_turn_however_it_was_cut(parts: int) -> None:
    network = Network()
    network.will(opened("s-1"), said("b"), closed())
    chunks = [event("Hel"), event("lo"), event(finish="stop") + DONE]
    network.will_stream(*(chunks if parts > 1 else [b"".join(chunks)]))
    with network.client.session() as session:
        for _ in session.stream("one"):
            break
        session.chat("two")
    assert texts(network, 2) == ["two"]


def test_a_turn_whose_stream_breaks_behind_its_answer_is_over() -> None:
    network = Network()
    network.will(opened("s-1"), said("b"), closed())
    network.will_stream(event("Hello"), event(finish="stop"), fail.ConnectionLost("gone"))
    with network.client.session() as session:
        assert list(session.stream("one").text()) == ["Hello"]
        session.chat("two")
    assert texts(network, 2) == ["one", "Hello", "two"], "kept, and told as kept"


def test_an_exception_closes_the_stream_with_the_session() -> None:
    network = Network()
    network.will(opened("s-1"), closed())
    network.will_stream(event("Hel"), event("lo"), event(finish="stop"), DONE)

    def interrupted() -> None:
        with network.client.session() as session:
            stream = session.stream("one")
            assert stream.response().text == ""
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        interrupted()
    assert caught.tb is not None, "which keeps the stream"
    assert network.transport.opened[0].closed == 1
    assert network.transport.bodies[-1] == CLOSE


def test_a_stream_can_be_read_after_the_statement_of_its_session() -> None:
    network = Network()
    network.will(opened("s-1"), closed())
    network.will_stream(event("Hel"), event("lo"), event(finish="stop"), DONE)
    with network.client.session() as session:
        stream = session.stream("one")
    assert list(stream.text()) == ["Hel", "lo"]


def test_a_stream_that_is_forgotten_ends_its_turn() -> None:
    network = Network()
    network.will(opened("s-1"), said("b"), closed())
    network.will_stream(event("Hello"), event(finish="stop"), DONE)
    with network.client.session() as session:
        session.stream("one")
        gc.collect()
        session.chat("two")
    assert texts(network, 2) == ["two"]


@pytest.mark.parametrize("when", ["at the start", "before the first part"])
def test_a_stream_of_a_lost_session_is_sent_again(when: str) -> None:
    network = Network()
    network.will(opened("s-1"), opened("s-2"), closed())
    if when == "at the start":
        network.transport.streams.append(LOST)
    else:
        network.will_stream(LOST)
    network.will_stream(event("Hello", finish="stop"), DONE)
    with network.client.session() as session:
        stream = session.stream("one")
        assert "".join(stream.text()) == "Hello"
        assert (call_of(stream.response()).replays, session.stats.replayed) == (1, 1)
    assert network.transport.sessions == ["NEW_SESSION", "s-1", "NEW_SESSION", "s-2", "s-2"]
    assert all(one.closed == 1 for one in network.transport.opened)


def test_a_stream_is_not_sent_again_once_something_reached_the_caller() -> None:
    network = Network()
    network.will(opened("s-1"), said("c"), closed())
    network.will_stream(event("Hel"), ModelExited("gone", code="ModelStreamError"))
    with network.client.session() as session:
        seen: list[str] = []
        with pytest.raises(StreamInterrupted) as raised:
            seen.extend(session.stream("one").text())
        assert raised.value.response is not None
        assert raised.value.response.text == "Hel"
        assert isinstance(raised.value.cause, ModelExited)
        assert raised.value.code == "ModelStreamError"
        session.chat("two")
    assert texts(network, 2) == ["two"]
