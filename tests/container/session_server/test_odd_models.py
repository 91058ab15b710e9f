"""/v1/models in forms that no engine should answer: /ping comes to 200, and no adapter has an odd name."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from session_server.adapters import AdapterRegistry
from session_server.health import EngineHealth, LivenessProbe, Prober
from tests.container.session_server.harness import PATIENCE_SECONDS


class FakeEngine:
    """Generates, and knows nothing else."""

    async def call(self, method: str, path: str, value: object = None, *, timeout_seconds: float | None = None) -> Any:
        del method, path, value, timeout_seconds
        return 200, {"choices": [{"text": "1"}]}


def no_formatters(_path: Path, _name: str) -> None:
    return None


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        "x",
        {},
        {"data": 5},
        {"data": True},
        {"data": {"id": "b"}},
        {"data": [5, None, "a", []]},
        {"data": [{"id": None, "parent": "b"}, {"id": 5, "parent": "b"}, {"id": [], "parent": "b"}]},
        {"data": [{"id": "", "parent": "b"}, {"parent": "b"}]},
    ],
)
def test_what_has_no_known_form_is_left_out(answer: object) -> None:
    registry = AdapterRegistry(engine=FakeEngine(), load_formatters=no_formatters)
    registry.adopt(answer)
    assert registry.list() == []
    assert registry.known.served is None


def test_what_has_the_form_is_taken_from_among_the_rest() -> None:
    registry = AdapterRegistry(engine=FakeEngine(), load_formatters=no_formatters)
    registry.adopt({"data": [None, {"id": "b", "parent": None}, {"id": 1}, {"id": "legal", "parent": "b"}]})
    assert (registry.known.served, [one.name for one in registry.list()]) == ("b", ["legal"])


def test_the_prober_outlives_any_failure(caplog: pytest.LogCaptureFixture) -> None:
    failures: list[Exception] = [TypeError("an odd answer"), KeyError("data")]
    health = EngineHealth(stall_seconds=60)

    async def adopt() -> None:
        if failures:
            raise failures.pop()

    async def check() -> None:
        prober = Prober(
            engine=FakeEngine(),
            health=health,
            liveness=LivenessProbe.GENERATION,
            on_ready=adopt,
            probe_seconds=0.01,
            timeout_seconds=1,
        )
        probing = asyncio.create_task(prober.run())
        async with asyncio.timeout(PATIENCE_SECONDS):
            while health.problem:
                await asyncio.sleep(0.01)
        assert not probing.done()
        probing.cancel()

    with caplog.at_level(logging.ERROR):
        asyncio.run(check())
    assert "an odd answer" in caplog.text
