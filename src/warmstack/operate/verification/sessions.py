"""A session of SageMaker: opened, used and closed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from warmstack.client import EndpointClient
from warmstack.client.session_life import CLOSE_BODY, NEW_SESSION, OPEN_BODY, read_new_session
from warmstack.errors import WarmstackError
from warmstack.operate.results import Result
from warmstack.operate.verification import checks
from warmstack.operate.verification.canary import MOST_TOKENS, PROMPT, Asked, ClientOf
from warmstack.operate.verification.expected import Expected

CLOSED = "x-amzn-sagemaker-closed-session-id"
_ENABLED = "ENABLE_STATEFUL_SESSIONS"


def has_sessions(published_seconds: int | None, expected: Expected | None) -> bool | None:
    """Return whether the deployment has sessions; None where nothing says it.

    Args:
        published_seconds: SessionSeconds of the stack's outputs, or None.
        expected: The definition, or None.
    """
    if published_seconds is not None:
        return published_seconds > 0
    if expected is None:
        return None
    models = [one.model for one in expected.definition.variants if one.model is not None]
    return any(_enabled(one.environment) for one in models)


def check_sessions(
    client_of: ClientOf, asked: Sequence[Asked], *, sessions: bool | None, wall: datetime
) -> Iterator[Result]:
    """Yield whether a session can be opened, used and closed.

    Args:
        client_of: Makes clients.
        asked: What is asked; adapters have the sessions of their bases.
        sessions: Whether the deployment has sessions; None where nothing says it.
        wall: The time of day.
    """
    bases = [one for one in asked if one.base is None]
    if not sessions:
        seen = "no sessions: the stack says that it has none"
        if sessions is None:
            seen = "not looked at: no stack and no template says whether it has sessions"
        yield checks.SESSION.skipped(bases[0].shown if bases else "sessions", seen)
        return
    for one in bases:
        yield _session(client_of(one.name), one.shown, wall)


def _session(client: EndpointClient, subject: str, wall: datetime) -> Result:
    check, step = checks.SESSION, "opened"
    try:
        opened = client.invoke(OPEN_BODY, session_id=NEW_SESSION)
        life = read_new_session(opened.headers, now=0.0, wall=wall, ttl=None)
        step = "used"
        messages = {"messages": [{"role": "user", "content": PROMPT}], "max_tokens": MOST_TOKENS, "temperature": 0}
        client.invoke(messages, session_id=life.id)
        step = "closed"
        closed = client.invoke(CLOSE_BODY, session_id=life.id)
    except WarmstackError as error:
        return check.failed(subject, f"a session could not be {step}: {error}")
    named = closed.headers.get(CLOSED)
    if named != life.id:
        return check.failed(
            subject,
            f"a session was opened and used; the answer to its end names {named or 'no session'} as closed",
            life_seconds=life.life_seconds,
        )
    return check.passed(
        subject, f"opened, used and closed; it would live {life.life_seconds:.0f} s", life_seconds=life.life_seconds
    )


def _enabled(environment: Mapping[str, str]) -> bool:
    return any(name.endswith(_ENABLED) and value.lower() == "true" for name, value in environment.items())
