"""Streams that are changed on their way: by a formatter, or into the form of `inputs`.

A stream that nothing changes does not come here: its bytes go on as the engine sent them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from pydantic_core import from_json

from session_server.formatting import FormatterPair
from session_server.inputs_form import InputsRequest, StreamTranslator
from session_server.replies import formatted_json
from session_server.sse import DONE, EventSplitter, encode_event, event_data


async def formatted_events(chunks: AsyncIterator[bytes], pair: FormatterPair) -> AsyncIterator[bytes]:
    """Apply the output formatter to each chunk of a stream of events.

    What is no chunk (comments, the last event, the engine's errors) goes on as it is.

    Args:
        chunks: The engine's bytes.
        pair: The formatters of the request.
    """
    splitter = EventSplitter()
    async for data in chunks:
        ready: list[bytes] = []
        try:
            for event in splitter.feed(data):
                chunk = _chunk(event)
                ready.append(event if chunk is None else _format_event(event, chunk, pair))
        finally:
            # Also when a formatter fails: what came before the failure is sent before the error.
            if ready:
                yield b"".join(ready)
    if rest := splitter.rest():
        yield rest


async def inputs_lines(
    chunks: AsyncIterator[bytes], request: InputsRequest, pair: FormatterPair
) -> AsyncIterator[bytes]:
    """Turn a stream of completion events into JSON lines, and apply the output formatter to each.

    Args:
        chunks: The engine's bytes.
        request: The translated request.
        pair: The formatters of the request.
    """
    splitter = EventSplitter()
    translator = StreamTranslator(request)
    async for data in chunks:
        for event in splitter.feed(data):
            chunk = _chunk(event, errors=True)
            if chunk is None:
                continue
            if "error" in chunk:
                yield formatted_json(chunk) + b"\n"
                return
            line = translator.chunk(chunk)
            if line is not None and (encoded := _format_line(line, pair)):
                yield encoded
    if encoded := _format_line(translator.last(), pair):
        yield encoded


def _chunk(event: bytes, *, errors: bool = False) -> dict[str, Any] | None:
    """Return the chunk that an event holds, or None if it is none."""
    data = event_data(event)
    if data is None or data == DONE:
        return None
    try:
        chunk = from_json(data)
    except ValueError:
        return None
    if not isinstance(chunk, dict) or ("error" in chunk and not errors):
        return None
    return chunk


def _format_event(event: bytes, chunk: dict[str, Any], pair: FormatterPair) -> bytes:
    value = pair.format_chunk(chunk)
    if value is None:
        return b""
    return encode_event(value if isinstance(value, str) else formatted_json(value), event)


def _format_line(line: dict[str, Any], pair: FormatterPair) -> bytes:
    value = pair.format_chunk(line)
    if value is None:
        return b""
    return (value.encode() if isinstance(value, str) else formatted_json(value)) + b"\n"
