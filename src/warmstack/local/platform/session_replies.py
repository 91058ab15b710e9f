"""What a container's answer says of sessions.

A container opens one with ``X-Amzn-SageMaker-New-Session-Id`` (model-hosting-container-standards) or with
``X-Amzn-SageMaker-Session-Id`` (LMI, and the developer guide); the client sees the first in both cases.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from warmstack.local.wire.headers import CLOSED_SESSION_ID, NEW_SESSION_ID, SESSION_ID

_OPENED = re.compile(r"(?P<id>[a-zA-Z0-9](?:-*[a-zA-Z0-9])*);\sExpires=(?P<expires>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedSession:
    """A session that a container has opened.

    Args:
        session: Its id.
        expires_at: Until when, in seconds since the epoch.
        header: What the client gets to see.
    """

    session: str
    expires_at: float
    header: str


def opened_session(headers: Mapping[str, str]) -> OpenedSession | None:
    """Return the session that an answer opens; None if it opens none, or not in the form that SageMaker takes.

    Args:
        headers: The answer's, by their names in lower case.
    """
    value = headers.get(NEW_SESSION_ID) or headers.get(SESSION_ID) or ""
    found = _OPENED.fullmatch(value)
    if found is None or len(value) > 256:
        return None
    try:
        expires = datetime.strptime(found["expires"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None
    return OpenedSession(session=found["id"], expires_at=expires.timestamp(), header=value)


def closed_session(headers: Mapping[str, str]) -> str | None:
    """Return the session that an answer closes; None if it closes none."""
    return headers.get(CLOSED_SESSION_ID)
