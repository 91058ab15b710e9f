"""GET /ping: what the engine does, and never later than the platform waits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from session_server.app import make_app, make_services
from session_server.engine_client import EngineClient
from session_server.health import EngineHealth
from session_server.settings import Settings
from tests.container.session_server.harness import FakeClock, Stack, running_stack, wait_until

QUICK = {"WARMSTACK_STALL_SECONDS": "0.5"}
STREAM = json.dumps({"prompt": "x", "stream": True})


def ping(stack: Stack) -> int:
    return stack.get("/ping").status


def test_ping_waits_for_nothing() -> None:
    """The platform waits two seconds: the answer is there after one step of the event loop's."""
    health = EngineHealth(stall_seconds=60)
    services = make_services(Settings.from_environment({}), EngineClient("http://127.0.0.1:1"), health)
    scope = {"type": "http", "method": "GET", "path": "/ping", "query_string": b"", "headers": []}
    for status in (503, 200):
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any, sent: list[Any] = sent) -> None:
            sent.append(message)

        answering = make_app(services)(dict(scope), receive, send)
        with pytest.raises(StopIteration):
            answering.send(None)
        assert sent[0]["status"] == status
        assert not sent[-1].get("more_body")
        health.note_ready()


def test_not_before_the_engine_has_generated() -> None:
    with running_stack(wait_for_ready=False, ready_seconds=1e9) as stack:
        answer = stack.get("/ping")
        assert (answer.status, answer.json) == (503, {"status": "the engine is starting"})
        stack.engine.options.ready_seconds = 0
        wait_until(lambda: ping(stack) == 200, "ready")
        generations = stack.engine_requests("/v1/completions")
        assert generations[-1]["max_tokens"] == 1
        assert stack.engine.counters.finished == 1


def test_an_engine_that_only_accepts_requests_is_not_ready() -> None:
    with running_stack(QUICK, wait_for_ready=False, hang=True) as stack:
        wait_until(lambda: len(stack.engine.counters.requests) > 1, "the engine was asked twice")
        assert ping(stack) == 503


def test_an_idle_engine_that_hangs_fails_and_recovers() -> None:
    with running_stack(QUICK) as stack:
        stack.engine.options.hang = True
        wait_until(lambda: ping(stack) == 503, "the hang is noticed")
        assert "nothing has come from the engine" in stack.get("/ping").json["status"]
        stack.engine.options.hang = False
        wait_until(lambda: ping(stack) == 200, "the engine is back")


def test_a_hang_with_a_stream_in_flight_is_noticed() -> None:
    with running_stack(QUICK, token_seconds=0.02, tokens=1000) as stack:
        connection = stack.connect()
        connection.request("POST", "/invocations", STREAM)
        connection.getresponse().read1()
        stack.engine.options.hang = True
        wait_until(lambda: ping(stack) == 503, "the hang is noticed")
        connection.close()


def test_a_busy_engine_that_makes_progress_is_not_dead() -> None:
    clock = FakeClock(0.0)
    never_asked = {"WARMSTACK_PROBE_SECONDS": "3600", "WARMSTACK_STALL_SECONDS": "60"}
    with running_stack(never_asked, health_clock=clock, token_seconds=0.01, tokens=1_000_000) as stack:
        connection = stack.connect()
        connection.request("POST", "/invocations", STREAM)
        response = connection.getresponse()
        before = len(stack.engine.counters.requests)
        for _ in range(3):
            clock.now += 59.0
            wait_until(lambda: bool(response.read1()) and stack.services.health.idle_seconds == 0, "its bytes count")
            assert ping(stack) == 200
        assert len(stack.engine.counters.requests) == before
        connection.close()


def test_an_engine_that_refuses_is_no_progress() -> None:
    with running_stack(QUICK) as stack:
        stack.engine.options.hang = True
        wait_until(
            lambda: (stack.post({"no": "form"}).status, stack.get("/v1/models").status, ping(stack)) == (400, 200, 503),
            "answers that need no generation do not hide the hang",
        )


def test_reading_metrics_does_not_hide_a_hang() -> None:
    with running_stack(QUICK) as stack:
        stack.engine.options.hang = True
        wait_until(lambda: (stack.get("/metrics").status, ping(stack)) == (200, 503), "metrics are no progress")


def test_the_states_of_an_engine() -> None:
    clock = FakeClock(0.0)
    health = EngineHealth(stall_seconds=60, clock=clock)
    assert health.problem == "the engine is starting"
    health.note_ready()
    clock.now = 59.9
    assert health.problem is None
    clock.now = 60.0
    assert health.problem == "nothing has come from the engine for 60 s"
    health.note_progress()
    assert health.problem is None
    health.note_exit("signal SIGKILL")
    assert health.problem == "the engine exited with signal SIGKILL"
