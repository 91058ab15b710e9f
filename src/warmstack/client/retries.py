"""When a request may be sent again, and how long to wait before: pure decisions, no clock and no sleep of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from warmstack.client.failures import EndpointError, InvalidArgument, ModelBusy, NotConnected, NotReady
from warmstack.client.timeouts import is_seconds

T = TypeVar("T")
_MOST_DOUBLINGS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often and how long a request is tried.

    Args:
        attempts: How often in all, the first time included; 1 for no retries.
        base_seconds: The longest first pause; each later one may be twice as long.
        longest_seconds: The longest pause.
        deadline_seconds: No pause that would end later than this after the first attempt is begun.
    """

    attempts: int = 5
    base_seconds: float = 0.25
    longest_seconds: float = 8.0
    deadline_seconds: float = 60.0

    def __post_init__(self) -> None:
        """Hold the numbers to their ranges.

        Raises:
            InvalidArgument: One is out of its range.
        """
        if type(self.attempts) is not int or self.attempts < 1:
            raise InvalidArgument(
                f"attempts is {self.attempts!r}; it must be 1 or more, and whole: the first try counts"
            )
        for name in ("base_seconds", "longest_seconds", "deadline_seconds"):
            value = getattr(self, name)
            if not is_seconds(value):
                raise InvalidArgument(f"{name} is {value!r}; it must be a number of seconds, 0 or more")

    def pause_seconds(self, failure: EndpointError, *, tried: int, elapsed: float, chance: float) -> float | None:
        """Return how long to wait before the request is sent again; None if it is not.

        Args:
            failure: Why the last try failed.
            tried: How many tries there were.
            elapsed: Seconds since the first one.
            chance: A random number from 0 to 1: pauses are spread over their whole range, so that clients that
                failed together do not come back together.
        """
        if tried >= self.attempts or not is_safe(failure):
            return None
        # Guard: 2.0, because a whole number of 1,024 bits and more has no float, and ends the retries with an error.
        pause = chance * min(self.longest_seconds, self.base_seconds * 2.0 ** min(tried - 1, _MOST_DOUBLINGS))
        return pause if elapsed + pause <= self.deadline_seconds else None


NO_RETRIES = RetryPolicy(attempts=1)


def is_safe(failure: EndpointError) -> bool:
    """Return whether a request that failed so can be sent again without being computed twice.

    Throttling, 503, a model that is not ready and a component without capacity are answered instead of being computed;
    a connection that never came about has carried nothing.
    """
    return isinstance(failure, NotReady | ModelBusy | NotConnected) and failure.retryable


@dataclass(slots=True, kw_only=True)
class Retrier:
    """Sends until it works, or until the policy says that it is enough.

    Args:
        policy: The policy.
        clock: Seconds, of a clock that only goes forward.
        sleep: Waits some seconds.
        random: A number from 0 to 1.
        noticed: Told of each failure that is followed by another try, with the pause in seconds.
    """

    policy: RetryPolicy
    clock: Callable[[], float]
    sleep: Callable[[float], object]
    random: Callable[[], float]
    noticed: Callable[[EndpointError, float], object]

    def run(self, send: Callable[[], T]) -> tuple[T, int]:
        """Return what ``send`` returned, and how often it was tried again.

        Raises:
            EndpointError: The last failure.
        """
        began, tried = self.clock(), 0
        while True:
            tried += 1
            try:
                return send(), tried - 1
            except EndpointError as failure:
                pause = self.policy.pause_seconds(
                    failure, tried=tried, elapsed=self.clock() - began, chance=self.random()
                )
                if pause is None:
                    raise
                self.noticed(failure, pause)
                self.sleep(pause)
