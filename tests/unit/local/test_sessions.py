"""Sessions by a real boto3: opened, used, closed, expired, lost, and always on their own instance."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.unit.local.clients import chat, parts, runtime, whole
from tests.unit.local.definitions import SESSIONS, component, endpoint, model, session_endpoint
from tests.unit.local.running import Local, running
from warmstack.local.platform.fault_orders import FaultOrder, inflict
from warmstack.routing import RoutingChoices, SessionReply


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    with running(session_endpoint(3), folder=tmp_path) as local:
        yield local


def invoke(local: Local, body: bytes | None = None, session: str | None = None) -> dict[str, Any]:
    arguments = {"SessionId": session} if session else {}
    return whole(
        runtime(local.url).invoke_endpoint(
            EndpointName="demo", ContentType="application/json", Body=body or chat(), **arguments
        )
    )


def opened(local: Local) -> str:
    answer = invoke(local, b'{"requestType": "NEW_SESSION"}', "NEW_SESSION")
    session, _, expires = str(answer["NewSessionId"]).partition("; ")
    assert expires.startswith("Expires=20")
    return session


def last(local: Local) -> tuple[str | None, str]:
    entry = next(local.services.journal.newest_first())
    return entry.copy, entry.reason


def test_a_session_stays_on_its_instance_from_start_to_end(local: Local) -> None:
    sessions = [opened(local) for _ in range(6)]
    homes = [local.platform.endpoints["demo"].sessions.instance_of(one, now_seconds=0).session for one in sessions]
    for session, home in zip(sessions, homes, strict=True):
        for _ in range(3):
            invoke(local, session=session)
            assert home is not None
            assert last(local) == (home.copy, "session")
    assert len({home.instance for home in homes if home}) > 1, "each session opened on the same instance"
    answer = invoke(local, b'{"requestType": "CLOSE"}', sessions[0])
    assert answer["ClosedSessionId"] == sessions[0]
    with pytest.raises(ClientError) as raised:
        invoke(local, session=sessions[0])
    assert raised.value.response["OriginalStatusCode"] == 400
    assert f"session not found: {sessions[0]}" in raised.value.response["OriginalMessage"]


def test_a_stream_stays_there_too(local: Local) -> None:
    session = opened(local)
    home = local.platform.endpoints["demo"].sessions.instance_of(session, now_seconds=0).session
    response = runtime(local.url).invoke_endpoint_with_response_stream(
        EndpointName="demo", ContentType="application/json", Body=chat(stream=True), SessionId=session
    )
    assert b"".join(parts(response)).endswith(b"[DONE]\n\n")
    assert home is not None
    assert last(local) == (home.copy, "session")


def test_an_unknown_session_is_left_to_the_container(local: Local) -> None:
    with pytest.raises(ClientError) as raised:
        invoke(local, session="00000000-0000-0000-0000-000000000000")
    assert raised.value.response["Error"]["Code"] == "ModelError"


@pytest.mark.parametrize("which", ["unknown_session", "expired_session", "lost_session"])
def test_or_refused_where_that_is_chosen(tmp_path: Path, which: str) -> None:
    choices = RoutingChoices(**{which: SessionReply.REFUSED})
    with running(session_endpoint(), folder=tmp_path, choices=choices) as local:
        session = opened(local)
        if which == "unknown_session":
            session = "never-opened"
        elif which == "expired_session":
            local.run(inflict(local.platform, FaultOrder(fault="expire", target=session)))
        else:
            home = local.platform.endpoints["demo"].sessions.instance_of(session, now_seconds=0).session
            assert home is not None
            local.run(inflict(local.platform, FaultOrder(fault="restart", target=home.instance)))
        with pytest.raises(ClientError) as raised:
            invoke(local, session=session)
        assert raised.value.response["Error"]["Code"] == "ValidationError"


def test_an_expired_session_is_served_once_more_by_this_server_and_then_unknown(local: Local) -> None:
    session = opened(local)
    local.clock.ahead += 601
    # What model-hosting-container-standards does; the platform leaves it to the session's own container.
    assert json.loads(invoke(local, session=session)["Body"])["usage"]
    with pytest.raises(ClientError) as raised:
        invoke(local, session=session)
    assert "session not found" in raised.value.response["OriginalMessage"]


def test_a_session_whose_instance_is_gone_is_unknown_to_the_others(local: Local) -> None:
    session = opened(local)
    home = local.platform.endpoints["demo"].sessions.instance_of(session, now_seconds=0).session
    assert home is not None
    local.run(inflict(local.platform, FaultOrder(fault="kill", target=home.copy or "")))
    local.until(lambda: len(local.platform.endpoints["demo"].sessions.live(now_seconds=0)) == 0)
    with pytest.raises(ClientError) as raised:
        invoke(local, session=session)
    assert "session not found" in raised.value.response["OriginalMessage"]
    local.until(lambda: len([one for one in local.platform.endpoints["demo"].copies.values() if one.container]) == 3)
    assert opened(local) != session


def test_sessions_of_a_copy_that_was_scaled_in_are_lost_with_its_instance(tmp_path: Path) -> None:
    chat_component = component(copies=2, model=model(environment=SESSIONS))
    hosts = endpoint(components=(chat_component,))
    with running(hosts, folder=tmp_path) as local:
        client = runtime(local.url)

        def ask(body: bytes, session: str) -> dict[str, Any]:
            return whole(
                client.invoke_endpoint(
                    EndpointName="demo",
                    InferenceComponentName="chat",
                    ContentType="application/json",
                    Body=body,
                    SessionId=session,
                )
            )

        sessions = [
            str(ask(b'{"requestType": "NEW_SESSION"}', "NEW_SESSION")["NewSessionId"]).split(";")[0] for _ in range(8)
        ]
        running_endpoint = local.platform.endpoints["demo"]
        local.run(local.platform.scale(running_endpoint, running_endpoint.components["chat"], 1))
        local.until(lambda: len(running_endpoint.copies) == 1)

        def outcome(session: str) -> str:
            try:
                ask(chat(), session)
            except ClientError as error:
                return str(error.response["OriginalMessage"]).partition("session not found")[1]
            return "answered"

        assert {outcome(session) for session in sessions} == {"answered", "session not found"}
