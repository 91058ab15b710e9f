"""Streams and whole answers, as the servers write them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

from warmstack.client.events import StreamEvent
from warmstack.client.failures import EndpointError
from warmstack.client.stream_parser import StreamParser

Document = Mapping[str, Any]


def encoded(value: object, *, ascii_only: bool = False) -> bytes:
    return json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")


def server_sent_events(documents: Iterable[Document], *, line_end: bytes = b"\n", done: bool = True) -> bytes:
    events = [b"data: " + encoded(one) for one in documents] + [b"data: [DONE]"] * done
    return b"".join(one + line_end * 2 for one in events)


def json_lines(documents: Iterable[Document]) -> bytes:
    """Return LMI's form: the last line is empty."""
    return b"".join(encoded(one) + b"\n" for one in documents) + b"\n"


def chunk(*choices: Document, chat: bool = True, **more: Any) -> dict[str, Any]:
    kind = "chat.completion.chunk" if chat else "text_completion"
    return {"id": "cmpl-1", "object": kind, "created": 1, "model": "m", "choices": list(choices), **more}


def delta(content: str | None = None, *, index: int = 0, finish: str | None = None, **more: Any) -> dict[str, Any]:
    members = ({} if content is None else {"content": content}) | more
    return {"index": index, "delta": members, "logprobs": None, "finish_reason": finish}


def text(piece: str, *, index: int = 0, finish: str | None = None) -> dict[str, Any]:
    return {"index": index, "text": piece, "logprobs": None, "finish_reason": finish, "stop_reason": None}


def call(
    index: int,
    arguments: str | None = None,
    *,
    id: str | None = None,  # noqa: A002 - the member's own name
    name: str | None = None,
) -> dict[str, Any]:
    function = ({} if name is None else {"name": name}) | ({} if arguments is None else {"arguments": arguments})
    return {"index": index, "function": function} | ({} if id is None else {"id": id, "type": "function"})


def usage(prompt: int = 3, completion: int = 4, cached: int | None = None) -> dict[str, Any]:
    details = None if cached is None else {"cached_tokens": cached}
    return {
        "prompt_tokens": prompt,
        "total_tokens": prompt + completion,
        "completion_tokens": completion,
        "prompt_tokens_details": details,
    }


def whole_chat(content: str | None, *, finish: str = "stop", **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
    return {
        "id": "cmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": usage(),
    }


def parse(*portions: bytes) -> tuple[list[StreamEvent], StreamParser]:
    """Feed portions and the end; what they raise is kept as the parser's failure."""
    parser = StreamParser()
    events: list[StreamEvent] = []
    with suppress(EndpointError):
        for portion in portions:
            events += parser.feed(portion)
        events += parser.end()
    return events, parser


def cut(data: bytes, places: Sequence[int]) -> list[bytes]:
    """Cut bytes at places, which may repeat and be out of range."""
    bounds = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[one:two] for one, two in pairwise(bounds)]
