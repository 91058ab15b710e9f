"""Canaries, sessions and prefixes, with clients that answer what real servers seldom do."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from warmstack.client import Answer, EndpointClient, ModelFailed, ModelRefused, Response, Usage
from warmstack.operate import Result
from warmstack.operate.verification.canary import Asked, check_canaries
from warmstack.operate.verification.prefix import check_prefixes
from warmstack.operate.verification.servers import Servers
from warmstack.operate.verification.sessions import check_sessions

ONE = Asked(name=None, shown="demo")


class Client:
    """An endpoint's client whose methods are given."""

    def __init__(self, **methods: Callable[..., Any]) -> None:
        self.__dict__.update(methods)


def raising(error: Exception) -> Callable[..., Any]:
    def call(*_: object, **__: object) -> Any:
        raise error

    return call


def canary(**methods: Callable[..., Any]) -> Result:
    (result,) = check_canaries(lambda _: cast(EndpointClient, Client(**methods)), [ONE], Servers().reforms)
    return result


def prefixes(cached: list[int | None]) -> Result:
    """Return what is said of a server that tells these cached tokens, the last of them for good."""

    def chat(text: str, **_: object) -> Response:
        told = cached.pop(0) if len(cached) > 1 else cached[0]
        return Response(
            text="a", usage=Usage(prompt_tokens=1000, completion_tokens=1, total_tokens=1001, cached_tokens=told)
        )

    (result,) = check_prefixes(
        lambda _: cast(EndpointClient, Client(chat=chat)),
        [ONE],
        prefix_length=4096,
        servers=lambda _: 2,
        new_id=lambda: "new",
        reforms=Servers().reforms,
        dialect=Servers().dialect,
    )
    return result


def test_a_model_without_chats_is_asked_for_a_completion() -> None:
    refused = ModelRefused("no chat template")
    result = canary(chat=raising(refused), complete=lambda *_, **__: Response(text="red"))
    assert (result.outcome, result.seen) == ("pass", "a completion; it refuses chats")
    both = canary(chat=raising(refused), complete=raising(ModelFailed("died")))
    assert (both.outcome, both.seen) == ("fail", "it does not answer: no chat template")


def test_an_empty_answer_is_a_failure_and_a_thought_is_none() -> None:
    empty = canary(chat=lambda *_, **__: Response(text=""))
    assert (empty.outcome, empty.seen) == ("fail", "its answer is empty: a chat")
    assert canary(chat=lambda *_, **__: Response(text="", reasoning="Colours …")).outcome == "pass"


@pytest.mark.parametrize(
    ("cached", "outcome", "text"),
    [
        ([0, 960], "pass", "6 of 6 later requests found their prefix cached"),
        ([0, 960, 0, 960, 960, 960, 960, 0, 960], "pass", "6 of 6"),
        ([0, 960, 0, 960, 960, 960, 960, 0, 0, 960], "fail", "in 2 rounds with new prefixes: 5 of 6, 5 of 6"),
        ([0], "fail", "0 of 6 later requests found their prefix cached"),
        ([None], "skipped", "not observable: the server tells no cached tokens"),
        ([0, None], "skipped", "not observable"),
    ],
)
def test_prefixes_are_judged_by_what_is_told(cached: list[int | None], outcome: str, text: str) -> None:
    result = prefixes(cached)
    assert (result.outcome, text in result.seen) == (outcome, True), result.seen


def test_a_session_whose_end_is_not_confirmed_is_a_failure() -> None:
    opened = {"x-amzn-sagemaker-new-session-id": "abc; Expires=2030-01-01T00:00:00Z"}

    def invoke(body: object, *, session_id: str) -> Answer:
        return Answer(body=b"{}", headers=opened if session_id == "NEW_SESSION" else {})

    (result,) = check_sessions(
        lambda _: cast(EndpointClient, Client(invoke=invoke)),
        [ONE],
        sessions=True,
        wall=datetime(2029, 12, 31, tzinfo=UTC),
    )
    assert result.outcome == "fail"
    assert result.seen == "a session was opened and used; the answer to its end names no session as closed"
    (unknown,) = check_sessions(lambda _: cast(EndpointClient, Client()), [ONE], sessions=None, wall=datetime.now(UTC))
    assert unknown.seen == "not looked at: no stack and no template says whether it has sessions"
