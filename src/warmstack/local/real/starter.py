"""Starts copies of a real vLLM: translated settings, LMCache beside them, adapters, and a dialect in front."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from warmstack.assembly import ModelDefinition
from warmstack.local.adapter_files import AdapterFiles
from warmstack.local.container import Container
from warmstack.local.engines import (
    EngineEnvironment,
    EngineOrder,
    LocalModel,
    VllmCopy,
    start_vllm,
)
from warmstack.local.engines.process import exit_description
from warmstack.local.platform.orders import AdapterOrder, CopyOrder, Report
from warmstack.local.real.replacements import translated
from warmstack.local.real.tiers import TierServers
from warmstack.local.registration import register_adapter

RealDialect = Callable[[ModelDefinition, Container], Container]
"""Puts the server that a model names in front of a real vLLM, which is a container of its own."""


@dataclass(slots=True, kw_only=True)
class RealCopy:
    """A process, and the server in front of it.

    Args:
        container: Answers as the container on SageMaker would.
        engine: The process.
        adapters: Finds adapters' files.
        release: Is called once when the process has ended.
    """

    container: Container
    engine: VllmCopy
    adapters: AdapterFiles
    release: Callable[[], None]

    @property
    def pid(self) -> int | None:
        """The process's id."""
        return self.engine.pid

    async def register(self, adapter: AdapterOrder) -> None:
        """Register an adapter."""
        folder = await asyncio.to_thread(self.adapters.folder_of, adapter.name)
        await register_adapter(self.container, adapter.name, folder)

    async def wait(self) -> str:
        """Wait for the end."""
        status = await self.engine.wait()
        self._let_go()
        return exit_description(status)

    async def stop(self) -> None:
        """End it: SIGTERM, and after a while SIGKILL."""
        await self.engine.stop()
        self._let_go()

    async def kill(self) -> None:
        """End it at once."""
        await self.engine.kill()
        self._let_go()

    def _let_go(self) -> None:
        release, self.release = self.release, lambda: None
        release()


class RealStarter:
    """Makes copies of a real vLLM.

    Args:
        engine: The environment that has it.
        model: The model that is served in the place of the template's.
        folder: Where logs and sessions go.
        adapters: Finds adapters' files.
        kv_cache_bytes: How large each copy's KV cache is.
        dialect: Puts a server in front of the process.
    """

    def __init__(
        self,
        *,
        engine: EngineEnvironment,
        model: LocalModel,
        folder: Path,
        adapters: AdapterFiles,
        kv_cache_bytes: int,
        dialect: RealDialect,
    ) -> None:
        self._engine = engine
        self._model = model
        self._folder = folder
        self._adapters = adapters
        self._kv_cache_bytes = kv_cache_bytes
        self._dialect = dialect
        self._tiers = TierServers(engine, folder, self._end_copies)
        self._copies: dict[str, list[RealCopy]] = defaultdict(list)

    async def start(self, order: CopyOrder, report: Report) -> RealCopy:
        """Start a copy and wait until it has completed a generation.

        Raises:
            LocalError: It did not start; with what its log says.
        """
        translation = translated(order.model, self._model, self._kv_cache_bytes)
        name = order.copy.replace("/", "-")
        arguments = translation.arguments
        if translation.tiers is not None:
            server = await self._tiers.acquire(order.instance, translation.tiers, report)
            arguments = (*arguments, *server.arguments)
        try:
            process = await start_vllm(
                EngineOrder(
                    engine=self._engine,
                    model=self._model.folder,
                    folder=self._folder / name,
                    arguments=arguments,
                    environment=translation.environment,
                    name=order.copy,
                ),
                report=report,
            )
        except BaseException:
            if translation.tiers is not None:
                await self._tiers.release(order.instance)
            raise

        def release() -> None:
            self._copies[order.instance].remove(copy)
            if translation.tiers is not None:
                self._tiers.release_soon(order.instance)

        try:
            container = self._dialect(order.model, process)
        except BaseException:
            await process.kill()
            if translation.tiers is not None:
                await self._tiers.release(order.instance)
            raise
        copy = RealCopy(container=container, engine=process, adapters=self._adapters, release=release)
        self._copies[order.instance].append(copy)
        return copy

    async def _end_copies(self, instance: str) -> None:
        """End the copies of an instance, as their own end would: whoever watches them starts others."""
        for copy in list(self._copies[instance]):
            await copy.engine.kill()

    async def close(self) -> None:
        """End what copies share."""
        with suppress(Exception):
            await self._tiers.close()
