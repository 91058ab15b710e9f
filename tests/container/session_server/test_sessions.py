"""Sessions over HTTP: every form of request, and what the platform reads in the answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.container.session_server.harness import SESSIONS_ON, Answer, Stack, running_stack

NEW = "x-amzn-sagemaker-new-session-id"
CLOSED = "x-amzn-sagemaker-closed-session-id"
MESSAGES = [{"role": "user", "content": "hello"}]
FORM = re.compile(r"[a-zA-Z0-9](-*[a-zA-Z0-9])*; Expires=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def opened(answer: Answer) -> str:
    assert answer.status == 200, answer.body
    assert FORM.fullmatch(answer.headers[NEW])
    return answer.headers[NEW].split(";", 1)[0]


def test_a_session_of_the_callers_own_id(stack: Stack) -> None:
    answer = stack.post({"requestType": "NEW_SESSION", "extSessionID": "user-42"})
    assert opened(answer) == "user-42"
    assert answer.headers[NEW] == "user-42; Expires=2027-01-15T08:20:00Z"
    assert answer.json == {
        "result": "Session user-42 created",
        "extSessionID": "user-42",
        "expires": "2027-01-15T08:20:00Z",
    }
    assert "x-amzn-sagemaker-session-id" not in answer.headers
    assert stack.post({"requestType": "NEW_SESSION", "extSessionID": "user-42"}).status == 409
    closed = stack.post({"requestType": "CLOSE", "extSessionID": "user-42"})
    assert (closed.status, closed.headers[CLOSED]) == (200, "user-42")


def test_the_platforms_way_by_headers_alone(stack: Stack) -> None:
    for body in ("", "{}"):
        answer = stack.request("POST", "/invocations", body, {"X-Amzn-SageMaker-Session-Id": "NEW_SESSION"})
        session = opened(answer)
        assert stack.post({"prompt": "x", "max_tokens": 1}, session=session).status == 200
        closed = stack.post({"requestType": "CLOSE"}, session=session)
        assert (closed.status, closed.headers[CLOSED]) == (200, session)


def test_header_and_body_of_a_new_session_go_together(stack: Stack) -> None:
    session = opened(stack.post({"requestType": "NEW_SESSION"}, session="NEW_SESSION"))
    assert stack.post({"requestType": "CLOSE_SESSION"}, session=session).headers[CLOSED] == session


@pytest.mark.parametrize("kind", ["CLOSE", "CLOSE_SESSION"])
def test_closing_twice_is_an_error(stack: Stack, kind: str) -> None:
    session = opened(stack.post({"requestType": "NEW_SESSION"}))
    assert stack.post({"requestType": kind}, session=session).status == 200
    again = stack.post({"requestType": kind}, session=session)
    assert (again.status, again.error["code"]) == (400, "session_not_found")
    assert CLOSED not in again.headers


@pytest.mark.parametrize(
    "inference", [{"messages": MESSAGES}, {"prompt": "x"}, {"inputs": "x", "parameters": {"max_new_tokens": 1}}]
)
def test_a_session_request_may_carry_an_inference(stack: Stack, inference: dict[str, Any]) -> None:
    session = opened(stack.post({"requestType": "NEW_SESSION", "more": {"keys": 1}}))
    answer = stack.post({"requestType": "SESSION", "extSessionID": session} | inference)
    assert answer.status == 200
    assert NEW not in answer.headers
    sent = json.loads(stack.engine.counters.requests[-1]["body"])
    assert not {"requestType", "extSessionID", "session_id", "session_params"} & sent.keys()


def test_own_keys_are_removed_and_the_rest_stays(stack: Stack) -> None:
    session = opened(stack.post({"requestType": "NEW_SESSION"}))
    body = {"messages": MESSAGES, "max_tokens": 1, "top_k": 3, "requestType": "SESSION", "extSessionID": session}
    assert stack.post(body).status == 200
    sent = json.loads(stack.engine.counters.requests[-1]["body"])
    assert list(sent.items()) == [("messages", MESSAGES), ("max_tokens", 1), ("top_k", 3)]


def test_a_session_request_without_an_inference_tells_the_end(stack: Stack) -> None:
    session = opened(stack.post({"requestType": "NEW_SESSION"}))
    answer = stack.post({"requestType": "SESSION"}, session=session)
    assert answer.json["result"] == f"Session {session} open"


@pytest.mark.parametrize("by_header", [True, False])
def test_an_inference_may_open_a_session(stack: Stack, by_header: bool) -> None:
    body: dict[str, Any] = {"messages": MESSAGES, "max_tokens": 1, "stream": True}
    answer = stack.post(body, session="NEW_SESSION") if by_header else stack.post(body | {"requestType": "NEW_SESSION"})
    assert stack.post({"prompt": "x", "max_tokens": 1}, session=opened(answer)).status == 200
    assert answer.body.endswith(b"data: [DONE]\n\n")


def test_a_failed_inference_leaves_no_session(stack: Stack) -> None:
    body = {"requestType": "NEW_SESSION", "extSessionID": "lost"}
    assert stack.post(body | {"messages": MESSAGES, "lora_path": "ghost"}).status == 404
    stack.engine.options.ready_seconds = 1e9
    failed = stack.post(body | {"messages": MESSAGES})
    stack.engine.options.ready_seconds = 0.0
    assert failed.status == 503
    assert NEW not in failed.headers
    assert stack.post({"requestType": "CLOSE", "extSessionID": "lost"}).status == 400


@pytest.mark.parametrize("body", [{"prompt": "x"}, {"messages": MESSAGES, "stream": True}, {"requestType": "CLOSE"}])
def test_an_unknown_session_is_400_with_a_message(stack: Stack, body: dict[str, Any]) -> None:
    before = len(stack.engine_requests("/v1/completions"))
    answer = stack.post(body, session="never-opened")
    assert answer.status == 400
    assert answer.error["message"].startswith("session not found: never-opened; ")
    assert len(stack.engine_requests("/v1/completions")) == before


def test_a_header_that_is_no_id_is_400(stack: Stack) -> None:
    answer = stack.post({"prompt": "x"}, session="../../etc")
    assert (answer.status, answer.error["code"]) == (400, "invalid_session_id")


def test_a_header_that_comes_twice_is_400(stack: Stack) -> None:
    connection = stack.connect()
    connection.putrequest("POST", "/invocations")
    for value in ("a", "b"):
        connection.putheader("X-Amzn-SageMaker-Session-Id", value)
    connection.putheader("Content-Length", "2")
    connection.endheaders(b"{}")
    assert connection.getresponse().status == 400
    connection.close()


def test_a_close_does_not_swallow_an_inference(stack: Stack) -> None:
    session = opened(stack.post({"requestType": "NEW_SESSION"}))
    answer = stack.post({"requestType": "CLOSE", "prompt": "x"}, session=session)
    assert answer.status == 400
    assert "send the inference first" in answer.error["message"]
    assert stack.post({"requestType": "CLOSE"}, session=session).status == 200


def test_the_end_of_a_session(fresh: Stack) -> None:
    session = opened(fresh.post({"requestType": "NEW_SESSION"}))
    fresh.clock.now += 1199
    assert fresh.post({"prompt": "x", "max_tokens": 1}, session=session).status == 200
    fresh.clock.now += 1
    assert fresh.post({"prompt": "x", "max_tokens": 1}, session=session).status == 400
    assert fresh.post({"requestType": "CLOSE"}, session=session).status == 400


def test_of_concurrent_openings_of_one_id_one_wins(fresh: Stack) -> None:
    with ThreadPoolExecutor(16) as pool:
        body = {"requestType": "NEW_SESSION", "extSessionID": "same"}
        answers = list(pool.map(lambda _: fresh.post(body), range(16)))
        made = list(pool.map(lambda _: opened(fresh.post({"requestType": "NEW_SESSION"})), range(16)))
    assert sorted(answer.status for answer in answers) == [200] + [409] * 15
    assert len(set(made)) == 16


@pytest.fixture(scope="module")
def small() -> Iterator[Stack]:
    environment = {"WARMSTACK_SESSIONS_MAX": "2", "WARMSTACK_SESSIONS_SLIDING": "true"}
    with running_stack(SESSIONS_ON | environment) as running:
        yield running


def test_the_most_sessions_and_sliding(small: Stack) -> None:
    kept, other = (opened(small.post({"requestType": "NEW_SESSION"})) for _ in range(2))
    full = small.post({"requestType": "NEW_SESSION"})
    assert (full.status, full.headers["retry-after"]) == (503, "1200")
    small.clock.now += 800
    assert small.post({"requestType": "SESSION"}, session=kept).json["expires"] == "2027-01-15T08:33:20Z"
    small.clock.now += 800
    assert small.post({"requestType": "SESSION"}, session=kept).status == 200
    assert small.post({"requestType": "SESSION"}, session=other).status == 400


@pytest.fixture(scope="module")
def without_sessions() -> Iterator[Stack]:
    with running_stack() as running:
        yield running


@pytest.mark.parametrize(
    ("body", "session"),
    [({"requestType": "NEW_SESSION"}, None), ({"prompt": "x"}, "NEW_SESSION"), ({"prompt": "x"}, "abc")],
)
def test_sessions_off_says_how_to_switch_them_on(
    without_sessions: Stack, body: dict[str, Any], session: str | None
) -> None:
    answer = without_sessions.post(body, session=session) if session else without_sessions.post(body)
    assert (answer.status, answer.error["code"]) == (400, "sessions_disabled")
    assert "SAGEMAKER_ENABLE_STATEFUL_SESSIONS=true" in answer.error["message"]
    assert without_sessions.post({"prompt": "x", "max_tokens": 1}).status == 200
