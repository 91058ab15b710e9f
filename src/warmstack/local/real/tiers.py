"""LMCache's server of each instance: started with its first copy, ended with its last."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

from warmstack.local.engines import EngineEnvironment, LmcacheOrder, LmcacheServer, Tiers, start_lmcache
from warmstack.local.platform.orders import Report


class TierServers:
    """The servers, by instance.

    On SageMaker, LMCache runs inside each engine's process, so its RAM goes with the process; here it is a server that
    the copies of an instance share, and its RAM goes with the last of them. The disk tier is a folder of the instance.

    Args:
        engine: The environment that has LMCache.
        folder: Where logs and disk tiers go.
        on_loss: Is called with an instance whose server ended by itself.
    """

    def __init__(self, engine: EngineEnvironment, folder: Path, on_loss: Callable[[str], Awaitable[None]]) -> None:
        self._engine = engine
        self._folder = folder
        self._on_loss = on_loss
        self._servers: dict[str, LmcacheServer] = {}
        self._users: Counter[str] = Counter()
        self._locks: dict[str, asyncio.Lock] = {}
        self._endings: set[asyncio.Task[None]] = set()

    async def acquire(self, instance: str, tiers: Tiers, report: Report) -> LmcacheServer:
        """Return the server of an instance, started if it is not there, for one more copy.

        Raises:
            LocalError: It did not start.
        """
        async with self._locks.setdefault(instance, asyncio.Lock()):
            if instance not in self._servers:
                folder = self._folder / instance
                disk = folder / "disk-tier" if tiers.disk else None
                if disk is not None:
                    disk.mkdir(parents=True, exist_ok=True)
                self._servers[instance] = await start_lmcache(
                    LmcacheOrder(
                        engine=self._engine,
                        folder=folder,
                        chunk_tokens=tiers.chunk_tokens,
                        disk=disk,
                        name=f"{instance}/lmcache",
                    ),
                    report=report,
                )
                self._spawn(self._watch(instance, self._servers[instance], report))
            self._users[instance] += 1
            return self._servers[instance]

    async def release(self, instance: str) -> None:
        """Note that a copy is gone; end the server after the last one."""
        if instance not in self._servers:
            return
        async with self._locks.setdefault(instance, asyncio.Lock()):
            self._users[instance] -= 1
            if self._users[instance] <= 0:
                del self._users[instance]
                await self._servers.pop(instance).stop()

    def release_soon(self, instance: str) -> None:
        """Release without waiting for it."""
        self._spawn(self.release(instance))

    async def _watch(self, instance: str, server: LmcacheServer, report: Report) -> None:
        """Wait for the end of a server; a copy that asks one that is gone waits for ever (LMCache 0.5.6, tried)."""
        await server.wait()
        if self._servers.get(instance) is server:
            del self._servers[instance]
            self._users.pop(instance, None)
            report(f"{instance}/lmcache ended by itself; the copies beside it are started again")
            await self._on_loss(instance)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._endings.add(task)
        task.add_done_callback(self._endings.discard)

    async def close(self) -> None:
        """End every server."""
        servers = list(self._servers.values())
        self._servers.clear()
        await asyncio.gather(*(server.stop() for server in servers), return_exceptions=True)
        if self._endings:
            await asyncio.wait(self._endings)
