"""A network of the tests' own: answers as they were put down, a clock that goes when it is told to."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from warmstack.client.connections import Connection, Surroundings
from warmstack.client.endpoint import EndpointClient
from warmstack.client.failures import EndpointError
from warmstack.client.retries import RetryPolicy
from warmstack.client.transport import Answer, Call, Parts

STARTED = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
Next = Answer | EndpointError
Chunk = bytes | EndpointError


@dataclass
class Clock:
    """Seconds that pass when somebody sleeps, or says so."""

    seconds: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.seconds

    def wall(self) -> datetime:
        return STARTED + timedelta(seconds=self.seconds - 1000.0)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds


class FakeParts:
    """A stream of what was put down."""

    def __init__(self, chunks: list[Chunk]) -> None:
        self.request_id: str | None = "stream-1"
        self.variant: str | None = "primary"
        self.closed = 0
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        for one in self._chunks:
            if isinstance(one, EndpointError):
                raise one
            yield one

    def close(self) -> None:
        self.closed += 1


class FakeTransport:
    """Answers requests in the order that was put down, and keeps them."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.answers: deque[Next] = deque()
        self.streams: deque[list[Chunk] | EndpointError] = deque()
        self.opened: list[FakeParts] = []
        self.closed = False

    def invoke(self, call: Call) -> Answer:
        self.calls.append(call)
        answer = self.answers.popleft()
        if isinstance(answer, EndpointError):
            raise answer
        return answer

    def stream(self, call: Call) -> Parts:
        self.calls.append(call)
        chunks = self.streams.popleft()
        if isinstance(chunks, EndpointError):
            raise chunks
        self.opened.append(FakeParts(chunks))
        return self.opened[-1]

    def close(self) -> None:
        self.closed = True

    @property
    def sessions(self) -> list[str | None]:
        """The session of each request, in order."""
        return [one.session_id for one in self.calls]

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The body of each request, in order."""
        return [json.loads(one.body) for one in self.calls]


class Network:
    """A client on such a network."""

    def __init__(self, *, retry: RetryPolicy | None = None, **options: Any) -> None:
        self.transport = FakeTransport()
        self.clock = Clock()
        self._ids = 0
        surroundings = Surroundings(
            clock=self.clock, wall=self.clock.wall, sleep=self.clock.sleep, random=lambda: 1.0, new_id=self._new_id
        )
        connection = Connection(transport=self.transport, retry=retry or RetryPolicy(), surroundings=surroundings)
        self.client = EndpointClient("demo", connection=connection, **options)

    def will(self, *answers: Next) -> None:
        """Put down the next answers."""
        self.transport.answers.extend(answers)

    def will_stream(self, *chunks: Chunk) -> None:
        """Put down the next stream."""
        self.transport.streams.append(list(chunks))

    def _new_id(self) -> str:
        self._ids += 1
        return f"id-{self._ids}"


def opened(session: str, *, seconds: float = 600.0, header: str = "x-amzn-sagemaker-new-session-id") -> Answer:
    """An answer that opens a session, which lives for some seconds from the start of the test."""
    ends = STARTED + timedelta(seconds=seconds)
    return Answer(body=b"", headers={header: f"{session}; Expires={ends:%Y-%m-%dT%H:%M:%SZ}"})


def closed() -> Answer:
    return Answer(body=b"")


def said(text: str) -> Answer:
    """The answer to a chat."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    body = {"id": "x", "object": "chat.completion", "choices": [choice]}
    return Answer(body=json.dumps(body).encode(), request_id="r-1", variant="primary")


def event(text: str | None = None, *, finish: str | None = None) -> bytes:
    """A part of a streamed chat."""
    choice = {"index": 0, "delta": {} if text is None else {"content": text}, "finish_reason": finish}
    return b"data: " + json.dumps({"object": "chat.completion.chunk", "choices": [choice]}).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"
