"""Bodies, headers and messages: what the caller gives, held to its rules before anything is sent."""

from __future__ import annotations

import threading
from types import MappingProxyType
from typing import Any

import pytest

from tests.unit.client.network import Network
from warmstack import EndpointClient
from warmstack.client.call_options import split_options
from warmstack.client.failures import InvalidArgument
from warmstack.client.requests import chat_body, completion_body
from warmstack.client.transcript import Transcript, messages_of
from warmstack.payload import PayloadError

HELLO = {"role": "user", "content": "Hello"}


def test_a_chat_has_its_messages_and_what_was_given() -> None:
    assert chat_body([HELLO], options={"max_tokens": 4, "temperature": None}) == {"messages": [HELLO], "max_tokens": 4}
    assert chat_body([HELLO], options={"tools": None}) == {"messages": [HELLO]}


def test_a_stream_asks_for_its_usage() -> None:
    assert chat_body([HELLO], options={}, stream=True) == {
        "messages": [HELLO],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    own = {"stream_options": {"include_usage": False}}
    assert completion_body("a", options=own, stream=True)["stream_options"] == {"include_usage": False}


@pytest.mark.parametrize("name", ["messages", "prompt", "stream", "requestType"])
def test_what_the_client_sets_cannot_be_given(name: str) -> None:
    with pytest.raises(InvalidArgument, match=f"option '{name}' cannot be given"):
        chat_body([HELLO], options={name: True})


def test_headers_are_parted_from_members() -> None:
    headers, members = split_options({"prefix_aware_id": "app", "inference_id": None, "seed": 3})
    assert (headers, members) == ({"prefix_aware_id": "app"}, {"seed": 3})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("prefix_aware_id", ""),
        ("prefix_aware_id", " app"),
        ("prefix_aware_id", "a" * 65),
        ("prefix_aware_id", "a\nb"),
        ("prefix_aware_id", 7),
        ("prefix_aware_id", "é"),
        ("prefix_aware_id", "\ud800"),
        ("inference_id", "\x00"),
        ("custom_attributes", "é"),
        ("custom_attributes", "a\r\nX-Evil: 1"),
        ("target_variant", "a_b"),
    ],
)
def test_a_header_that_breaks_its_rule_is_refused(name: str, value: object) -> None:
    with pytest.raises(InvalidArgument, match=f"{name} is .*; it must be 1 to"):
        split_options({name: value})


def test_a_text_is_the_users() -> None:
    assert messages_of("Hello") == [HELLO]
    assert messages_of(HELLO) == [HELLO]
    assert messages_of(iter([HELLO, HELLO])) == [HELLO, HELLO]


@pytest.mark.parametrize("value", [7, None, ["Hello"], [HELLO, 7], b"Hello"])
def test_what_is_no_message_is_refused(value: Any) -> None:
    with pytest.raises(InvalidArgument, match="a turn is a text, a message"):
        messages_of(value)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ((one for one in "ab"), r"messages\[1\].content is a generator"),
        (MappingProxyType({"a": 1}), r"messages\[1\].content is a mappingproxy"),
        ([{"text": threading.Lock()}], r"messages\[1\].content\[0\].text is a _thread.lock"),
    ],
)
def test_what_cannot_be_copied_is_told_with_its_place(content: Any, problem: str) -> None:
    with pytest.raises(PayloadError, match=problem):
        messages_of([HELLO, {"role": "user", "content": content}])


def test_what_is_too_deep_to_be_copied_is_told() -> None:
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(PayloadError, match="is nested 251 levels deep"):
        messages_of([{"role": "user", "content": deep}])


@pytest.mark.parametrize("name", ["", "a b", "a\nb", "é", "\ud800", "a" * 64, 7, None, b"a"])
def test_a_name_that_no_header_can_hold_is_refused(name: Any) -> None:
    with pytest.raises(InvalidArgument, match="endpoint is"):
        EndpointClient(name, connection=Network().client._connection)
    client = Network().client
    if name is not None:
        with pytest.raises(InvalidArgument, match="component is"):
            client.component(name)
    if name not in (None, "a" * 64):
        with pytest.raises(InvalidArgument, match="session_id is"):
            client.invoke({"prompt": "x"}, session_id=name)


def test_a_conversation_grows_by_whole_turns() -> None:
    transcript = Transcript([{"role": "system", "content": "Be brief."}])
    sent = transcript.with_turn("Hello")
    assert len(transcript) == 1, "nothing is said before it is answered"
    transcript.keep(sent, {"role": "assistant", "content": "Hi"})
    assert [one["content"] for one in transcript.messages()] == ["Be brief.", "Hello", "Hi"]
    transcript.reset()
    assert [one["content"] for one in transcript.messages()] == ["Be brief."]


def test_what_a_caller_changes_later_does_not_change_what_was_said() -> None:
    given = {"role": "user", "content": [{"type": "text", "text": "a"}]}
    answer = {"role": "assistant", "content": "b"}
    transcript = Transcript()
    transcript.keep(transcript.with_turn(given), answer)
    given["content"][0]["text"] = answer["content"] = "changed"  # type: ignore[index]
    transcript.messages()[0]["content"][0]["text"] = "changed"
    assert transcript.messages() == [
        {"role": "user", "content": [{"type": "text", "text": "a"}]},
        {"role": "assistant", "content": "b"},
    ]
