"""The sessions that are open here: which ids, and until when. Nothing else is kept for a session.

A session pins requests to this container (SageMaker does that, by the id); the engine's radix cache then finds the
blocks of the earlier turns by their content. Restarting the container loses the table, as it loses the cache.
"""

from __future__ import annotations

import math
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus

from session_server.errors import BadRequestError, RequestError, TooBusyError


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """An open session.

    Args:
        id: What the caller chose, or what was made here.
        expires_at: Seconds since the epoch, whole: what the answer's header says is exactly when it ends.
    """

    id: str
    expires_at: int

    @property
    def expires(self) -> str:
        """The end in the form of SageMaker's headers, ``YYYY-MM-DDThh:mm:ssZ`` in UTC."""
        return datetime.fromtimestamp(self.expires_at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class SessionTable:
    """Opens, finds and closes sessions. Its methods do not wait, so one event loop needs no lock.

    Args:
        expiration_seconds: How long a session lives.
        max_sessions: How many may be open at a time.
        sliding: Renew a session with each use. Unverified against the platform, which is told the end once, in the
            answer that opens the session, and may let go of it then.
        clock: Seconds since the epoch. The wall clock and not a monotonic one: the end is told to clients as a time.
        new_id: Makes an id when the caller chose none.
    """

    def __init__(
        self,
        *,
        expiration_seconds: int,
        max_sessions: int,
        sliding: bool = False,
        clock: Callable[[], float] = time.time,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        self._expiration_seconds = expiration_seconds
        self._max_sessions = max_sessions
        self._sliding = sliding
        self._clock = clock
        self._new_id = new_id
        # All sessions live equally long, so this order, of opening or of renewing, is the order of their ends.
        self._sessions: OrderedDict[str, Session] = OrderedDict()

    def __len__(self) -> int:
        self._purge()
        return len(self._sessions)

    def open(self, session_id: str | None = None) -> Session:
        """Open a session under an id of the caller's choosing, or under a new one.

        Raises:
            RequestError: The id is open already (409), or too many sessions are (503).
        """
        self._purge()
        if session_id is not None and session_id in self._sessions:
            raise RequestError(
                f"session {session_id} is open already, until {self._sessions[session_id].expires}; "
                "use it with requestType SESSION, close it, or choose another extSessionID",
                status=HTTPStatus.CONFLICT,
                code="session_exists",
            )
        if len(self._sessions) >= self._max_sessions:
            first = next(iter(self._sessions.values()))
            raise TooBusyError(
                f"{self._max_sessions} sessions are open, as many as WARMSTACK_SESSIONS_MAX allows; close one",
                code="too_many_sessions",
                retry_after_seconds=max(1, math.ceil(first.expires_at - self._clock())),
            )
        session = Session(id=session_id or self._new_id(), expires_at=self._end())
        self._sessions[session.id] = session
        return session

    def use(self, session_id: str) -> Session:
        """Return an open session, renewed when sessions slide.

        Raises:
            BadRequestError: It was never opened here, is closed or has expired.
        """
        self._purge()
        session = self._sessions.get(session_id)
        if session is None:
            raise BadRequestError(
                f"session not found: {session_id}; it was closed, it expired, or another container opened it. "
                "Open a new one with the session id NEW_SESSION or requestType NEW_SESSION",
                code="session_not_found",
            )
        if self._sliding:
            session = replace(session, expires_at=self._end())
            self._sessions[session_id] = session
            self._sessions.move_to_end(session_id)
        return session

    def close(self, session_id: str) -> None:
        """Close an open session.

        Raises:
            BadRequestError: There is no such session; also the second time.
        """
        self.use(session_id)
        del self._sessions[session_id]

    def discard(self, session_id: str) -> None:
        """Forget a session whether or not it is open."""
        self._sessions.pop(session_id, None)

    def _end(self) -> int:
        return int(self._clock()) + self._expiration_seconds

    def _purge(self) -> None:
        now = self._clock()
        while self._sessions:
            first = next(iter(self._sessions.values()))
            if first.expires_at > now:
                return
            del self._sessions[first.id]
