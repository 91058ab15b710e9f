"""The sessions that a container keeps: ids, and when they expire. Each server treats an expired one in its own way."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime


class ContainerSessions:
    """The open sessions of one copy.

    Args:
        expiration_seconds: How long a session lives, from its start; use does not prolong it.
        clock: Seconds since the epoch.
        new_id: Makes ids.
    """

    def __init__(
        self,
        expiration_seconds: int,
        *,
        clock: Callable[[], float] = time.time,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        self._seconds = expiration_seconds
        self._clock = clock
        self._new_id = new_id
        self._ends: dict[str, float] = {}

    def open(self) -> tuple[str, str]:
        """Open a session, and drop the expired ones; return its id, and the value of the header that tells of it."""
        now = self._clock()
        self._ends = {one: end for one, end in self._ends.items() if now <= end}
        session, end = self._new_id(), now + self._seconds
        self._ends[session] = end
        return session, f"{session}; Expires={datetime.fromtimestamp(end, UTC):%Y-%m-%dT%H:%M:%SZ}"

    def __contains__(self, session: object) -> bool:
        return session in self._ends

    def has_expired(self, session: str) -> bool:
        """Return whether a known session is over."""
        return self._clock() > self._ends[session]

    def drop(self, session: str) -> None:
        """Forget a session."""
        self._ends.pop(session, None)
