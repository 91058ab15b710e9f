"""Server-sent events: whatever portions the bytes come in, the events are the same."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from session_server.formatting import FormatterPair
from session_server.inputs_form import to_completion
from session_server.sse import EventSplitter, encode_event, event_data, json_event
from session_server.streams import formatted_events, inputs_lines

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
