"""Streams of every server → the same events, wherever they are cut."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.client.streams import (
    call,
    chunk,
    delta,
    encoded,
    json_lines,
    parse,
    server_sent_events,
    text,
    usage,
    whole_chat,
)
from warmstack.client import failures as fail
from warmstack.client.answer import Response, ToolCall
from warmstack.client.events import Finish, ReasoningDelta, TextDelta, ToolCallDelta, Usage
from warmstack.client.failures import AnswerMalformed
from warmstack.client.responses import read_response
from warmstack.client.stream_parser import StreamParser

CHAT = [
    chunk(delta("", role="assistant")),
    chunk(delta("Grüß")),
    chunk(delta(" dich 🙂")),
    chunk(delta("", finish="stop")),
    chunk(usage=usage(cached=2)),
]
EVENTS = [
    TextDelta(text="Grüß"),
    TextDelta(text=" dich 🙂"),
    Finish(reason="stop"),
    Usage(prompt_tokens=3, completion_tokens=4, total_tokens=7, cached_tokens=2),
]


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_a_chat_as_server_sent_events(line_end: bytes) -> None:
    events, parser = parse(server_sent_events(CHAT, line_end=line_end))
    assert events == EVENTS
    assert parser.finished
    assert parser.response() == Response(
        text="Grüß dich 🙂",
        finish_reason="stop",
        usage=Usage(prompt_tokens=3, completion_tokens=4, total_tokens=7, cached_tokens=2),
        id="cmpl-1",
        model="m",
    )


def test_a_chat_as_json_lines() -> None:
    events, parser = parse(json_lines(CHAT))
    assert events == EVENTS
    assert parser.finished


def test_events_come_as_soon_as_their_line_has() -> None:
    parser = StreamParser()
    assert parser.feed(b'data: {"choices":[{"delta":{"content":"a"}}]}\n') == []
    assert parser.feed(b"\n") == [TextDelta(text="a")]
    parser = StreamParser()
    assert parser.feed(b'{"choices":[{"delta":{"content":"a"}}]}\r') == [TextDelta(text="a")]
    assert parser.feed(b'\n{"choices":[{"delta":{"content":"b"}}]}\r\n') == [TextDelta(text="b")]


def test_a_text_completion() -> None:
    chunks = [chunk(text("so "), chat=False), chunk(text("far", finish="length"), chat=False)]
    for data in (server_sent_events(chunks), json_lines(chunks)):
        events, parser = parse(data)
        assert events == [TextDelta(text="so "), TextDelta(text="far"), Finish(reason="length")]
        assert parser.finished


def test_the_inputs_form_of_lmi() -> None:
    token = {"index": 0, "token": {"id": 5, "text": "so ", "logprob": -0.5}, "generated_text": None, "details": None}
    last = token | {"token": {"id": 6, "text": "far", "logprob": -0.5}, "generated_text": "so far"}
    last |= {"details": {"finish_reason": "length", "generated_tokens": 3, "input_length": 1}}
    events, parser = parse(encoded(token) + b"\n\n" + encoded(last) + b"\n\n")
    assert events == [TextDelta(text="so "), TextDelta(text="far"), Finish(reason="length")]
    assert parser.finished
    assert parser.response() == Response(text="so far", finish_reason="length")


def test_the_inputs_form_of_the_session_server_and_of_tgi() -> None:
    lines: list[dict[str, Any]] = [
        {"token": {"text": "so far"}},
        {"token": {"text": ""}, "generated_text": "question so far"},
    ]
    events, _ = parse(json_lines(lines))
    assert events == [TextDelta(text="so far"), Finish(reason=None)]
    lines = [
        {"index": 1, "token": {"id": 1, "text": "so far", "special": False}, "generated_text": None},
        {"index": 2, "token": {"id": 2, "text": "</s>", "special": True}, "generated_text": "so far", "details": {}},
    ]
    events, _ = parse(server_sent_events(lines, done=False).replace(b"data: ", b"data:"))
    assert events == [TextDelta(text="so far"), Finish(reason=None)]


def test_a_text_that_comes_in_one_piece() -> None:
    events, parser = parse(b'{"generated_text": "so far"}')
    assert events == [TextDelta(text="so far"), Finish(reason=None)]
    assert parser.finished
    events, parser = parse(encoded(whole_chat("hi", tool_calls=[call(0, "{}", id="c", name="f")])))
    assert events == [
        TextDelta(text="hi"),
        ToolCallDelta(position=0, id="c", name="f", arguments="{}"),
        Finish(reason="stop"),
        Usage(prompt_tokens=3, completion_tokens=4, total_tokens=7),
    ]
    assert parser.finished


def test_tools_are_called_in_pieces() -> None:
    chunks = [
        chunk(delta(tool_calls=[call(0, "", id="c-0", name="weather")])),
        chunk(delta(tool_calls=[call(0, '{"in":')])),
        chunk(delta(tool_calls=[call(0, '"Rome"}'), call(1, "{}", id="c-1", name="time")])),
        chunk(delta(tool_calls=[call(1)])),
        chunk(delta(finish="tool_calls")),
    ]
    events, parser = parse(server_sent_events(chunks))
    assert events == [
        ToolCallDelta(position=0, id="c-0", name="weather"),
        ToolCallDelta(position=0, arguments='{"in":'),
        ToolCallDelta(position=0, arguments='"Rome"}'),
        ToolCallDelta(position=1, id="c-1", name="time", arguments="{}"),
        Finish(reason="tool_calls"),
    ]
    assert parser.response().tool_calls == (
        ToolCall(id="c-0", name="weather", arguments='{"in":"Rome"}'),
        ToolCall(id="c-1", name="time", arguments="{}"),
    )


def test_a_call_without_an_index_has_its_place_in_the_list() -> None:
    calls = [{"id": "a", "function": {"name": "f", "arguments": "1"}}, {"id": "b", "function": {"name": "g"}}]
    _, parser = parse(server_sent_events([chunk(delta(tool_calls=calls, finish="tool_calls"))]))
    assert [one.id for one in parser.response().tool_calls] == ["a", "b"]


@pytest.mark.parametrize("names", [("reasoning",), ("reasoning_content",), ("reasoning", "reasoning_content")])
def test_thoughts_come_under_either_name_and_once(names: tuple[str, ...]) -> None:
    chunks = [chunk(delta(**dict.fromkeys(names, "hm"))), chunk(delta("yes", finish="stop"))]
    events, parser = parse(server_sent_events(chunks))
    assert events == [ReasoningDelta(text="hm"), TextDelta(text="yes"), Finish(reason="stop")]
    assert parser.response().reasoning == "hm"


def test_several_answers_at_a_time() -> None:
    chunks = [
        chunk(delta("b", index=1)),
        chunk(delta("a"), delta("c", index=1, finish="stop")),
        chunk(delta("d", finish="length")),
    ]
    events, parser = parse(json_lines(chunks[:2]))
    assert not parser.finished
    events, parser = parse(json_lines(chunks))
    assert events == [
        TextDelta(text="b", choice=1),
        TextDelta(text="a"),
        TextDelta(text="c", choice=1),
        Finish(reason="stop", choice=1),
        TextDelta(text="d"),
        Finish(reason="length"),
    ]
    assert parser.finished
    assert parser.response().text == "ad"


def test_usage_may_be_told_again_and_again() -> None:
    chunks = [chunk(delta("a"), usage=usage(completion=1)), chunk(delta("b", finish="stop"), usage=usage(completion=2))]
    events, parser = parse(json_lines(chunks))
    assert [one.completion_tokens for one in events if isinstance(one, Usage)] == [1, 2]
    assert parser.response().usage == Usage(prompt_tokens=3, completion_tokens=2, total_tokens=5)


def test_comments_and_fields_that_say_nothing_are_passed_over() -> None:
    data = b"\xef\xbb\xbf: hello\r\n\r\nid: 7\nevent: message\nretry: 10\ndata\n" + server_sent_events(CHAT)
    assert parse(data + b": bye")[0] == EVENTS


def test_data_over_several_lines() -> None:
    data = b'data: {"choices":\ndata:  [{"delta": {"content": "a"},\ndata:"finish_reason": "stop"}]}\n\ndata: \n\n'
    assert parse(data)[0] == [TextDelta(text="a"), Finish(reason="stop")]


def test_what_follows_the_end_is_not_looked_at() -> None:
    events, parser = parse(server_sent_events(CHAT) + b"garbage\n\n", b"more\n")
    assert events == EVENTS
    assert parser.finished
    assert parser.feed(b"\xff\n") == parser.end() == []


def test_an_end_without_a_reason_is_an_end() -> None:
    events, parser = parse(server_sent_events([chunk(delta("a"))]))
    assert events == [TextDelta(text="a"), Finish(reason=None)]
    assert parser.finished


@pytest.mark.parametrize("done", [b"data: [DONE]", b"data: [DONE]\n", b"data:[DONE]\r\n"])
def test_an_end_that_lacks_its_empty_line(done: bytes) -> None:
    events, parser = parse(server_sent_events([chunk(delta("a"))], done=False) + done)
    assert events == [TextDelta(text="a"), Finish(reason=None)]
    assert parser.finished


@pytest.mark.parametrize(
    "tail", [b"", b"d", b"data", b"data:", b"data: [DO", b'data: {"choices": [{"del', b'{"choi', b"\xef"]
)
def test_a_stream_that_is_cut_is_not_whole_and_not_malformed(tail: bytes) -> None:
    events, parser = parse(server_sent_events(CHAT[:2], done=False) + tail)
    assert events == EVENTS[:1]
    assert not parser.finished
    assert parser.failure is None
    assert parser.response().text == "Grüß"


def test_nothing_at_all_is_no_answer() -> None:
    events, parser = parse()
    assert events == []
    assert not parser.finished
    assert parser.response() == Response(text="")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'data: {"error": {"message": "no", "type": "BadRequestError", "code": 400}}\n\n', fail.ModelRefused),
        (b'event: error\ndata: {"object": "error", "message": "no", "code": 500}\n\n', fail.ModelFailed),
        (b'{"code": 424, "error": "list index out of range"}', fail.ModelRefused),
        (
            b'{"error": {"message": "session not found: x; it was closed", "code": "session_not_found"}}\n',
            fail.SessionLost,
        ),
        (
            b'data: {"error": {"message": "engine gone", "type": "server_error", "code": "engine_gone"}}',
            fail.ModelFailed,
        ),
    ],
)
def test_an_error_in_the_stream_is_raised_after_what_came_before(line: bytes, expected: type[Exception]) -> None:
    data = server_sent_events(CHAT[:2], done=False)
    parser = StreamParser()
    events = parser.feed(data + line)
    assert events == EVENTS[:1]
    with pytest.raises(expected):
        parser.end()
    with pytest.raises(expected):
        parser.feed(b"")
    assert isinstance(parser.failure, expected)
    assert not parser.finished
    assert parser.response().text == "Grüß"
    with pytest.raises(expected):
        StreamParser().feed(line + b"\n\n")


@pytest.mark.parametrize(
    "data",
    [
        b"<html>\n",
        b"Session abc created",
        b"data: nonsense\n\n",
        b"data: null\n\n",
        b"data: 5\n\n",
        b"data: []\n\n",
        b"data: {}\n\n",
        b'{"hello": 1}\n',
        b'{"choices": 5}\n',
        b'{"choices": [5]}\n',
        b'{"choices": [{"delta": 5}]}\n',
        b'{"choices": [{"delta": {"content": 5}}]}\n',
        b'{"choices": [{"delta": {"content": ["a"]}}]}\n',
        b'{"choices": [{"text": 5}]}\n',
        b'{"choices": [{"index": "0"}]}\n',
        b'{"choices": [{"index": true}]}\n',
        b'{"choices": [{"index": -1}]}\n',
        b'{"choices": [{"finish_reason": 5}]}\n',
        b'{"choices": [{"delta": {"tool_calls": 5}}]}\n',
        b'{"choices": [{"delta": {"tool_calls": [{"function": 5}]}}]}\n',
        b'{"choices": [{"delta": {"tool_calls": [{"function": {"arguments": {}}}]}}]}\n',
        b'{"choices": [], "usage": 5}\n',
        b'{"choices": [], "usage": {}}\n',
        b'{"choices": [], "usage": {"prompt_tokens": 1.5}}\n',
        b'{"choices": [], "id": 5}\n',
        b'{"token": {"text": 5}}\n',
        b'{"generated_text": 5}\n',
        b'{"choices": [], "x": NaN, "y": "\\u00e4"}\n',
        b'{"choices": [], "x": 1e999, "y": "\\u00e4"}\n',
        b'{"choices": [], "x": ' + b"[" * 100_000 + b"]" * 100_000 + b', "y": "\\u00e4"}\n',
        b'{"choices": [], "x": "\xff"}\n',
        b"data: {\n{}\n",
    ],
)
def test_what_is_no_stream_of_ours_is_malformed(data: bytes) -> None:
    events, parser = parse(data)
    assert events == []
    assert isinstance(parser.failure, AnswerMalformed)
    assert not parser.failure.retryable
    assert len(str(parser.failure)) < 400


def test_a_document_that_is_too_long_is_malformed_before_it_ends() -> None:
    parser = StreamParser(largest_bytes=1000)
    parser.feed(b'{"a": "' + b"x" * 900)
    with pytest.raises(AnswerMalformed, match="longer than 1,000 bytes"):
        parser.feed(b"x" * 100)
    parser = StreamParser(largest_bytes=1000)
    parser.feed(b"data: " + b"x" * 900 + b"\n")
    with pytest.raises(AnswerMalformed, match="longer than 1,000 bytes"):
        parser.feed(b"data: " + b"x" * 100 + b"\n")
    with pytest.raises(AnswerMalformed, match="longer than 1,000 bytes"):
        StreamParser(largest_bytes=1000).feed(b'{"a": "' + b"x" * 1000 + b'"}\n')


@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_character_whose_halves_come_apart(ascii_only: bool) -> None:
    pieces = ["a\ud83d", "\ude42b", "\ud83d", "c", "\ude42", "\ud83d"]
    chunks = [encoded(chunk(delta(piece)), ascii_only=ascii_only) for piece in pieces]
    chunks.append(encoded(chunk(delta("", finish="stop"))))
    events, parser = parse(b"\n".join(chunks) + b"\n\n")
    assert events == [
        TextDelta(text="a"),
        TextDelta(text="🙂b"),
        TextDelta(text="\ufffdc"),
        TextDelta(text="\ufffd"),
        TextDelta(text="\ufffd"),
        Finish(reason="stop"),
    ]
    assert parser.response().text == "a🙂b\ufffdc\ufffd\ufffd"
    whole = encoded(whole_chat("".join(pieces)), ascii_only=ascii_only)
    assert read_response(whole).text == parser.response().text


def test_halves_in_thoughts_and_arguments() -> None:
    chunks = [
        chunk(delta(reasoning="\ud83d")),
        chunk(delta(reasoning="\ude42")),
        chunk(delta(tool_calls=[call(0, "\ud83d", id="c", name="\ud83d")])),
        chunk(delta(reasoning="\ud83d", finish="stop")),
    ]
    _, parser = parse(json_lines(chunks))
    assert parser.response() == Response(
        text="",
        reasoning="🙂\ufffd",
        tool_calls=(ToolCall(id="c", name="\ufffd", arguments="\ufffd"),),
        finish_reason="stop",
        id="cmpl-1",
        model="m",
    )
