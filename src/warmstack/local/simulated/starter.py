"""Starts simulated copies."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from warmstack.assembly import ModelDefinition
from warmstack.local.adapter_files import AdapterFiles
from warmstack.local.container import Container
from warmstack.local.platform.orders import AdapterOrder, CopyOrder, Report
from warmstack.local.registration import register_adapter
from warmstack.local.simulated.engine import SimulatedEngine
from warmstack.local.simulated.from_environment import simulated_settings
from warmstack.local.simulated.settings import Latency

Dialect = Callable[[ModelDefinition, Container], Container]
"""Puts the server that a model names in front of an engine."""


@dataclass(slots=True, kw_only=True)
class SimulatedCopy:
    """A copy in this process.

    Args:
        container: Answers as the container on SageMaker would.
        engine: The engine behind it.
        adapters: Finds adapters' files.
        pid: None: it has no process.
    """

    container: Container
    engine: SimulatedEngine
    adapters: AdapterFiles
    pid: int | None = None

    async def register(self, adapter: AdapterOrder) -> None:
        """Register an adapter."""
        await register_adapter(self.container, adapter.name, self.adapters.folder_of(adapter.name))

    async def wait(self) -> str:
        """Wait for the end."""
        await self.engine.wait()
        return "signal SIGKILL"

    async def stop(self) -> None:
        """End it."""
        self.engine.end()

    async def kill(self) -> None:
        """End it."""
        self.engine.end()


class SimulatedStarter:
    """Makes copies in this process.

    Args:
        dialect: Puts a server in front of an engine.
        adapters: Finds adapters' files.
        latency: How long answers take.
        cache_blocks: How many blocks each copy's prefix cache holds; None for the default.
        clock: Seconds since the epoch.
        sleep: Waits some seconds.
    """

    def __init__(
        self,
        *,
        dialect: Dialect,
        adapters: AdapterFiles,
        latency: Latency,
        cache_blocks: int | None = None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._dialect = dialect
        self._adapters = adapters
        self._latency = latency
        self._cache_blocks = cache_blocks
        self._clock = clock
        self._sleep = sleep

    async def start(self, order: CopyOrder, report: Report) -> SimulatedCopy:  # noqa: ARG002  (nothing takes time)
        """Start a copy."""
        settings = simulated_settings(order.model, self._latency, self._cache_blocks)
        engine = SimulatedEngine(settings, clock=self._clock, sleep=self._sleep)
        return SimulatedCopy(container=self._dialect(order.model, engine), engine=engine, adapters=self._adapters)

    async def close(self) -> None:
        """Nothing is shared."""
