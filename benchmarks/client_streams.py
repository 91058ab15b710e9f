"""What an event of a stream costs the client, against parsing its JSON and nothing else.

The same chunks in one process, in turns: read by `StreamParser`, one event at a time as they come over a network, and
parsed by orjson alone. The ratio of the two hardly depends on the machine, or on what else it does.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

import orjson

from warmstack.client.stream_parser import StreamParser

MAX_RATIO = 12.0
EVENTS = 2000


def chat_chunk(text: str) -> bytes:
    """Return a chunk as vLLM writes it."""
    choice = {"index": 0, "delta": {"content": text}, "logprobs": None, "finish_reason": None, "token_ids": None}
    document = {
        "id": "chatcmpl-4c1b8a52c3d24fd2a9b1f3f0c1d2e3f4",
        "object": "chat.completion.chunk",
        "created": 1764500000,
        "model": "Qwen/Qwen2.5-72B-Instruct",
        "choices": [choice],
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def tool_chunk(text: str) -> bytes:
    """Return a chunk that brings more of a tool's arguments."""
    document = json.loads(chat_chunk(""))
    document["choices"][0]["delta"] = {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}
    return json.dumps(document).encode()


def line_of_inputs(text: str) -> bytes:
    """Return a line of LMI's form with ``inputs``."""
    token = {"id": 1234, "text": text, "logprob": -0.1234}
    return json.dumps({"index": 0, "token": token, "generated_text": None, "details": None}).encode()


WORDS = [" warm", " Zwölf", " 🙂", " cache", "\n", " 東京"]
FORMS: dict[str, tuple[Callable[[str], bytes], Callable[[bytes], bytes]]] = {
    "chat, server-sent events": (chat_chunk, lambda chunk: b"data: " + chunk + b"\n\n"),
    "chat, JSON lines": (chat_chunk, lambda chunk: chunk + b"\n"),
    "call of a tool, server-sent events": (tool_chunk, lambda chunk: b"data: " + chunk + b"\n\n"),
    "inputs, JSON lines": (line_of_inputs, lambda chunk: chunk + b"\n"),
}


def microseconds(work: Callable[[], None], events: int) -> float:
    """Return what one event of the work takes."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1e6 / events


def read(portions: list[bytes]) -> None:
    """Read a stream, portion by portion."""
    parser = StreamParser()
    for portion in portions:
        parser.feed(portion)


def parse(chunks: list[bytes]) -> None:
    """Parse the chunks and do nothing with them."""
    for chunk in chunks:
        orjson.loads(chunk)


def main() -> int:
    """Measure and print; return 1 when a limit is exceeded."""
    parser = argparse.ArgumentParser(prog="client_streams", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=25)
    rounds = int(parser.parse_args().rounds)
    print(f"{EVENTS} events in each of {rounds} rounds; microseconds an event, medians")
    print(f"{'':38}{'client':>8}{'orjson':>8}{'ratio':>8}")
    good = True
    gc.disable()
    for name, (make, frame) in FORMS.items():
        chunks = [make(WORDS[number % len(WORDS)]) for number in range(EVENTS)]
        portions = [frame(chunk) for chunk in chunks]
        read(portions)
        sides = partial(read, portions), partial(parse, chunks)
        pairs = [tuple(microseconds(side, EVENTS) for side in sides) for _ in range(rounds)]
        client, alone = (statistics.median(side) for side in zip(*pairs, strict=True))
        ratio = statistics.median(one / other for one, other in pairs)
        good = good and ratio <= MAX_RATIO
        print(f"{name:38}{client:8.2f}{alone:8.2f}{ratio:8.2f}")
    print(f"limit: {MAX_RATIO} times orjson")
    print("within the limit" if good else "OVER the limit")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
