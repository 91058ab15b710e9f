"""Starters of copies whose starts fail, or wait for the test."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from warmstack.local.adapter_files import AdapterFiles, write_stand_in
from warmstack.local.dialects.front import in_front
from warmstack.local.errors import LocalError
from warmstack.local.platform.orders import AdapterOrder, CopyOrder, Report
from warmstack.local.simulated import Latency
from warmstack.local.simulated.starter import SimulatedCopy, SimulatedStarter

POLL_SECONDS = 0.005


class ToldCopy:
    """A simulated copy whose adapters are taken as the test says."""

    def __init__(self, inner: SimulatedCopy, told: ToldStarter) -> None:
        self._inner = inner
        self._told = told

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def register(self, adapter: AdapterOrder) -> None:
        await self._told.turn(f"adapter {adapter.name}")
        await self._inner.register(adapter)
        self._told.taken.append((adapter.name, adapter.artifact))


class ToldStarter(SimulatedStarter):
    """Starts copies as the test says.

    What it is told of is a model's name, or "adapter" and the adapter's: what is in ``held`` waits until it is no
    longer, what is in ``broken`` fails, and what is in ``odd`` fails as nobody foresees.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(dialect=in_front, adapters=AdapterFiles(folder, {}, write_stand_in), latency=Latency())
        self.held: set[str] = set()
        self.broken: set[str] = set()
        self.odd: set[str] = set()
        self.waiting: list[str] = []
        self.started: list[str] = []
        self.taken: list[tuple[str, str]] = []

    async def turn(self, what: str) -> None:
        self.waiting.append(what)
        try:
            while what in self.held:
                await asyncio.sleep(POLL_SECONDS)
        finally:
            self.waiting.remove(what)
        if what in self.broken:
            raise LocalError(f"{what} ended while it started")
        if what in self.odd:
            raise RuntimeError(f"{what} is odd")

    async def start(self, order: CopyOrder, report: Report) -> Any:
        await self.turn(order.model.name)
        self.started.append(order.model.name)
        return ToldCopy(await super().start(order, report), self)
