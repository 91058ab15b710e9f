"""Whole answers of every server → one `Response`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.client.streams import call, encoded, usage, whole_chat
from warmstack.client import failures as fail
from warmstack.client.events import Usage
from warmstack.client.failures import AnswerMalformed
from warmstack.client.responses import Response, ToolCall, read_response

COUNTED = Usage(prompt_tokens=3, completion_tokens=4, total_tokens=7)


def test_a_chat() -> None:
    document = whole_chat("Hi.", refusal=None, tool_calls=[])
    found = read_response(encoded(document))
    assert found == Response(text="Hi.", finish_reason="stop", usage=COUNTED, id="cmpl-1", model="m")
    assert found.raw == document
    assert found.message() == {"role": "assistant", "content": "Hi."}


def test_a_chat_that_calls_tools_and_thinks() -> None:
    calls = [call(0, '{"in": "Rome"}', id="c-0", name="weather"), call(1, None, name="time")]
    found = read_response(encoded(whole_chat(None, tool_calls=calls, reasoning_content="hm", finish="tool_calls")))
    assert found.reasoning == "hm"
    assert found.tool_calls == (
        ToolCall(id="c-0", name="weather", arguments='{"in": "Rome"}'),
        ToolCall(id="", name="time", arguments=""),
    )
    message = found.message()
    assert message == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c-0", "type": "function", "function": {"name": "weather", "arguments": '{"in": "Rome"}'}},
            {"id": "", "type": "function", "function": {"name": "time", "arguments": ""}},
        ],
    }
    assert list(message) == ["role", "content", "tool_calls"]


def test_a_text_beside_tools_is_kept_in_the_message_as_it_is() -> None:
    found = read_response(encoded(whole_chat(" Let me see. ", tool_calls=[call(0, "{}", id="c", name="f")])))
    assert found.message()["content"] == " Let me see. "
    assert read_response(encoded(whole_chat(""))).message()["content"] == ""


def test_the_first_of_several_answers_counts() -> None:
    document = whole_chat("second")
    document["choices"][0]["index"] = 1
    document["choices"].append({"index": 0, "message": {"content": "first"}, "finish_reason": "length"})
    found = read_response(encoded(document))
    assert (found.text, found.finish_reason) == ("first", "length")


def test_a_text_completion() -> None:
    choice = {"index": 0, "text": " so far", "finish_reason": "length", "stop_reason": None}
    found = read_response(encoded({"id": "c", "model": "m", "choices": [choice], "usage": usage(cached=2)}))
    assert found.text == " so far"
    assert found.usage == Usage(prompt_tokens=3, completion_tokens=4, total_tokens=7, cached_tokens=2)


@pytest.mark.parametrize("many", [False, True])
def test_the_inputs_form(many: bool) -> None:
    document: Any = {"generated_text": "so far", "details": {"finish_reason": "length", "generated_tokens": 2}}
    found = read_response(encoded([document] if many else document))
    assert found == Response(text="so far", finish_reason="length")
    assert found.raw == document


def test_lmi_may_give_the_number_of_a_token_as_the_reason() -> None:
    assert read_response(b'{"generated_text": "x", "details": {"finish_reason": 151645}}\n').finish_reason is None


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"code": 424, "error": "Input parsing failed: x"}, fail.ModelRefused),
        ({"error": {"message": "no", "type": "BadRequestError", "code": 400}}, fail.ModelRefused),
        ({"object": "error", "message": "no", "type": "BadRequestError", "code": 400}, fail.ModelRefused),
        (
            {"error": {"message": "Endpoint x of account 1 not found.", "code": "validation_error"}},
            fail.EndpointNotFound,
        ),
    ],
)
def test_an_error_with_status_200_is_the_failure_that_it_is(document: object, expected: type[Exception]) -> None:
    with pytest.raises(expected) as raised:
        read_response(encoded(document))
    assert raised.value.status == 200  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"Session abc created",
        b"null",
        b"[]",
        b'[{"generated_text": "a"}, {"generated_text": "b"}]',
        b"{}",
        b'{"result": "Session abc created"}',
        b'{"choices": []}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": 5}]}',
        b'{"choices": [{"message": {"content": 5}}]}',
        b'{"choices": [{"message": {"content": "", "tool_calls": [{}]}}]}',
        b'{"choices": [{"message": {"content": "", "tool_calls": "x"}}]}',
        b'{"choices": [{"message": {"content": "", "reasoning": []}}]}',
        b'{"choices": [{"text": "x"}], "usage": {"prompt_tokens": -1}}',
        b'{"choices": [{"text": "x"}], "usage": {"prompt_tokens": true}}',
        b'{"generated_text": 5}',
        b"[" * 100_000,
        b'{"a": "\\ud83d", "b": NaN}',
        b"\xff\xfe",
    ],
)
def test_what_is_no_answer_is_malformed(body: bytes) -> None:
    with pytest.raises(AnswerMalformed) as raised:
        read_response(body)
    assert raised.value.answer == body[:2048]
    assert len(str(raised.value)) < 400


def test_a_message_goes_back_as_json() -> None:
    json.dumps(read_response(encoded(whole_chat("x"))).message())
