"""Any chunking of any stream gives the same events, and no bytes give more than a typed failure."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.client.streams import (
    call,
    chunk,
    cut,
    delta,
    encoded,
    json_lines,
    parse,
    server_sent_events,
    text,
    usage,
    whole_chat,
)
from warmstack.client.events import Finish, ReasoningDelta, StreamEvent, TextDelta, ToolCallDelta
from warmstack.client.failures import EndpointError
from warmstack.client.responses import read_response

# Halves of pairs too: engines send them.
TEXTS = st.text(st.characters(codec=None), max_size=12) | st.sampled_from(["\ud83d", "\ude42", "é", "🙂", "\r\n", "]"])
PLACES = st.lists(st.integers(0, 100_000), max_size=30)


@st.composite
def chats(draw: st.DrawFn) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Draw a chat's chunks, and the same answer whole."""
    thoughts, words = draw(st.lists(TEXTS, max_size=4)), draw(st.lists(TEXTS, max_size=8))
    name = draw(st.sampled_from(["reasoning", "reasoning_content"]))
    chunks = [chunk(delta("", role="assistant"))]
    chunks += [chunk(delta(**{name: thought})) for thought in thoughts]
    chunks += [chunk(delta(word)) for word in words]
    calls = []
    for position in range(draw(st.integers(0, 2))):
        parts = draw(st.lists(TEXTS, max_size=4))
        chunks.append(chunk(delta(tool_calls=[call(position, "", id=f"c-{position}", name="tool")])))
        chunks += [chunk(delta(tool_calls=[call(position, part)])) for part in parts]
        calls.append(call(position, "".join(parts), id=f"c-{position}", name="tool"))
    reason = "tool_calls" if calls else "stop"
    chunks += [chunk(delta("", finish=reason)), chunk(usage=usage())]
    thought, content = "".join(thoughts), "".join(words)
    return chunks, whole_chat(content or None, finish=reason, tool_calls=calls, **{name: thought or None})


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    """Draw a stream of any server."""
    kind = draw(st.sampled_from(["events", "lines", "completion", "inputs", "error"]))
    words = draw(st.lists(TEXTS, min_size=1, max_size=6))
    if kind in ("events", "lines"):
        chunks, _ = draw(chats())
        if kind == "lines":
            return json_lines(chunks)
        line_end = draw(st.sampled_from([b"\n", b"\r\n", b"\r"]))
        comment = draw(st.sampled_from([b"", b": ping" + line_end, b"event: x" + line_end + line_end, b"\xef\xbb\xbf"]))
        return comment + server_sent_events(chunks, line_end=line_end, done=draw(st.booleans()))
    if kind == "inputs":
        lines = [{"token": {"text": word}} for word in words]
        return json_lines([*lines, {"token": {"text": ""}, "generated_text": "".join(words)}])
    chunks = [chunk(text(word), chat=False) for word in words]
    if kind == "error":
        return json_lines(chunks) + encoded({"code": 424, "error": "".join(words)})
    return server_sent_events([*chunks, chunk(text("", finish="length"), chat=False)])


def joined(events: list[StreamEvent]) -> dict[Any, str]:
    """Return what the events say of each text."""
    found: dict[Any, str] = {}
    for event in events:
        if isinstance(event, TextDelta | ReasoningDelta):
            key: Any = type(event)
            found[key] = found.get(key, "") + event.text
        elif isinstance(event, ToolCallDelta):
            found[event.position] = found.get(event.position, "") + event.arguments
    return found


@given(data=streams(), places=PLACES)
def test_any_chunking_gives_the_same_events(data: bytes, places: list[int]) -> None:
    events, parser = parse(data)
    again, other = parse(*cut(data, places))
    assert again == events
    assert (other.finished, type(other.failure), str(other.failure)) == (
        parser.finished,
        type(parser.failure),
        str(parser.failure),
    )
    assert other.response() == parser.response()


@given(chats(), st.booleans(), PLACES)
def test_a_stream_says_what_the_whole_answer_says(
    chat: tuple[list[dict[str, Any]], dict[str, Any]], lines: bool, places: list[int]
) -> None:
    chunks, whole = chat
    data = json_lines(chunks) if lines else server_sent_events(chunks)
    events, parser = parse(*cut(data, places))
    assert parser.finished
    answer = read_response(encoded(whole))
    assert parser.response() == answer
    said = joined(events)
    assert said.get(TextDelta, "") == answer.text
    assert said.get(ReasoningDelta) == answer.reasoning
    assert [said[position] for position in range(len(answer.tool_calls))] == [
        one.arguments for one in answer.tool_calls
    ]
    assert sum(isinstance(one, Finish) for one in events) == 1
    # All of it can be written.
    encoded_again = encoded(answer.message())
    assert encoded_again.decode()


@given(data=streams(), places=PLACES, at=st.integers(0, 100_000))
def test_a_stream_that_is_cut_gives_a_beginning_of_its_events(data: bytes, places: list[int], at: int) -> None:
    whole, _ = parse(data)
    part, parser = parse(*cut(data[: at % (len(data) + 1)], places))
    # What waits for its other half at the cut may be missing; nothing is there that the whole has not.
    assert part == whole[: len(part)]
    assert parser.failure is None or isinstance(parser.failure, EndpointError)


MEMBERS = [
    "choices",
    "delta",
    "message",
    "content",
    "tool_calls",
    "function",
    "arguments",
    "index",
    "usage",
    "error",
    "prompt_tokens",
    "token",
    "text",
    "generated_text",
    "finish_reason",
    "code",
    "object",
    "id",
    "details",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=5),
    max_leaves=12,
)


@settings(max_examples=300)
@given(st.lists(JSON | st.binary(max_size=20), max_size=5), st.booleans(), PLACES)
def test_no_bytes_give_more_than_a_typed_failure(pieces: list[Any], lines: bool, places: list[int]) -> None:
    head, end = (b"", b"\n") if lines else (b"data: ", b"\n\n")
    data = b"".join(head + (one if isinstance(one, bytes) else encoded(one)) + end for one in pieces)
    events, parser = parse(*cut(data, places))
    assert parser.failure is None or isinstance(parser.failure, EndpointError)
    assert parse(data)[0] == events
    parser.response().message()
    for one in pieces:
        with suppress(EndpointError):
            read_response(one if isinstance(one, bytes) else encoded(one)).message()
