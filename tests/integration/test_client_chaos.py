"""A thousand turns while copies die, sessions expire, streams break and the endpoint is away: nothing is mixed up.

Each turn says something that only it says, in one of fifty conversations. What the right answer is, a second endpoint
with the same engine tells, which has no faults. The faults are drawn from a seeded generator, turn by turn; only their
timing against each other is left to the machine.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.unit.local.clients import session as credentials
from tests.unit.local.definitions import endpoint, model, session_endpoint, variant
from tests.unit.local.running import Local, running
from warmstack import EndpointClient
from warmstack.client import (
    Answer,
    Call,
    EndpointError,
    Parts,
    RetryPolicy,
    Session,
    StreamInterrupted,
    Surroundings,
    Transport,
    connect,
)
from warmstack.local.errors import LocalError
from warmstack.local.platform.fault_orders import FaultOrder, inflict
from warmstack.local.simulated import Latency
from warmstack.local.wire.parts import Cut

SEED = 20261130
CONVERSATIONS = 50
TURNS = 20
THREADS = 12
TOKENS = 12
FAULTS = ("kill", "restart", "expire", "expire one", "cut", "unavailable")
FAULT_EACH = 0.25


class Conversation:
    """One conversation of the test: takes its turns and holds each outcome to what it must be.

    Args:
        number: Which one.
        client: The client of the endpoint that has the faults.
        oracle: The client of the one that has none.
        local: Both endpoints.
    """

    def __init__(self, number: int, client: EndpointClient, oracle: EndpointClient, local: Local) -> None:
        self.random = Random(SEED + number)
        self.number = number
        self.client = client
        self.oracle = oracle
        self.local = local
        self.outcomes: Counter[str] = Counter()
        self.replayed = self.renewed = 0

    def run(self) -> None:
        """Take all turns."""
        system = f"You are number {self.number}. " * 30
        said: list[dict[str, object]] = [{"role": "system", "content": system}]
        # A life of some turns, so that sessions are renewed as well.
        # Its first turn opens the session, so that a failure there is that turn's.
        with closing(self.client.session(system=system, ttl=self.random.uniform(0.3, 2), max_tokens=TOKENS)) as session:
            for turn in range(TURNS):
                if self.random.random() < FAULT_EACH:
                    self.break_something(session)
                question = {"role": "user", "content": f"turn {turn} of {self.number}: {self.random.random()}"}
                right = self.oracle.chat([*said, question], max_tokens=TOKENS).text
                assert right
                answer = self.ask(session, str(question["content"]), right)
                if answer is not None:
                    assert answer == right, f"conversation {self.number}, turn {turn}: another answer"
                    said += [question, {"role": "assistant", "content": answer}]
                assert session.transcript.messages() == said, f"conversation {self.number}, turn {turn}"
            self.replayed, self.renewed = session.stats.replayed, session.stats.renewed
            assert session.stats.turns == self.outcomes["answered"]

    def ask(self, session: Session, question: str, right: str) -> str | None:
        """Take a turn; return its answer, or None after a failure of ours. Anything else ends the test."""
        try:
            if self.random.random() < 0.5:
                answer = session.chat(question).text
            else:
                answer = "".join(session.stream(question).text())
        except StreamInterrupted as failure:
            arrived = failure.response.text if failure.response else ""
            assert right.startswith(arrived), "a part of another answer"
            self.outcomes["StreamInterrupted"] += 1
            return None
        except EndpointError as failure:
            self.outcomes[type(failure).__name__] += 1
            return None
        self.outcomes["answered"] += 1
        return answer

    def break_something(self, session: Session) -> None:
        """Put a fault on the endpoint."""
        fault = self.random.choice(FAULTS)
        copies = sorted(self.local.platform.endpoints["demo"].copies)
        copy = self.random.choice(copies) if copies else "none"
        times = self.random.randint(1, 3)
        match fault:
            case "kill":
                order = FaultOrder(fault="kill", target=copy)
            case "restart":
                order = FaultOrder(fault="restart", target=copy.partition("/")[0])
            case "expire":
                order = FaultOrder(fault="expire", target="all")
            case "expire one":
                order = FaultOrder(fault="expire", target=session.id or "none")
            case "cut":
                order = FaultOrder(fault="cut", target=copy, pieces=self.random.randint(0, 6), times=times)
            case _:
                order = FaultOrder(fault="unavailable", target="demo", times=times)
        try:
            self.local.run(inflict(self.local.platform, order))
        except LocalError:
            # Another fault was first: its target is gone.
            self.outcomes["fault without a target"] += 1


class Told:
    """A transport that keeps the ids of the sessions that it is told of.

    A session whose opening is answered by an error has an id that nobody knows: its server alone can end it.
    """

    def __init__(self, inner: Transport) -> None:
        self.inner = inner
        self.ids: set[str] = set()

    def invoke(self, call: Call) -> Answer:
        answer = self.inner.invoke(call)
        self.ids.add(answer.headers.get("x-amzn-sagemaker-new-session-id", "").partition(";")[0])
        return answer

    def stream(self, call: Call) -> Parts:
        return self.inner.stream(call)

    def close(self) -> None:
        self.inner.close()


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    oracle = endpoint("oracle", variants=(variant(instances=1, model=model()),))
    with running(
        session_endpoint(instances=4),
        oracle,
        folder=tmp_path,
        cut=Cut.RANDOM,
        latency=Latency(decode_seconds_per_token=0.0002),
    ) as local:
        yield local


def test_every_turn_ends_in_the_right_answer_or_a_typed_error(local: Local, caplog: pytest.LogCaptureFixture) -> None:
    chance = Random(SEED)
    connection = connect(
        boto3_session=credentials(),
        endpoint_url=local.url,
        retry=RetryPolicy(attempts=6, base_seconds=0.02, longest_seconds=0.2),
        surroundings=Surroundings(random=chance.random),
    )
    told = Told(connection.transport)
    connection = replace(connection, transport=told)
    conversations = [
        Conversation(
            number,
            EndpointClient("demo", connection=connection, sessions="on"),
            EndpointClient("oracle", connection=connection),
            local,
        )
        for number in range(CONVERSATIONS)
    ]
    with caplog.at_level(logging.CRITICAL, "warmstack.client"), ThreadPoolExecutor(THREADS) as threads:
        for future in [threads.submit(one.run) for one in conversations]:
            future.result(120)
    connection.close()
    outcomes = sum((one.outcomes for one in conversations), Counter[str]())
    missed = outcomes.pop("fault without a target", 0)
    assert outcomes.total() == CONVERSATIONS * TURNS, outcomes
    assert missed < outcomes["answered"] / 10
    sessions = local.platform.endpoints["demo"].sessions
    left = [one for one in sessions.live(now_seconds=local.clock()) if one.id in told.ids]
    assert left == [], "a session is left open"
    assert outcomes["answered"] > 0.8 * CONVERSATIONS * TURNS, outcomes
    assert sum(one.replayed for one in conversations) > CONVERSATIONS, "the faults met hardly a turn"
    assert sum(one.renewed for one in conversations) > 0
