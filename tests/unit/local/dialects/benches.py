"""Simulated containers for golden tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.unit.local.definitions import model
from tests.unit.local.dialects.golden import EXPIRATION_SECONDS, NEW, Bench
from warmstack.local.adapter_files import write_stand_in
from warmstack.local.container import Container
from warmstack.local.dialects.front import in_front
from warmstack.local.simulated import Latency, SimulatedEngine
from warmstack.local.simulated.from_environment import simulated_settings


class Clock:
    """Goes when it is told to."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now

    async def pass_time(self) -> None:
        self.now += EXPIRATION_SECONDS + 1


def simulated(
    environment: Mapping[str, str],
    *,
    clock: Clock | None = None,
    changes: Mapping[str, Any] | None = None,
    **options: Any,
) -> tuple[Container, SimulatedEngine]:
    """Return a container, and the engine behind it."""
    definition = model(environment=environment, **(changes or {}))
    engine = SimulatedEngine(simulated_settings(definition, Latency(), None))
    return in_front(definition, engine, clock=clock or Clock(), **options), engine


def bench(
    environment: Mapping[str, str],
    folder: Path,
    *,
    name: str = "acme/model",
    header: str = NEW,
    changes: Mapping[str, Any] | None = None,
    **options: Any,
) -> Bench:
    """Return a bench with a simulated engine."""
    clock = Clock()
    container, _ = simulated(environment, clock=clock, changes=changes, **options)
    write_stand_in("legal", folder)
    return Bench(container=container, folder=folder, model=name, pass_time=clock.pass_time, new_session_header=header)
