"""The session table alone: ends, limits, sliding."""

from __future__ import annotations

import pytest

from session_server.errors import BadRequestError, RequestError, TooBusyError
from session_server.sessions import SessionTable
from tests.container.session_server.harness import FakeClock


def table(clock: FakeClock, *, sliding: bool = False, most: int = 10) -> SessionTable:
    numbers = iter(range(1000))
    return SessionTable(
        expiration_seconds=100,
        max_sessions=most,
        sliding=sliding,
        clock=clock,
        new_id=lambda: f"made-{next(numbers)}",
    )


def test_a_session_ends_when_its_header_says() -> None:
    clock = FakeClock(1_800_000_000.9)
    sessions = table(clock)
    session = sessions.open("mine")
    assert (session.expires_at, session.expires) == (1_800_000_100, "2027-01-15T08:01:40Z")
    clock.now = 1_800_000_099.99
    assert sessions.use("mine") == session
    clock.now = 1_800_000_100.0
    with pytest.raises(BadRequestError, match="session not found: mine"):
        sessions.use("mine")
    assert len(sessions) == 0


def test_use_does_not_renew_a_session() -> None:
    clock = FakeClock()
    sessions = table(clock)
    session = sessions.open()
    clock.now += 60
    assert sessions.use(session.id).expires_at == session.expires_at


def test_use_renews_a_sliding_session() -> None:
    clock = FakeClock()
    sessions = table(clock, sliding=True)
    first, second = sessions.open("first"), sessions.open("second")
    clock.now += 60
    assert sessions.use("first").expires_at == first.expires_at + 60
    clock.now += 60
    assert sessions.use("first").id == "first"
    with pytest.raises(BadRequestError):
        sessions.use(second.id)


def test_an_id_can_be_used_again_after_its_session() -> None:
    clock = FakeClock()
    sessions = table(clock)
    sessions.open("mine")
    with pytest.raises(RequestError, match="open already, until 2027") as caught:
        sessions.open("mine")
    assert caught.value.status == 409
    clock.now += 101
    sessions.open("mine")
    sessions.close("mine")
    sessions.open("mine")


def test_a_full_table_says_when_there_is_room() -> None:
    clock = FakeClock()
    sessions = table(clock, most=2)
    sessions.open()
    clock.now += 30
    sessions.open()
    with pytest.raises(TooBusyError) as caught:
        sessions.open()
    assert caught.value.headers == {"Retry-After": "70"}
    clock.now += 70
    sessions.open()


def test_closing_twice_is_an_error() -> None:
    sessions = table(FakeClock())
    sessions.open("mine")
    sessions.close("mine")
    with pytest.raises(BadRequestError):
        sessions.close("mine")
