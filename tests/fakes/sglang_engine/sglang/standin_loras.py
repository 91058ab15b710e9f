"""The adapters of the stand-in: SGLang's rules and, where a client may look at them, its messages."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


class LoraError(Exception):
    """A request that SGLang answers with status 400 and this message."""


@dataclass(slots=True, kw_only=True)
class Lora:
    """A loaded adapter and the requests that use it."""

    name: str
    path: str
    pinned: bool
    users: int = 0


class Loras:
    """Load, unload, evict and look up adapters; an evicted one is loaded again when it is asked for."""

    def __init__(self, *, enabled: bool, max_loaded: int | None, load_seconds: Callable[[], float]) -> None:
        self._enabled = enabled
        self._max_loaded = max_loaded
        self._load_seconds = load_seconds
        self._loaded: OrderedDict[str, Lora] = OrderedDict()
        self._known: dict[str, Lora] = {}
        self._lock = asyncio.Lock()
        self.loads = 0

    def names(self) -> dict[str, str]:
        return {lora.name: lora.path for lora in self._loaded.values()}

    async def load(self, name: str, path: str, *, pinned: bool = False) -> None:
        self._check_enabled()
        async with self._lock:
            await self._load(Lora(name=name, path=path, pinned=pinned))

    async def unload(self, name: str) -> None:
        self._check_enabled()
        async with self._lock:
            if name not in self._loaded:
                raise LoraError(f"LoRA with name {name} does not exist. Loaded LoRAs: {list(self._loaded)}")
            await self._drop(name)

    def forget(self) -> None:
        """Lose every adapter, as an engine does that was started again."""
        self._loaded.clear()
        self._known.clear()

    async def acquire(self, name: str) -> Lora:
        self._check_enabled(name)
        if name not in self._loaded:
            if name not in self._known:
                raise LoraError(
                    f"Got LoRA adapter that has never been loaded: {name}\nAll loaded adapters: {[*self._known]}."
                )
            async with self._lock:
                if name not in self._loaded:
                    await self._load(self._known[name])
        self._loaded.move_to_end(name)
        lora = self._loaded[name]
        lora.users += 1
        return lora

    def _check_enabled(self, name: str = "") -> None:
        if not self._enabled and name:
            raise LoraError(f"LoRA adapter '{name}' was requested, but LoRA is not enabled.")
        if not self._enabled:
            raise LoraError("LoRA is not enabled. Please set `--enable-lora` to enable LoRA.")

    async def _load(self, lora: Lora) -> None:
        await asyncio.sleep(self._load_seconds())
        self.loads += 1
        if lora.name in self._loaded:
            raise LoraError(f"LoRA with name {lora.name} already exists. Loaded LoRAs: {list(self._loaded)}")
        if not (Path(lora.path) / "adapter_config.json").is_file():
            raise LoraError(f"Can't find 'adapter_config.json' at '{lora.path}'")
        self._loaded[lora.name] = self._known[lora.name] = lora
        lora.users = 0
        while self._max_loaded is not None and len(self._loaded) > self._max_loaded:
            victim = next((one.name for one in self._loaded.values() if not one.pinned), None)
            if victim is None:
                raise LoraError("Didn't find any LoRA adapters when trying to evict LRU LoRA adapter.")
            await self._drop(victim)

    async def _drop(self, name: str) -> None:
        lora = self._loaded.pop(name)
        while lora.users:
            await asyncio.sleep(0.01)
