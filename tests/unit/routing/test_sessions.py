"""The session table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstack.routing import SessionState, SessionTable


def state(table: SessionTable, name: str, now: float) -> SessionState:
    return table.instance_of(name, now_seconds=now).state


def opened(*names: str, capacity: int = 10) -> SessionTable:
    table = SessionTable(capacity=capacity)
    for number, name in enumerate(names):
        table.open(name, instance=f"i-{number % 2}", copy=f"c-{number}", expires_at_seconds=100.0 + number)
    return table


def test_a_live_session_has_its_instance_and_copy() -> None:
    lookup = opened("a").instance_of("a", now_seconds=99.9)
    assert lookup.state is SessionState.LIVE
    assert lookup.session is not None
    assert (lookup.session.instance, lookup.session.copy) == ("i-0", "c-0")


def test_expired_and_unknown_are_different_answers() -> None:
    table = opened("a")
    assert state(table, "a", 100.0) is SessionState.EXPIRED
    assert state(table, "b", 100.0) is SessionState.UNKNOWN
    assert table.instance_of("b", now_seconds=0).session is None


def test_a_closed_session_is_unknown() -> None:
    table = opened("a")
    assert table.close("a")
    assert not table.close("a")
    assert state(table, "a", 0) is SessionState.UNKNOWN


def test_the_sessions_of_an_instance_that_is_gone_are_lost() -> None:
    table = opened("a", "b", "c")
    assert table.drop_instance("i-0") == ("a", "c")
    assert table.drop_instance("i-0") == ()
    assert state(table, "a", 0) is SessionState.LOST
    assert state(table, "b", 0) is SessionState.LIVE
    assert state(table, "a", 500) is SessionState.EXPIRED


def test_an_id_that_is_opened_again_is_the_new_session() -> None:
    table = opened("a")
    table.drop_instance("i-0")
    table.open("a", instance="i-7", copy=None, expires_at_seconds=300)
    lookup = table.instance_of("a", now_seconds=200)
    assert lookup.state is SessionState.LIVE
    assert lookup.session is not None
    assert lookup.session.instance == "i-7"
    assert len(table) == 1


def test_a_session_can_be_ended_now() -> None:
    table = opened("a")
    assert table.expire("a", now_seconds=5)
    assert state(table, "a", 5) is SessionState.EXPIRED
    assert state(table, "a", 4.9) is SessionState.LIVE
    assert table.expire("a", now_seconds=50)
    assert state(table, "a", 5) is SessionState.EXPIRED
    assert not table.expire("b", now_seconds=5)


def test_live_sessions_are_listed() -> None:
    table = opened("a", "b", "c")
    table.expire("b", now_seconds=1)
    table.drop_instance("i-9")
    assert [one.id for one in table.live(now_seconds=2)] == ["a", "c"]
    table.drop_instance("i-0")
    assert table.live(now_seconds=2) == ()


def test_a_full_table_lets_go_of_what_expires_first() -> None:
    table = SessionTable(capacity=2)
    table.open("late", instance="i", copy=None, expires_at_seconds=900)
    table.open("early", instance="i", copy=None, expires_at_seconds=100)
    table.open("new", instance="i", copy=None, expires_at_seconds=500)
    assert state(table, "early", 0) is SessionState.UNKNOWN
    assert state(table, "late", 0) is SessionState.LIVE
    assert state(table, "new", 0) is SessionState.LIVE


def test_a_session_that_was_prolonged_does_not_go_first() -> None:
    table = SessionTable(capacity=2)
    table.open("longer", instance="i", copy=None, expires_at_seconds=10)
    table.open("longer", instance="i", copy=None, expires_at_seconds=900)
    table.open("early", instance="i", copy=None, expires_at_seconds=100)
    table.open("new", instance="i", copy=None, expires_at_seconds=500)
    assert state(table, "longer", 0) is SessionState.LIVE
    assert state(table, "early", 0) is SessionState.UNKNOWN


def test_a_table_holds_at_least_one() -> None:
    with pytest.raises(ValueError, match="at least one session"):
        SessionTable(capacity=0)


@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["open", "close", "expire", "drop"]), st.integers(0, 8), st.integers(0, 50)),
        max_size=80,
    ),
    capacity=st.integers(1, 5),
)
def test_it_never_grows_beyond_its_capacity_and_agrees_with_a_plain_model(
    steps: list[tuple[str, int, int]], capacity: int
) -> None:
    table = SessionTable(capacity=capacity)
    expiry: dict[str, float] = {}
    for what, number, when in steps:
        name = f"s-{number}"
        if what == "open":
            if name not in expiry and len(expiry) == capacity:
                soonest = min(expiry.values())
                candidates = [one for one, at in expiry.items() if at == soonest]
                table.open(name, instance=f"i-{number % 2}", copy=None, expires_at_seconds=when)
                gone = [one for one in candidates if state(table, one, -1) is SessionState.UNKNOWN]
                assert len(gone) == 1
                del expiry[gone[0]]
            else:
                table.open(name, instance=f"i-{number % 2}", copy=None, expires_at_seconds=when)
            expiry[name] = when
        elif what == "close":
            assert table.close(name) == (name in expiry)
            expiry.pop(name, None)
        elif what == "expire":
            assert table.expire(name, now_seconds=when) == (name in expiry)
            if name in expiry:
                expiry[name] = min(expiry[name], when)
        else:
            table.drop_instance(f"i-{number % 2}")
        assert len(table) == len(expiry) <= capacity
        for one, at in expiry.items():
            assert state(table, one, at) is SessionState.EXPIRED
            assert state(table, one, at - 1) in (SessionState.LIVE, SessionState.LOST)


def test_closed_sessions_leave_nothing_behind() -> None:
    table = SessionTable(capacity=4)
    for number in range(1000):
        table.open(str(number), instance="i", copy=None, expires_at_seconds=number)
        table.close(str(number))
    assert len(table) == 0
    assert len(table._by_expiry) <= 2 * 4 + 16
