"""Headers and bodies → what happens to which session, for any of them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from session_server.errors import BadRequestError
from session_server.session_protocol import ActionKind, SessionAction, opened_headers, session_action
from session_server.sessions import Session

# The pattern as SageMaker's model has it, with its length: the oracle.
PATTERN = re.compile(r"^[a-zA-Z0-9](-*[a-zA-Z0-9])*$")
VALID_IDS = st.from_regex(r"[a-zA-Z0-9](-{0,3}[a-zA-Z0-9]){0,60}", fullmatch=True)
HEADER_PATTERN = re.compile(r"^[a-zA-Z0-9](-*[a-zA-Z0-9])*; Expires=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")


@given(value=st.one_of(st.text(max_size=300), VALID_IDS, st.text("ab-", min_size=250, max_size=260)))
def test_a_header_is_taken_exactly_when_the_platform_would_take_it(value: str) -> None:
    valid = len(value) <= 256 and PATTERN.match(value) and not value.endswith("\n")
    if value == "NEW_SESSION":
        assert session_action(value, {}).kind is ActionKind.OPEN
    elif valid:
        assert session_action(value, {}) == SessionAction(kind=ActionKind.USE, session_id=value)
    else:
        with pytest.raises(BadRequestError):
            session_action(value, {})


@given(value=VALID_IDS, at=st.integers(0, 4_000_000_000))
def test_the_header_of_a_new_session_has_the_platforms_form(value: str, at: int) -> None:
    (header,) = opened_headers(Session(id=value, expires_at=at)).values()
    assert HEADER_PATTERN.match(header)
    assert header.split(";", 1)[0] == value


@given(kind=st.sampled_from(["SESSION", "CLOSE", "CLOSE_SESSION"]), value=VALID_IDS)
def test_header_and_body_may_name_the_same_session(kind: str, value: str) -> None:
    expected = ActionKind.USE if kind == "SESSION" else ActionKind.CLOSE
    for header, external in ((value, None), (None, value), (value, value)):
        body = {"requestType": kind} | ({"extSessionID": external} if external else {})
        assert session_action(header, body) == SessionAction(kind=expected, session_id=value, by_body=True)


def test_a_long_run_of_hyphens_is_judged_quickly() -> None:
    with pytest.raises(BadRequestError):
        session_action("a" + "-" * 200_000 + "_", {})


@pytest.mark.parametrize(
    ("header", "body", "says"),
    [
        (None, {"requestType": "OPEN"}, "use one of NEW_SESSION, SESSION, CLOSE, CLOSE_SESSION"),
        (None, {"requestType": 7}, "requestType is 7"),
        (None, {"requestType": ["x" * 500]}, "..."),
        (None, {"requestType": "SESSION"}, "names no session"),
        (None, {"requestType": "CLOSE"}, "names no session"),
        (None, {"extSessionID": "a"}, "without requestType"),
        (None, {"requestType": "NEW_SESSION", "extSessionID": "a_b"}, "letters, digits and hyphens"),
        (None, {"requestType": "NEW_SESSION", "extSessionID": 5}, "letters, digits and hyphens"),
        (None, {"requestType": "NEW_SESSION", "extSessionID": "NEW_SESSION"}, "letters, digits and hyphens"),
        ("a", {"requestType": "NEW_SESSION"}, "send NEW_SESSION in the header or leave it out"),
        ("a", {"requestType": "SESSION", "extSessionID": "b"}, "send one of them"),
        ("NEW_SESSION", {"requestType": "CLOSE"}, "needs a session that is open"),
    ],
)
def test_contradictions_are_refused_with_the_way_out(header: str | None, body: dict[str, object], says: str) -> None:
    with pytest.raises(BadRequestError, match=re.escape(says)):
        session_action(header, body)
