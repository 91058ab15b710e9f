"""Bodies that come slowly, or never whole: they take no places, and their time ends."""

from __future__ import annotations

import asyncio
import http.client
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from session_server.bodies import Bodies
from session_server.errors import RequestError
from session_server.settings import Settings, SettingsError
from tests.container.session_server.harness import PATIENCE_SECONDS, Stack, running_stack, wait_until

ENOUGH = {"prompt": "x", "max_tokens": 1}


LIMITS = {
    "WARMSTACK_MAX_BODY_BYTES": "4096",
    "WARMSTACK_MAX_CONCURRENT_REQUESTS": "2",
    "WARMSTACK_MAX_ARRIVING_BYTES": "8000",
    "WARMSTACK_BODY_SECONDS": "3600",
}


@pytest.fixture
def patient() -> Iterator[Stack]:
    """A server that waits longer for a body than any test lasts."""
    with running_stack(LIMITS) as running:
        yield running


def half_sent(stack: Stack, path: str = "/invocations", sent: int = 8) -> http.client.HTTPConnection:
    connection = stack.connect()
    connection.putrequest("POST", path)
    connection.putheader("Content-Length", "4000")
    connection.endheaders(b'{"prompt"'[:sent] + b" " * max(0, sent - 9))
    return connection


def test_half_sent_bodies_take_no_places(patient: Stack) -> None:
    waiting = [half_sent(patient) for _ in range(5)]
    wait_until(lambda: patient.services.bodies.held_bytes == 40, "all have come")
    assert patient.post(ENOUGH).status == 200
    for connection in waiting:
        connection.close()


@pytest.mark.parametrize("path", ["/invocations", "/v1/chat/completions", "/adapters"])
def test_a_body_that_does_not_come_is_408_and_the_connection_closes(path: str) -> None:
    with running_stack({**LIMITS, "WARMSTACK_BODY_SECONDS": "0.2"}) as impatient:
        connection = half_sent(impatient, path)
        response = connection.getresponse()
        assert response.status == 408
        assert response.getheader("connection") == "close"
        assert b"WARMSTACK_BODY_SECONDS" in response.read()
        connection.close()


def test_more_bytes_than_may_arrive_at_once_are_503(patient: Stack) -> None:
    waiting = [half_sent(patient, sent=3000) for _ in range(2)]
    wait_until(lambda: patient.services.bodies.held_bytes == 6000, "both have come")
    refused = half_sent(patient, sent=3000).getresponse()
    assert (refused.status, refused.getheader("retry-after")) == (503, "1")
    assert b"too_many_bytes" in refused.read()
    # A body that is whole at once does not wait for anything.
    assert patient.post(ENOUGH).status == 200
    for connection in waiting:
        connection.close()
    wait_until(lambda: patient.services.bodies.held_bytes == 0, "nothing is held any more")


@pytest.mark.parametrize("path", ["/invocations", "/adapters"])
def test_a_client_that_goes_in_the_middle_of_its_body_is_no_fault(
    patient: Stack, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        connection = half_sent(patient, path)
        wait_until(lambda: patient.services.bodies.held_bytes == 8, "it has come")
        connection.close()
        wait_until(lambda: patient.services.bodies.held_bytes == 0, "it is noticed")
        wait_until(lambda: not patient.server.server_state.tasks, "its task has ended")
    assert caplog.text == ""


def test_the_bytes_that_may_arrive_hold_the_largest_body() -> None:
    with pytest.raises(SettingsError, match="WARMSTACK_MAX_ARRIVING_BYTES is 1; it must be WARMSTACK_MAX_BODY_BYTES"):
        Settings.from_environment({"WARMSTACK_MAX_ARRIVING_BYTES": "1"})


def test_a_server_that_ends_gives_bodies_no_more_than_a_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("session_server.bodies.LAST_SECONDS", 0.05)

    async def never() -> Any:
        await asyncio.sleep(3600)

    async def check() -> None:
        bodies = Bodies(max_bytes=10, seconds=3600, arriving_bytes=10)
        before = asyncio.ensure_future(bodies.read(never, {}))
        await asyncio.sleep(0)
        bodies.hasten()
        for reading in (before, bodies.read(never, {})):
            with pytest.raises(RequestError) as caught:
                await reading
            assert caught.value.status == 408

    asyncio.run(asyncio.wait_for(check(), PATIENCE_SECONDS))


def test_a_half_sent_body_does_not_hold_the_servers_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("session_server.bodies.LAST_SECONDS", 0.1)
    with running_stack(LIMITS) as stack:
        connection = half_sent(stack)
        wait_until(lambda: stack.services.bodies.held_bytes == 8, "it has come")

        async def end() -> None:
            stack.server.should_exit = True
            while stack.server.server_state.connections:
                await asyncio.sleep(0.02)

        stack.server_loop.run(end())
        # The body's own time would be an hour, and what the drain time cuts off has no answer.
        response = connection.getresponse()
        assert response.status == 408
        assert b"did not come within 0.1 s" in response.read()
        connection.close()
