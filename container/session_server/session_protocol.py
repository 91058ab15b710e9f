"""What a request wants of sessions: its header and the keys of its body → one action."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from session_server.errors import BadRequestError
from session_server.sessions import Session

SESSION_HEADER = "X-Amzn-SageMaker-Session-Id"
NEW_SESSION_HEADER = "X-Amzn-SageMaker-New-Session-Id"
CLOSED_SESSION_HEADER = "X-Amzn-SageMaker-Closed-Session-Id"
NEW_SESSION = "NEW_SESSION"
REQUEST_TYPE = "requestType"
EXTERNAL_ID = "extSessionID"
OWN_KEYS = (REQUEST_TYPE, EXTERNAL_ID)
REQUEST_TYPES = (NEW_SESSION, "SESSION", "CLOSE", "CLOSE_SESSION")
MAX_ID_LENGTH = 256
SESSION_ID = re.compile(r"[a-zA-Z0-9](?:-*[a-zA-Z0-9])*", re.ASCII)
"""SageMaker's own pattern for SessionId (botocore 1.44.8, sagemaker-runtime)."""


class ActionKind(Enum):
    """What a request does to sessions."""

    NONE = "none"
    OPEN = "open"
    USE = "use"
    CLOSE = "close"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionAction:
    """What a request does to which session.

    Args:
        kind: What it does.
        session_id: Which session; None for none, or for a new one without an id of the caller's choosing.
        by_body: The body asks for it with `requestType`, so that it may do without an inference.
    """

    kind: ActionKind
    session_id: str | None = None
    by_body: bool = False


def session_action(header: str | None, body: Mapping[str, object]) -> SessionAction:
    """Decide what a request does to sessions.

    Args:
        header: The value of X-Amzn-SageMaker-Session-Id, if there is one.
        body: The request's body.

    Raises:
        BadRequestError: A value breaks its rule, or header and body contradict each other.
    """
    request_type, external = body.get(REQUEST_TYPE), body.get(EXTERNAL_ID)
    if header is not None and header != NEW_SESSION:
        check_session_id(header, SESSION_HEADER, also=f" or {NEW_SESSION}")
    if external is not None:
        check_session_id(external, EXTERNAL_ID)
    if request_type is None:
        if external is not None:
            raise BadRequestError(
                f"{EXTERNAL_ID} is given without {REQUEST_TYPE}; add one of {', '.join(REQUEST_TYPES)}"
            )
        if header is None:
            return SessionAction(kind=ActionKind.NONE)
        if header == NEW_SESSION:
            return SessionAction(kind=ActionKind.OPEN)
        return SessionAction(kind=ActionKind.USE, session_id=header)
    if request_type == NEW_SESSION:
        if header not in (None, NEW_SESSION):
            raise BadRequestError(
                f"{REQUEST_TYPE} {NEW_SESSION} opens a session, and {SESSION_HEADER} names {header}; "
                f"send {NEW_SESSION} in the header or leave it out, and name an own id in {EXTERNAL_ID}"
            )
        return SessionAction(kind=ActionKind.OPEN, session_id=_text(external), by_body=True)
    if request_type not in REQUEST_TYPES:
        raise BadRequestError(f"{REQUEST_TYPE} is {_shown(request_type)}; use one of {', '.join(REQUEST_TYPES)}")
    kind = ActionKind.USE if request_type == "SESSION" else ActionKind.CLOSE
    return SessionAction(kind=kind, session_id=_existing_id(str(request_type), header, _text(external)), by_body=True)


def check_session_id(value: object, name: str, *, also: str = "") -> None:
    """Hold an id to SageMaker's pattern.

    Raises:
        BadRequestError: With the name of what held the value.
    """
    if not isinstance(value, str) or len(value) > MAX_ID_LENGTH or not SESSION_ID.fullmatch(value):
        raise BadRequestError(
            f"{name} is {_shown(value)}; it must be letters, digits and hyphens, with a letter or digit at both ends, "
            f"at most {MAX_ID_LENGTH} characters{also}",
            code="invalid_session_id",
        )


def opened_headers(session: Session) -> dict[str, str]:
    """Return the headers that tell the platform and the client about a new session."""
    return {NEW_SESSION_HEADER: f"{session.id}; Expires={session.expires}"}


def closed_headers(session_id: str) -> dict[str, str]:
    """Return the headers that tell the platform and the client that a session is closed."""
    return {CLOSED_SESSION_HEADER: session_id}


def _existing_id(request_type: str, header: str | None, external: str | None) -> str:
    if header == NEW_SESSION:
        raise BadRequestError(
            f"{SESSION_HEADER} is {NEW_SESSION}, and {REQUEST_TYPE} {request_type} needs a session that is open; "
            "send its id in the header"
        )
    if header is not None and external is not None and header != external:
        raise BadRequestError(f"{SESSION_HEADER} names {header}, and {EXTERNAL_ID} names {external}; send one of them")
    found = header if header is not None else external
    if found is None:
        raise BadRequestError(
            f"{REQUEST_TYPE} {request_type} names no session; send its id in {SESSION_HEADER} or {EXTERNAL_ID}"
        )
    return found


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _shown(value: object) -> str:
    """Return a client's value for a message, cut to a readable length."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
