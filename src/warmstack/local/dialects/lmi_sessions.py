"""LMI's sessions: their rules, and the requests that open and close one.

Read in djl-serving d21927c4: ``session_manager.py``, ``session_utils.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from warmstack.local.dialects.container_sessions import ContainerSessions
from warmstack.local.dialects.defects import EXPIRED_SERVED, SESSIONS_FALSE
from warmstack.local.dialects.lmi_replies import HandlerFailure
from warmstack.local.errors import LocalError
from warmstack.local.wire.headers import CLOSED_SESSION_ID, NEW_SESSION, SESSION_ID

ENABLED = "OPTION_ENABLE_STATEFUL_SESSIONS"
EXPIRATION = "OPTION_SESSIONS_EXPIRATION"
_SHOWN_ID = "X-Amzn-SageMaker-Session-Id"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionReply:
    """What a request of a session is answered with, before a formatter sees it.

    Args:
        data: The body.
        properties: The headers.
    """

    data: dict[str, Any]
    properties: Mapping[str, str] = field(default_factory=dict)


class LmiSessions:
    """The sessions of a container.

    Args:
        environment: The model's.
        clock: Seconds since the epoch.
        defects: Those that are reproduced.

    Raises:
        LocalError: LMI would not start.
    """

    def __init__(self, environment: Mapping[str, str], *, clock: Callable[[], float], defects: frozenset[str]) -> None:
        # DJL ignores empty values.
        enabled = (environment.get(ENABLED) or "true") == "true"
        expiration = environment.get(EXPIRATION) or "1200"
        if enabled and not expiration.strip().removeprefix("-").isdigit():
            raise LocalError(
                f"{EXPIRATION} is {expiration!r}; it must be a whole number of seconds, or LMI fails to start"
            )
        self._table = ContainerSessions(int(expiration), clock=clock) if enabled else None
        self._broken = not enabled and SESSIONS_FALSE in defects
        self._serves_expired = EXPIRED_SERVED in defects

    def check(self, session: str | None) -> None:
        """Look at the session that a request names, before anything else is looked at.

        Raises:
            ValueError: In LMI's words.
        """
        if self._broken:
            raise ValueError("'VLLMHandler' object has no attribute 'session_manager'")
        if self._table is None:
            if session is not None:
                raise ValueError(f"invalid payload. stateful sessions not enabled, {_SHOWN_ID} header not supported")
            return
        if not session or session == NEW_SESSION:
            return
        if session not in self._table or (not self._serves_expired and self._table.has_expired(session)):
            raise ValueError(f"session not found: {session}")

    def answer(self, kind: object, session: str | None) -> SessionReply:
        """Answer a body with ``requestType``.

        Raises:
            HandlerFailure: There is no such session to close.
            ValueError: It is no such request.
        """
        if kind not in (NEW_SESSION, "CLOSE"):
            raise ValueError("invalid payload. request type must be one of dict_keys(['NEW_SESSION', 'CLOSE'])")
        if self._table is None:
            raise ValueError(f"invalid payload. stateful sessions not enabled, {kind} not supported")
        if kind == NEW_SESSION:
            opened, header = self._table.open()
            return SessionReply(data={"result": f"Session {opened} created"}, properties={SESSION_ID: header})
        if not session or session not in self._table:
            problem = f"session not found: {session}" if session else f"invalid session_id: {session}"
            raise HandlerFailure(f"Failed to close session: {problem}")
        self._table.drop(session)
        return SessionReply(data={"result": f"Session {session} closed"}, properties={CLOSED_SESSION_ID: session})
