"""Retries: only where nothing was computed, spread over time, and never past the deadline."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from tests.unit.client.network import Clock
from warmstack.client import failures as fail
from warmstack.client.failures import EndpointError, InvalidArgument
from warmstack.client.retries import NO_RETRIES, Retrier, RetryPolicy, is_safe

SAFE = {"NotReady", "Throttled", "ServiceUnavailable", "ModelNotReady", "NoCapacity", "ModelBusy", "NotConnected"}
KINDS = [one for _, one in inspect.getmembers(fail, inspect.isclass) if issubclass(one, EndpointError)]


def retrier(policy: RetryPolicy, clock: Clock, chance: float = 1.0) -> tuple[Retrier, list[float]]:
    pauses: list[float] = []
    made = Retrier(
        policy=policy,
        clock=clock,
        sleep=clock.sleep,
        random=lambda: chance,
        noticed=lambda _, pause: pauses.append(pause),
    )
    return made, pauses


class Flaky:
    def __init__(self, *failures: EndpointError) -> None:
        self.failures = list(failures)
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)
        return "answer"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_only_what_nothing_has_computed_is_sent_again(kind: type[EndpointError]) -> None:
    assert is_safe(kind("x")) is (kind.__name__ in SAFE)


def test_a_wrong_certificate_is_not_tried_again() -> None:
    assert not is_safe(fail.NotConnected("x", retryable=False))


def test_an_answer_is_returned_with_how_often_it_took() -> None:
    made, pauses = retrier(RetryPolicy(base_seconds=0.5), Clock())
    assert made.run(Flaky(fail.Throttled("a"), fail.ServiceUnavailable("b"))) == ("answer", 2)
    assert pauses == [0.5, 1.0], "each pause may be twice as long as the one before"


def test_pauses_are_spread_and_bounded() -> None:
    clock = Clock()
    made, pauses = retrier(RetryPolicy(attempts=6, base_seconds=1, longest_seconds=3), clock, chance=0.5)
    made.run(Flaky(*(fail.Throttled("a") for _ in range(5))))
    assert pauses == clock.slept == [0.5, 1.0, 1.5, 1.5, 1.5]


def test_attempts_are_counted() -> None:
    flaky = Flaky(*(fail.Throttled(str(at)) for at in range(9)))
    made, _ = retrier(RetryPolicy(attempts=3, base_seconds=0), Clock())
    with pytest.raises(fail.Throttled, match="2"):
        made.run(flaky)
    assert flaky.calls == 3
    flaky = Flaky(fail.Throttled("first"))
    with pytest.raises(fail.Throttled, match="first"):
        retrier(NO_RETRIES, Clock())[0].run(flaky)
    assert flaky.calls == 1


def test_many_attempts_are_as_many() -> None:
    policy = RetryPolicy(attempts=2000, longest_seconds=0.01)
    failure = fail.Throttled("x")
    assert policy.pause_seconds(failure, tried=1999, elapsed=0, chance=1.0) == 0.01


def test_no_pause_goes_past_the_deadline() -> None:
    clock = Clock()
    policy = RetryPolicy(attempts=100, base_seconds=4, longest_seconds=4, deadline_seconds=10)
    with pytest.raises(fail.ServiceUnavailable):
        retrier(policy, clock)[0].run(Flaky(*(fail.ServiceUnavailable("a") for _ in range(99))))
    assert clock.slept == [4, 4]


def test_a_failure_that_was_perhaps_computed_is_raised_at_once() -> None:
    flaky = Flaky(fail.ReadTimedOut("late"))
    with pytest.raises(fail.ReadTimedOut):
        retrier(RetryPolicy(), Clock())[0].run(flaky)
    assert flaky.calls == 1


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"attempts": 0}, "attempts is 0; it must be 1 or more"),
        ({"attempts": 2.5}, "attempts is 2.5; it must be 1 or more, and whole"),
        ({"attempts": "3"}, "attempts is '3'; it must be 1 or more, and whole"),
        ({"base_seconds": "1"}, "base_seconds is '1'; it must be a number of seconds"),
        ({"base_seconds": -1.0}, "base_seconds is -1.0; it must be a number of seconds, 0 or more"),
        ({"deadline_seconds": float("nan")}, "deadline_seconds is nan"),
        ({"longest_seconds": float("inf")}, "longest_seconds is inf"),
    ],
)
def test_numbers_have_ranges(values: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidArgument, match=problem):
        RetryPolicy(**values)
