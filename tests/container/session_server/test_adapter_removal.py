"""An adapter that is removed while it is loaded, and loaded again while it is removed: everything comes to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from session_server.adapters import AdapterRegistry
from session_server.errors import AdapterNotFoundError, RequestError
from tests.container.session_server.harness import PATIENCE_SECONDS

SOURCE = Path("/opt/ml/models/legal")


class FakeEngine:
    """Notes what it is asked, and answers when it is let."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.status = 200
        self.open = asyncio.Event()
        self.open.set()

    async def call(self, method: str, path: str, value: object = None, *, timeout_seconds: float | None = None) -> Any:
        del method, value, timeout_seconds
        self.asked.append(path.removesuffix("_lora_adapter").removeprefix("/"))
        await self.open.wait()
        return self.status, {"success": self.status == 200}


def run(work: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await work

    asyncio.run(bounded())


async def registered() -> tuple[AdapterRegistry, FakeEngine]:
    engine = FakeEngine()
    registry = AdapterRegistry(engine=engine, load_formatters=lambda _path, _name: None)
    await registry.register("legal", SOURCE)
    return registry, engine


def test_a_removal_right_after_the_first_use_ends_both() -> None:
    async def check() -> None:
        registry, engine = await registered()
        use = asyncio.create_task(registry.ensure_loaded("legal"))
        await asyncio.sleep(0)
        await (await registry.unregister("legal"))
        with pytest.raises(AdapterNotFoundError):
            await use
        assert engine.asked == []
        await registry.register("legal", SOURCE)
        await registry.ensure_loaded("legal")
        assert engine.asked == ["load"]

    run(check())


def test_a_removal_while_the_engine_loads_unloads_afterwards() -> None:
    async def check() -> None:
        registry, engine = await registered()
        engine.open.clear()
        use = asyncio.create_task(registry.ensure_loaded("legal"))
        while not engine.asked:
            await asyncio.sleep(0)
        unload = await registry.unregister("legal")
        engine.open.set()
        await unload
        with pytest.raises(AdapterNotFoundError):
            await use
        assert engine.asked == ["load", "unload"]

    run(check())


def test_a_load_waits_for_every_unload_before_it() -> None:
    async def check() -> None:
        registry, engine = await registered()
        await registry.ensure_loaded("legal")
        engine.open.clear()
        first = await registry.unregister("legal")
        await registry.register("legal", SOURCE)
        second = await registry.unregister("legal")
        await registry.register("legal", SOURCE)
        use = asyncio.create_task(registry.ensure_loaded("legal"))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not second.done()
        assert engine.asked == ["load", "unload"]
        engine.open.set()
        await use
        assert first.done()
        assert second.done()
        assert engine.asked == ["load", "unload", "load"]

    run(check())


def test_a_name_stays_refused_when_its_next_registration_fails() -> None:
    async def check() -> None:
        registry, engine = await registered()
        await (await registry.unregister("legal"))
        engine.status = 400
        with pytest.raises(RequestError):
            await registry.register("legal", SOURCE, preload=True)
        assert "legal" not in registry.known.adapters
        assert "legal" in registry.known.retired

    run(check())
