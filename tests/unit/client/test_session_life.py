"""A session's id and end, read from what servers answer."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstack.client.failures import AnswerMalformed
from warmstack.client.session_life import SessionLife, read_new_session

NOON = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
NEW = "x-amzn-sagemaker-new-session-id"
OWN = "x-amzn-sagemaker-session-id"


def life(value: str, *, ttl: float | None = None, header: str = NEW, **others: str) -> SessionLife:
    return read_new_session({header: value} | others, now=50.0, wall=NOON, ttl=ttl)


@pytest.mark.parametrize("header", [NEW, OWN])
def test_both_headers_tell_the_session(header: str) -> None:
    found = life("a-b-1; Expires=2026-11-30T12:10:00Z", header=header)
    assert found == SessionLife(id="a-b-1", opened_at=50.0, life_seconds=600.0)


def test_the_platforms_header_goes_before_the_containers() -> None:
    assert read_new_session({OWN: "own", NEW: "new"}, now=0, wall=NOON, ttl=None).id == "new"


def test_the_servers_date_counts_and_not_our_clock() -> None:
    found = life("a; Expires=2026-11-30T12:10:00Z", date="Mon, 30 Nov 2026 12:05:00 GMT")
    assert found.life_seconds == 300.0


@pytest.mark.parametrize("rest", ["", ";", "; Expires=soon", "; Max-Age=4", "; Expires="])
def test_an_end_that_is_not_told_is_the_servers_default(rest: str) -> None:
    assert life(f"a{rest}").life_seconds == 1200.0


def test_an_end_in_the_past_is_a_clock_that_is_wrong() -> None:
    assert life("a; Expires=2026-11-30T11:00:00Z").life_seconds == 1200.0
    assert life("a; Expires=2026-11-30T11:00:00Z", ttl=60).life_seconds == 60


def test_the_callers_limit_makes_a_life_shorter_and_never_longer() -> None:
    assert life("a; Expires=2026-11-30T12:10:00Z", ttl=60).life_seconds == 60
    assert life("a; Expires=2026-11-30T12:10:00Z", ttl=6000).life_seconds == 600


def test_a_session_is_due_at_four_fifths_of_its_life() -> None:
    one = SessionLife(id="a", opened_at=100.0, life_seconds=10.0)
    assert not one.is_due(107.9)
    assert one.is_due(108.0)


@pytest.mark.parametrize("value", ["", " ", "-a", "a b", "ä", "a" * 257, "NEW_SESSION", "a/b; Expires=x"])
def test_an_id_that_no_request_can_name_is_an_error(value: str) -> None:
    with pytest.raises(AnswerMalformed):
        life(value)


def test_an_answer_without_a_session_says_what_to_do() -> None:
    with pytest.raises(AnswerMalformed, match=r"neither of the headers .* sessions='off' does without"):
        read_new_session({}, now=0, wall=NOON, ttl=None)


@given(st.dictionaries(st.sampled_from([NEW, OWN, "date"]), st.text(max_size=60)))
def test_no_header_gives_more_than_an_error(headers: dict[str, str]) -> None:
    try:
        found = read_new_session(headers, now=0, wall=NOON, ttl=None)
    except AnswerMalformed:
        return
    assert found.id
    assert found.life_seconds >= 0
