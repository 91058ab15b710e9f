"""A session as the client knows it: its id, and until when it is good. No input or output, no clock.

Source: sagemaker-runtime of botocore 1.44.8: ``NewSessionId`` is ``<id>; Expires=YYYY-MM-DDThh:mm:ssZ``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from warmstack.client.failures import AnswerMalformed

RENEW_AT = 0.8
"""The share of a session's life after which it is renewed before the next turn."""
DEFAULT_LIFE_SECONDS = 1200.0
"""LMI's and vLLM's default (SESSIONS_EXPIRATION), for an answer that does not tell."""
NEW_SESSION = "NEW_SESSION"
OPEN_BODY = {"requestType": NEW_SESSION}
CLOSE_BODY = {"requestType": "CLOSE"}
# LMI's containers tell in the second one; the platform presents the first one.
_HEADERS = ("x-amzn-sagemaker-new-session-id", "x-amzn-sagemaker-session-id")
_ID = re.compile(r"[a-zA-Z0-9](?:-*[a-zA-Z0-9])*", re.ASCII)
_LONGEST_ID = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLife:
    """A session that was opened.

    Args:
        id: Its id.
        opened_at: When, by the caller's clock.
        life_seconds: How long it lives.
    """

    id: str
    opened_at: float
    life_seconds: float

    def is_due(self, now: float) -> bool:
        """Return whether it is time for a new one."""
        return now - self.opened_at >= RENEW_AT * self.life_seconds


def read_new_session(headers: Mapping[str, str], *, now: float, wall: datetime, ttl: float | None) -> SessionLife:
    """Read the answer to a request that opened a session.

    Args:
        headers: Of the answer, names in lower case.
        now: The caller's clock, seconds.
        wall: The time of day, for an answer that has no date of its own.
        ttl: The longest life that the caller wants, in seconds; None for the server's.

    Raises:
        AnswerMalformed: It names no session, or one that no request could name.
    """
    text = next((headers[name] for name in _HEADERS if headers.get(name)), None)
    if text is None:
        raise AnswerMalformed(
            "the endpoint answered a request for a session, and named none: neither of the headers "
            "X-Amzn-SageMaker-New-Session-Id and X-Amzn-SageMaker-Session-Id is there. Does an output formatter drop "
            "them? sessions='off' does without"
        )
    session, _, rest = text.partition(";")
    session = session.strip()
    if not _ID.fullmatch(session) or len(session) > _LONGEST_ID or session == NEW_SESSION:
        raise AnswerMalformed(f"the endpoint opened a session with the id {session[:80]!r}, which no request can name")
    # By the server's own date, a clock of ours that is wrong does not count.
    life = _life_seconds(rest, _date(headers.get("date")) or wall)
    return SessionLife(id=session, opened_at=now, life_seconds=life if ttl is None else min(life, ttl))


def _life_seconds(rest: str, opened: datetime) -> float:
    name, _, value = rest.strip().partition("=")
    if name.strip().lower() != "expires":
        return DEFAULT_LIFE_SECONDS
    try:
        ends = datetime.fromisoformat(value.strip())
    except ValueError:
        return DEFAULT_LIFE_SECONDS
    ends = ends if ends.tzinfo else ends.replace(tzinfo=UTC)
    life = (ends - opened).total_seconds()
    # Guard: one that opens when it is over shows a clock that is wrong. Taken at its word, each turn would open another
    # session, on any instance; a session that is over in truth is told by the next turn, which is then sent again.
    return life if life > 0 else DEFAULT_LIFE_SECONDS


def _date(text: str | None) -> datetime | None:
    try:
        return parsedate_to_datetime(text).astimezone(UTC) if text else None
    except (ValueError, OverflowError):
        return None
