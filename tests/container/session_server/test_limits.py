"""What is too much: bodies and requests."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.container.session_server.harness import Stack, running_stack, wait_until

LIMIT = 4096


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is too large is read until it has come: one that is cut off in the middle may not see the answer."""
    monkeypatch.setattr("session_server.bodies.DRAIN_SECONDS", 3600)


@pytest.fixture(scope="module")
def small() -> Iterator[Stack]:
    environment = {"WARMSTACK_MAX_BODY_BYTES": str(LIMIT), "WARMSTACK_MAX_CONCURRENT_REQUESTS": "2"}
    # Answers of more than one token end when their clients go.
    with running_stack(environment, hold_after=1) as running:
        yield running


def body_of(size: int) -> str:
    text = json.dumps({"max_tokens": 1, "prompt": ""})
    return text[:-2] + "x" * (size - len(text)) + text[-2:]


def test_the_largest_body_is_taken(small: Stack) -> None:
    assert small.request("POST", "/invocations", body_of(LIMIT)).status == 200


@pytest.mark.parametrize("size", [LIMIT + 1, 8_000_000])
@pytest.mark.parametrize("path", ["/invocations", "/v1/completions", "/adapters"])
def test_a_larger_body_is_413(small: Stack, size: int, path: str) -> None:
    answer = small.request("POST", path, body_of(size))
    assert (answer.status, answer.error["code"]) == (413, "body_too_large")
    assert str(LIMIT) in answer.error["message"]


def test_a_larger_body_without_a_length_is_413(small: Stack) -> None:
    connection = small.connect()
    connection.request("POST", "/invocations", iter([b"x" * 3000] * 3), encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()


def test_a_client_that_waits_for_a_go_ahead_is_told_at_once(small: Stack) -> None:
    connection = small.connect()
    connection.putrequest("POST", "/invocations")
    connection.putheader("Content-Length", "99999999999")
    connection.putheader("Expect", "100-continue")
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


def test_more_requests_than_allowed_are_503_until_one_ends(small: Stack) -> None:
    stream = json.dumps({"prompt": "x", "stream": True})
    running = [small.connect() for _ in range(2)]
    for connection in running:
        connection.request("POST", "/invocations", stream)
        connection.getresponse().read1()
    refused = small.post({"prompt": "x"})
    assert (refused.status, refused.headers["retry-after"]) == (503, "1")
    assert refused.error["code"] == "too_many_requests"
    assert small.get("/ping").status == 200
    assert small.get("/adapters").status == 200
    for connection in running:
        connection.close()
    wait_until(lambda: small.post({"prompt": "x", "max_tokens": 1}).status == 200, "there is room again")


def test_a_body_that_never_ends_holds_no_place_after_its_client(small: Stack) -> None:
    for _ in range(3):
        connection = small.connect()
        connection.putrequest("POST", "/invocations")
        connection.putheader("Content-Length", "100")
        connection.endheaders(b'{"prompt"')
        connection.close()
    wait_until(lambda: small.post({"prompt": "x", "max_tokens": 1}).status == 200, "there is room")
