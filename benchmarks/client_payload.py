"""What canonical bytes cost: `warmstack.payload.canonical` over `orjson.dumps`, for chat bodies of 50 kB, in turns.

An application that calls an endpoint serializes each body once anyway; the ratio is what the fixed order adds to it.
Exit status 1 when a ratio is over its limit.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from warmstack.payload import canonical

TEXT = 'Rispondi con cura: la città è vicina. The quick brown fox\nsays "so" to the lazy dog, twice. '
BODY_BYTES = 50_000
CALLS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A body, and how much longer than orjson its canonical bytes may take.

    Args:
        name: how the table names it.
        body: as an application builds it.
        limit: the most that the ratio may be.
    """

    name: str
    body: dict[str, Any]
    limit: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The medians of a case, microseconds, and the median of its rounds' ratios."""

    case: Case
    canonical_us: float
    orjson_us: float
    ratio: float

    @property
    def over(self) -> bool:
        """Whether the ratio is over the limit."""
        return self.ratio > self.case.limit


def cases() -> list[Case]:
    """Return what is measured: a usual chat is what the limit of the project is about."""
    parts = [message | {"content": [{"type": "text", "text": message["content"]}]} for message in messages(12)]
    swapped = [{"content": message["content"], "role": message["role"]} for message in messages(12)]
    return [
        Case(name="chat, 12 messages", body=chat(messages(12)), limit=1.5),
        Case(name="the same with 8 tools", body=chat(messages(12)) | {"tools": tools()}, limit=1.5),
        Case(name="48 messages", body=chat(messages(48)), limit=2.2),
        Case(name="content before role", body=chat(swapped), limit=3.5),
        Case(name="content in parts", body=chat(parts), limit=5.5),
        Case(name="24 messages, tool calls", body=chat(calls(24)) | {"tools": tools()}, limit=5.5),
    ]


def chat(said: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a body in the order of the OpenAI client: the model first."""
    return {"model": "assistant", "messages": said, "max_tokens": 512, "temperature": 0.2, "stream": True}


def messages(count: int) -> list[dict[str, Any]]:
    """Return a system prompt and turns, of 50 kB in all."""
    each = BODY_BYTES // (count + 1)
    roles = ("user", "assistant")
    text = TEXT * (2 * each // len(TEXT) + 1)
    system = {"role": "system", "content": text[: 2 * each]}
    return [system, *({"role": roles[place % 2], "content": text[:each]} for place in range(count - 1))]


def calls(count: int) -> list[dict[str, Any]]:
    """Return turns of an agent: half of them call a tool or answer for one."""
    said = messages(count)
    for place in range(2, count - 1, 4):
        call = {"id": f"call_{place}", "type": "function", "function": {"name": "search", "arguments": '{"q":"x"}'}}
        said[place]["tool_calls"] = [call]
        said[place + 1] = {"role": "tool", "tool_call_id": f"call_{place}", "content": said[place + 1]["content"]}
    return said


def tools() -> list[dict[str, Any]]:
    """Return the tools of an agent, in no order."""
    properties = {"query": {"type": "string", "description": TEXT}, "most": {"type": "integer", "minimum": 1}}
    schema = {"type": "object", "properties": properties, "required": ["query"]}
    return [
        {"type": "function", "function": {"name": name, "description": TEXT, "parameters": schema}}
        for name in ("search", "read", "write", "list", "mail", "book", "ask", "stop")
    ]


def microseconds(function: Callable[[dict[str, Any]], bytes], body: dict[str, Any]) -> float:
    """Return the time of one call, of some in a row."""
    start = time.perf_counter()
    for _ in range(CALLS):
        function(body)
    return (time.perf_counter() - start) / CALLS * 1e6


def measure(case: Case, rounds: int) -> Result:
    """Return the medians of rounds that alternate, after some that do not count."""
    pairs: list[tuple[float, float]] = []
    for number in range(-3, rounds):
        # The order alternates, so that neither always follows the other.
        order = [canonical, orjson.dumps]
        taken = {one: microseconds(one, case.body) for one in (order if number % 2 else reversed(order))}
        if number >= 0:
            pairs.append((taken[canonical], taken[orjson.dumps]))
    return Result(
        case=case,
        canonical_us=statistics.median(one for one, _ in pairs),
        orjson_us=statistics.median(two for _, two in pairs),
        ratio=statistics.median(one / two for one, two in pairs),
    )


def show(results: Sequence[Result]) -> None:
    """Print the table."""
    print(f"{'body':<26}{'bytes':>8}{'canonical':>12}{'orjson':>12}{'ratio':>8}{'limit':>8}")
    for one in results:
        print(
            f"{one.case.name:<26}{len(canonical(one.case.body)):>8,}{one.canonical_us:>9.1f} µs{one.orjson_us:>9.1f} µs"
            f"{one.ratio:>8.2f}{one.case.limit:>8.2f}{'  OVER' if one.over else ''}"
        )


def main() -> int:
    """Measure, print the table, and return the exit status."""
    parser = argparse.ArgumentParser(description="What canonical bytes cost, as ratios of two calls made in turns.")
    parser.add_argument("--rounds", type=int, default=151, help="rounds of each body (default: 151)")
    given = parser.parse_args()
    results = [measure(one, given.rounds) for one in cases()]
    show(results)
    return int(any(one.over for one in results))


if __name__ == "__main__":
    sys.exit(main())
