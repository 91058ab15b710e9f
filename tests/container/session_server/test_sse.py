"""Server-sent events: whatever portions the bytes come in, the events are the same."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from session_server.formatting import FormatterPair, Formatters
from session_server.inputs_form import to_completion
from session_server.sse import EventSplitter, encode_event, event_data, json_event
from session_server.streams import formatted_events, inputs_lines
from tests.container.session_server.harness import cpu_seconds

TEXTS = st.lists(st.text(max_size=20), max_size=12)
CUTS = st.lists(st.integers(0, 400), max_size=30)
ENDS = st.sampled_from([b"\n", b"\r\n"])


def portions(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


async def async_list(items: list[bytes]) -> AsyncIterator[bytes]:
    for item in items:
        yield item


async def collected(chunks: AsyncIterator[bytes]) -> bytes:
    return b"".join([chunk async for chunk in chunks])


@given(texts=TEXTS, cuts=CUTS, end=ENDS)
def test_events_do_not_depend_on_the_portions(texts: list[str], cuts: list[int], end: bytes) -> None:
    data = b"".join(json_event(text).replace(b"\n", end) for text in texts)
    splitter = EventSplitter()
    events = [event for part in portions(data, cuts) for event in splitter.feed(part)]
    assert b"".join(events) == data
    assert [json.loads(event_data(event) or b"") for event in events] == texts
    assert splitter.rest() == b""


@given(text=st.text(max_size=60))
def test_any_text_becomes_one_event(text: str) -> None:
    events = list(EventSplitter().feed(encode_event(text)))
    assert len(events) == 1
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    assert event_data(events[0]) == lines.encode()


@given(texts=TEXTS, cuts=CUTS)
def test_a_stream_without_a_formatter_is_unchanged_by_the_splitter(texts: list[str], cuts: list[int]) -> None:
    data = b": comment\n\n" + b"".join(json_event(text) for text in texts) + b"data: [DONE]\n\nrest"
    assert asyncio.run(collected(formatted_events(async_list(portions(data, cuts)), FormatterPair()))) == data


@given(texts=TEXTS, cuts=CUTS)
def test_inputs_lines_do_not_depend_on_the_portions(texts: list[str], cuts: list[int]) -> None:
    data = b"".join(json_event({"choices": [{"index": 0, "text": text}]}) for text in texts) + b"data: [DONE]\n\n"
    request = to_completion({"inputs": "x", "stream": True})
    lines = asyncio.run(collected(inputs_lines(async_list(portions(data, cuts)), request, FormatterPair())))
    *tokens, last = [json.loads(line) for line in lines.split(b"\n")[:-1]]
    assert [token["token"]["text"] for token in tokens] == [text for text in texts if text]
    assert last["generated_text"] == "".join(texts)


def test_an_error_of_the_engine_ends_the_lines() -> None:
    data = json_event({"choices": [{"text": "a"}]}) + json_event({"error": {"message": "no"}}) + b"data: [DONE]\n\n"
    request = to_completion({"inputs": "x", "stream": True})
    lines = asyncio.run(collected(inputs_lines(async_list([data]), request, FormatterPair())))
    assert [*map(json.loads, lines.splitlines())] == [{"token": {"text": "a"}}, {"error": {"message": "no"}}]


class Marking:
    """Formatters that mark what they see."""

    has_input, has_output = False, True

    def input(self, payload: dict[str, Any]) -> dict[str, Any]:
        return payload

    def output(self, response: dict[str, Any]) -> dict[str, Any]:
        return {**response, "seen": 1}

    def chunk(self, chunk: dict[str, Any]) -> dict[str, Any]:
        return {**chunk, "seen": 1}


def formatted(*parts: bytes) -> bytes:
    marking: Formatters = Marking()
    return asyncio.run(collected(formatted_events(async_list([*parts]), FormatterPair(output=marking))))


def test_a_large_event_in_small_portions_takes_no_time() -> None:
    def split(size: int) -> None:
        splitter = EventSplitter()
        event = b"data: " + b"x" * size + b"\n\n"
        events = [one for at in range(0, len(event), 16_384) for one in splitter.feed(event[at : at + 16_384])]
        assert events == [event]

    # Ten times as long; a search from the beginning for each portion would take a hundred times as long.
    assert cpu_seconds(lambda: split(8_000_000)) < 40 * cpu_seconds(lambda: split(800_000))


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\r", b"\n\r\n", b"\r\n\n"])
def test_every_empty_line_ends_an_event(end: bytes) -> None:
    stream = b'data: {"a":1}' + end + b"data: [DONE]" + end
    for parts in ([stream], [bytes([one]) for one in stream]):
        splitter = EventSplitter()
        assert [event_data(event) for part in parts for event in splitter.feed(part)] == [b'{"a":1}', b"[DONE]"]


def test_the_other_lines_of_a_formatted_event_stay() -> None:
    event = b'event: delta\r\nid: 7\r\n: alive\r\ndata: {"a":1}\r\n\r\n'
    assert formatted(event) == b'event: delta\nid: 7\n: alive\ndata: {"a":1,"seen":1}\n\n'


def test_a_byte_order_mark_hides_no_chunk() -> None:
    stream = b'\xef\xbb\xbfdata: {"a":1}\n\n'
    assert formatted(stream) == formatted(*(bytes([one]) for one in stream)) == b'data: {"a":1,"seen":1}\n\n'
