"""The platform's table of sessions: which instance holds which.

The container chooses an id and when it expires; the platform remembers where it is. SageMaker documents no limit and
no answer for a session that is not live, so the table tells its states apart, and the caller's choices decide.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from heapq import heapify, heappop, heappush


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session that a container opened.

    Args:
        id: The container's id.
        instance: The instance that opened it.
        copy: The copy that opened it.
        expires_at_seconds: When it ends, on the caller's clock.
        is_lost: Whether its instance is gone.
    """

    id: str
    instance: str
    copy: str | None
    expires_at_seconds: float
    is_lost: bool = False


class SessionState(StrEnum):
    """What the table knows of an id."""

    LIVE = "live"
    EXPIRED = "expired"
    LOST = "lost"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLookup:
    """The answer for an id.

    Args:
        state: What the table knows.
        session: The session; None where the id is unknown.
    """

    state: SessionState
    session: Session | None = None


class SessionTable:
    """The sessions of an endpoint. An expired session stays known until its place is needed.

    Args:
        capacity: How many sessions it holds; the one that expires first makes room.
    """

    def __init__(self, *, capacity: int = 100_000) -> None:
        if capacity < 1:
            raise ValueError(f"the capacity is {capacity}; a session table holds at least one session")
        self._capacity = capacity
        self._sessions: dict[str, Session] = {}
        self._by_expiry: list[tuple[float, str]] = []

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, id: str, *, instance: str, copy: str | None, expires_at_seconds: float) -> Session:  # noqa: A002
        """Remember a session; one of the same id is replaced."""
        if id not in self._sessions and len(self._sessions) >= self._capacity:
            self._make_room()
        session = Session(id=id, instance=instance, copy=copy, expires_at_seconds=expires_at_seconds)
        self._store(session)
        return session

    def instance_of(self, id: str, *, now_seconds: float) -> SessionLookup:  # noqa: A002
        """Return what is known of an id. A session is over at the second that it expires."""
        session = self._sessions.get(id)
        if session is None:
            return SessionLookup(state=SessionState.UNKNOWN)
        if session.expires_at_seconds <= now_seconds:
            return SessionLookup(state=SessionState.EXPIRED, session=session)
        return SessionLookup(state=SessionState.LOST if session.is_lost else SessionState.LIVE, session=session)

    def close(self, id: str) -> bool:  # noqa: A002
        """Forget a session. Return whether it was known; from here on it is not."""
        return self._sessions.pop(id, None) is not None

    def expire(self, id: str, *, now_seconds: float) -> bool:  # noqa: A002
        """End a session now. Return whether it was known."""
        session = self._sessions.get(id)
        if session is None:
            return False
        self._store(replace(session, expires_at_seconds=min(now_seconds, session.expires_at_seconds)))
        return True

    def drop_instance(self, instance: str) -> tuple[str, ...]:
        """Mark the sessions of an instance that is gone as lost, and return their ids."""
        gone = [one for one in self._sessions.values() if one.instance == instance and not one.is_lost]
        for session in gone:
            self._sessions[session.id] = replace(session, is_lost=True)
        return tuple(session.id for session in gone)

    def live(self, *, now_seconds: float) -> tuple[Session, ...]:
        """Return the live sessions in the order in which they were opened."""
        return tuple(one for one in self._sessions.values() if not one.is_lost and one.expires_at_seconds > now_seconds)

    def _store(self, session: Session) -> None:
        self._sessions[session.id] = session
        heappush(self._by_expiry, (session.expires_at_seconds, session.id))
        # Closed and changed sessions leave entries behind; without this they would only grow.
        if len(self._by_expiry) > 2 * self._capacity + 16:
            self._by_expiry = [(one.expires_at_seconds, one.id) for one in self._sessions.values()]
            heapify(self._by_expiry)

    def _make_room(self) -> None:
        while True:
            expires_at_seconds, id_ = heappop(self._by_expiry)
            session = self._sessions.get(id_)
            if session is not None and session.expires_at_seconds == expires_at_seconds:
                del self._sessions[id_]
                return
