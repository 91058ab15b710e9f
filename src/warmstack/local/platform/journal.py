"""The last requests, and why each went where it went."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

KEPT = 200
PROBLEM_LENGTH = 240
NAME_LENGTH = 63
"""The longest name of an endpoint or component. A request may hold anything in its place, up to the size of a URL."""


@dataclass(slots=True, kw_only=True)
class Exchange:
    """A request as the journal remembers it: no bodies, no tokens, no session of its own.

    Args:
        number: Which one, from 1.
        at: When it came, in seconds since the epoch.
        endpoint: Its endpoint.
        component: The component that it named.
        operation: The operation.
        copy: Where it went; None if nowhere.
        reason: Why there, as one word.
        detail: Why there, for people.
        status: What the client got; None while it runs.
        first_byte_seconds: When the answer's first byte came, from the request's arrival.
        seconds: When it was over.
        request_bytes: How large its body was.
        in_session: Whether it came in a session.
        problem: What the client was told of an error, or the start of it.
    """

    number: int
    at: float
    endpoint: str
    component: str | None
    operation: str
    copy: str | None = None
    reason: str = ""
    detail: str = ""
    status: int | None = None
    first_byte_seconds: float | None = None
    seconds: float | None = None
    request_bytes: int = 0
    in_session: bool = False
    problem: str = ""

    def failed(self, text: str) -> None:
        """Note what the client is told of an error."""
        self.problem = text if len(text) <= PROBLEM_LENGTH else f"{text[:PROBLEM_LENGTH]}…"


class Journal:
    """Remembers the last requests.

    Args:
        kept: How many.
    """

    def __init__(self, kept: int = KEPT) -> None:
        self._entries: deque[Exchange] = deque(maxlen=kept)
        self._count = 0

    def begin(self, *, at: float, endpoint: str, component: str | None, operation: str) -> Exchange:
        """Note that a request came."""
        self._count += 1
        entry = Exchange(
            number=self._count,
            at=at,
            endpoint=endpoint[:NAME_LENGTH],
            component=component and component[:NAME_LENGTH],
            operation=operation,
        )
        self._entries.append(entry)
        return entry

    @property
    def count(self) -> int:
        """How many came in all."""
        return self._count

    def newest_first(self) -> Iterator[Exchange]:
        """Yield what is remembered."""
        return reversed(self._entries)
