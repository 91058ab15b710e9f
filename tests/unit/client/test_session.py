"""Sessions: opened, used, renewed, lost and closed; the conversation is right in each case."""

from __future__ import annotations

import json
import logging
import threading
from typing import Any

import pytest

from tests.unit.client.network import Network, closed, opened, said
from warmstack.client import failures as fail
from warmstack.client.answer import Response
from warmstack.client.failures import (
    InvalidArgument,
    ModelExited,
    SessionBusy,
    SessionClosed,
    SessionLost,
    SessionsNotEnabled,
)
from warmstack.client.retries import NO_RETRIES
from warmstack.client.transport import Answer

LOST = SessionLost("session not found")
OPEN = {"requestType": "NEW_SESSION"}
CLOSE = {"requestType": "CLOSE"}


def call_of(response: Response) -> Any:
    assert response.call is not None
    return response.call


def texts(network: Network, at: int) -> list[str]:
    """The conversation that a request carried."""
    return [one["content"] for one in network.transport.bodies[at]["messages"]]


def test_a_conversation_opens_uses_and_closes_a_session() -> None:
    network = Network()
    network.will(opened("s-1"), said("Hi"), said("Fine"), closed())
    with network.client.session(system="Be brief.", max_tokens=8) as session:
        assert session.id == "s-1"
        response = session.chat("Hello")
        assert (response.text, call_of(response).session_id) == ("Hi", "s-1")
        assert session.chat("How are you?", temperature=0).text == "Fine"
    assert network.transport.sessions == ["NEW_SESSION", "s-1", "s-1", "s-1"]
    assert network.transport.bodies[0] == OPEN
    assert network.transport.bodies[3] == CLOSE
    assert texts(network, 2) == ["Be brief.", "Hello", "Hi", "How are you?"]
    assert [one.get("max_tokens") for one in network.transport.bodies[1:3]] == [8, 8]
    assert (session.stats.turns, session.stats.opened, session.stats.replayed) == (2, 1, 0)
    assert session.id is None


def test_turns_of_a_conversation_begin_with_the_same_bytes() -> None:
    network = Network()
    network.will(opened("s-1"), said("Grüße 😀"), said("b"), closed())
    with network.client.session(system="Sei kurz.") as session:
        session.chat("Hallo", seed=1)
        session.chat("Und?", seed=2, max_tokens=3)
    first, second = (one.body for one in network.transport.calls[1:3])
    said_so_far = first.partition(b"]")[0]
    assert second.startswith(said_so_far)
    assert "Grüße 😀".encode() in second


def test_opening_requests_have_identifiers_of_their_own() -> None:
    """They are all alike: with one prefix, PREFIX_AWARE would open every session on one instance."""
    network = Network(prefix_aware_id="app")
    network.will(opened("s-1"), said("a"), closed(), opened("s-2"), closed())
    with network.client.session() as session:
        session.chat("Hello")
    with network.client.session():
        pass
    identifiers = [one.prefix_aware_id for one in network.transport.calls]
    assert identifiers == ["id-1", "app", "app", "id-2", "app"]


def test_a_session_is_closed_after_an_exception() -> None:
    network = Network()
    network.will(opened("s-1"), closed())
    with pytest.raises(ZeroDivisionError), network.client.session():
        _ = 1 / 0
    assert network.transport.bodies == [OPEN, CLOSE]


@pytest.mark.parametrize("failure", [fail.ServiceFailed("x"), fail.NotConnected("x"), LOST])
def test_a_session_that_cannot_be_closed_ends_the_statement_without_a_failure(failure: fail.EndpointError) -> None:
    network = Network(retry=NO_RETRIES)
    network.will(opened("s-1"), failure)
    with network.client.session():
        pass
    assert network.transport.bodies == [OPEN, CLOSE]


def test_a_lost_session_is_opened_anew_and_the_turn_is_sent_again(caplog: pytest.LogCaptureFixture) -> None:
    network = Network()
    network.will(opened("s-1"), said("a"), LOST, opened("s-2"), said("b"), closed())
    with caplog.at_level(logging.WARNING, "warmstack.client"), network.client.session() as session:
        session.chat("one")
        response = session.chat("two")
    assert (response.text, call_of(response).session_id, call_of(response).replays) == ("b", "s-2", 1)
    assert network.transport.sessions == ["NEW_SESSION", "s-1", "s-1", "NEW_SESSION", "s-2", "s-2"]
    assert texts(network, 4) == texts(network, 2) == ["one", "a", "two"]
    assert session.stats.replayed == 1
    assert "session s-1 is lost" in caplog.text


def test_a_turn_is_sent_again_once_and_not_twice() -> None:
    network = Network()
    network.will(opened("s-1"), LOST, opened("s-2"), LOST, closed())
    with network.client.session() as session:
        with pytest.raises(SessionLost):
            session.chat("one")
        assert session.transcript.messages() == [], "the turn can be said again"
    assert network.transport.sessions == ["NEW_SESSION", "s-1", "NEW_SESSION", "s-2", "s-2"]


def test_the_session_of_a_copy_that_died_is_replaced_and_closed() -> None:
    network = Network()
    network.will(opened("s-1"), ModelExited("x"), opened("s-2"), closed(), said("b"), closed())
    with network.client.session() as session:
        assert session.chat("one").text == "b"
    assert network.transport.sessions == ["NEW_SESSION", "s-1", "NEW_SESSION", "s-1", "s-2", "s-2"]


@pytest.mark.parametrize("failure", [fail.ModelRefused("x"), fail.ReadTimedOut("x"), fail.ModelTimedOut("x")])
def test_another_failure_is_the_callers(failure: fail.EndpointError) -> None:
    network = Network()
    network.will(opened("s-1"), failure, said("b"), closed())
    with network.client.session() as session:
        with pytest.raises(type(failure)):
            session.chat("one")
        session.chat("two")
    assert texts(network, 2) == ["two"], "the turn that failed is no part of the conversation"


def test_a_session_is_renewed_at_four_fifths_of_its_life() -> None:
    network = Network()
    network.will(
        opened("s-1", seconds=100), said("a"), said("b"), opened("s-2", seconds=180), closed(), said("c"), closed()
    )
    with network.client.session() as session:
        session.chat("one")
        network.clock.seconds += 79
        session.chat("two")
        network.clock.seconds += 1
        session.chat("three")
    assert network.transport.sessions == ["NEW_SESSION", "s-1", "s-1", "NEW_SESSION", "s-1", "s-2", "s-2"]
    assert network.transport.bodies[4] == CLOSE
    assert (session.stats.renewed, session.stats.replayed) == (1, 0)


def test_the_callers_limit_renews_sooner() -> None:
    network = Network()
    network.will(opened("s-1", seconds=100), opened("s-2"), closed(), said("c"), closed())
    with network.client.session(ttl=10) as session:
        network.clock.seconds += 8
        session.chat("one")
    assert session.stats.renewed == 1


def test_a_session_that_cannot_be_renewed_is_used_to_its_end() -> None:
    network = Network()
    network.will(opened("s-1", seconds=100), fail.ServiceFailed("x"), said("a"), closed())
    with network.client.session() as session:
        network.clock.seconds += 90
        assert session.chat("one").text == "a"
    assert network.transport.sessions == ["NEW_SESSION", "NEW_SESSION", "s-1", "s-1"]


@pytest.mark.parametrize(
    "answer", [SessionsNotEnabled("x"), fail.ModelRefused("messages are missing"), closed()], ids=["off", "odd", "none"]
)
def test_where_a_deployment_has_no_sessions_the_same_calls_go_without(answer: Any) -> None:
    network = Network()
    network.will(answer, said("a"), said("b"))
    with network.client.session() as session:
        assert session.id is None
        session.chat("one")
        session.chat("two")
    assert network.transport.sessions == ["NEW_SESSION", None, None]
    assert texts(network, 2) == ["one", "a", "two"]


def test_a_renewal_that_is_refused_is_none() -> None:
    network = Network()
    network.will(opened("s-1", seconds=100), fail.ModelRefused("no room"), closed(), said("a"))
    with network.client.session() as session:
        network.clock.seconds += 90
        assert session.chat("one").text == "a"
    assert network.transport.sessions == ["NEW_SESSION", "NEW_SESSION", "s-1", None]
    assert (session.stats.opened, session.stats.renewed) == (1, 0)


def test_where_sessions_are_off_none_is_asked_for() -> None:
    network = Network(sessions="off")
    network.will(said("a"))
    with network.client.session() as session:
        session.chat("one")
    assert network.transport.sessions == [None]


def test_where_sessions_are_on_their_absence_is_an_error() -> None:
    network = Network(sessions="on")
    network.will(SessionsNotEnabled("x"))
    with pytest.raises(SessionsNotEnabled), network.client.session():
        pass


def test_a_session_is_asked_for_again_where_the_copy_died() -> None:
    network = Network()
    network.will(ModelExited("x"), opened("s-1"), closed())
    with network.client.session() as session:
        assert session.id == "s-1"
    network.will(ModelExited("first"), ModelExited("second"))
    with pytest.raises(ModelExited, match="second"), network.client.session():
        pass


def test_opening_is_tried_again_where_nothing_took_it() -> None:
    network = Network()
    network.will(fail.ServiceUnavailable("x"), opened("s-1"), closed())
    with network.client.session() as session:
        assert session.id == "s-1"


def test_a_conversation_that_could_not_be_opened_can_be_opened_again() -> None:
    network = Network(retry=NO_RETRIES)
    network.will(fail.ServiceUnavailable("x"), opened("s-1"), said("a"), closed())
    session = network.client.session()
    with pytest.raises(fail.ServiceUnavailable):
        session.open()
    assert session.chat("one").text == "a", "the first turn opens it"
    session.close()
    assert network.transport.sessions == ["NEW_SESSION", "NEW_SESSION", "s-1", "s-1"]


def test_a_closed_conversation_takes_no_turn() -> None:
    network = Network()
    network.will(opened("s-1"), closed())
    with network.client.session() as session:
        pass
    session.close()
    for turn in (session.chat, session.stream):
        with pytest.raises(SessionClosed, match="start another one"):
            turn("one")
    assert len(network.transport.calls) == 2


def test_resetting_keeps_the_session_and_what_the_conversation_started_from() -> None:
    network = Network()
    network.will(opened("s-1"), said("a"), said("b"), closed())
    with network.client.session(system="Be brief.") as session:
        session.chat("one")
        session.reset()
        session.chat("two")
    assert texts(network, 2) == ["Be brief.", "two"]


def test_tools_and_their_results_stay_as_they_were_said() -> None:
    network = Network()
    call = {"id": "c-1", "type": "function", "function": {"name": "time", "arguments": '{ "zone":"UTC" }'}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    asked = Answer(body=json.dumps({"choices": [{"message": message, "finish_reason": "tool_calls"}]}).encode())
    network.will(opened("s-1"), asked, said("Noon."), closed())
    with network.client.session() as session:
        wanted = session.chat("What time is it?").tool_calls
        session.chat([{"role": "tool", "tool_call_id": wanted[0].id, "content": "12:00"}])
    sent = network.transport.bodies[2]["messages"]
    assert sent[1]["tool_calls"] == [call]
    assert sent[2] == {"role": "tool", "tool_call_id": "c-1", "content": "12:00"}


def test_two_threads_cannot_take_a_turn_at_once() -> None:
    network = Network()
    network.will(opened("s-1"), closed())
    inside, done = threading.Event(), threading.Event()

    def slow(call: Any) -> Any:
        inside.set()
        assert done.wait(10)
        return said("a")

    with network.client.session() as session:
        network.transport.invoke = slow  # type: ignore[method-assign]
        thread = threading.Thread(target=session.chat, args=("one",))
        thread.start()
        assert inside.wait(10)
        with pytest.raises(SessionBusy):
            session.chat("two")
        done.set()
        thread.join(10)
        assert session.stats.turns == 1
        del network.transport.invoke


@pytest.mark.parametrize("ttl", [0, -1, float("nan"), float("inf"), "600", (1,)])
def test_a_life_is_a_number_of_seconds(ttl: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"ttl is .*; it must be a number of seconds above 0"):
        Network().client.session(ttl=ttl)
