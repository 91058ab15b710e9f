"""The registered adapters: loaded at first use, once, and again when the engine lost them."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Protocol

from session_server.adapter_references import KnownModels
from session_server.errors import AdapterNotFoundError, RequestError
from session_server.formatting import Formatters

# Guard: SGLang has one status for every failure; only its messages tell an adapter that is there already, or is not.
ALREADY_LOADED = re.compile(r"already (?:loaded|exists)")
NOT_LOADED = re.compile(r"has never been loaded|adapters are not loaded|does not exist|Failed to implicitly load")
_log = logging.getLogger(__name__)


class EngineCaller(Protocol):
    """The part of the engine's client that adapters need."""

    async def call(self, method: str, path: str, value: object = None, *, timeout_seconds: float | None = None) -> Any:
        """Return status and decoded answer."""
        ...


@dataclass(slots=True, kw_only=True, eq=False)
class Adapter:
    """A registered adapter.

    Args:
        name: What requests call it.
        source: Its folder; None for one that the engine was started with.
        pin: Keep it in the engine's memory.
        formatters: Its own, if it has some.
        loaded: The engine has said so, and not otherwise since.
        loading: The load that is under way, which everyone who needs it waits for.
    """

    name: str
    source: Path | None
    pin: bool = False
    formatters: Formatters | None = None
    loaded: bool = False
    loading: asyncio.Task[None] | None = field(default=None, repr=False)


class AdapterRegistry:
    """Registers, loads and removes adapters.

    Args:
        engine: Calls the engine.
        load_formatters: Loads an adapter's own formatters; None if it has none.
    """

    def __init__(self, *, engine: EngineCaller, load_formatters: Callable[[Path, str], Formatters | None]) -> None:
        self._engine = engine
        self._load_formatters = load_formatters
        self._adapters: dict[str, Adapter] = {}
        self._retired: set[str] = set()
        # The last unload of a name that is under way. Loading it again must wait: the engine refuses it until then.
        self._unloading: dict[str, asyncio.Task[None]] = {}
        self._served: str | None = None

    @property
    def known(self) -> KnownModels:
        """The names that mean something in requests."""
        return KnownModels(served=self._served, adapters=self._adapters.keys(), retired=self._retired)

    def adopt(self, answer: object) -> None:
        """Take over what the engine was started with: the base model's name, and adapters of SM_SGLANG_LORA_PATHS.

        Args:
            answer: The engine's to /v1/models. What in it has not the known form is left out: the engine serves
                without it.
        """
        for card in model_cards(answer):
            name = card["id"]
            if not card.get("parent"):
                self._served = self._served or name
            elif name not in self._adapters:
                self._adapters[name] = Adapter(name=name, source=None, loaded=True)

    def list(self) -> list[Adapter]:
        """Return the registered adapters by name."""
        return sorted(self._adapters.values(), key=lambda adapter: adapter.name)

    def get(self, name: str) -> Adapter:
        """Return a registered adapter.

        Raises:
            AdapterNotFoundError: There is none of this name.
        """
        self.known.require(name, "name")
        return self._adapters[name]

    async def register(self, name: str, source: Path, *, preload: bool = False, pin: bool = False) -> bool:
        """Register an adapter.

        Args:
            name: What requests will call it.
            source: Its folder, resolved.
            preload: Load it now and not at first use.
            pin: Keep it in the engine's memory once it is loaded.

        Returns:
            Whether it is new. Registering the same again changes nothing.

        Raises:
            RequestError: The name stands for another adapter, or its formatters or weights cannot be loaded; it is not
                registered then.
        """
        present = self._same(name, source, pin=pin)
        if present is None:
            # In a thread: users' code may import for seconds, in which /ping and every stream would wait.
            formatters = await asyncio.to_thread(self._load_formatters, source, name)
            present = self._same(name, source, pin=pin)  # another request may have been faster
            adapter = present or Adapter(name=name, source=source, pin=pin, formatters=formatters)
        else:
            adapter = present
        self._adapters[name] = adapter
        if preload:
            try:
                await self.ensure_loaded(name)
            except RequestError:
                if not present and self._adapters.get(name) is adapter:
                    del self._adapters[name]
                raise
        return present is None

    def _same(self, name: str, source: Path, *, pin: bool) -> Adapter | None:
        """Return what is registered under a name, if it is the same; refuse another."""
        present = self._adapters.get(name)
        if present and (present.source, present.pin) != (source, pin):
            raise RequestError(
                f"adapter {name} is registered already, with src {present.source} and pin {str(present.pin).lower()}; "
                f"DELETE /adapters/{name} first",
                status=HTTPStatus.CONFLICT,
                code="adapter_exists",
            )
        return present

    async def unregister(self, name: str) -> asyncio.Task[None]:
        """Remove an adapter: new requests for it are refused at once; the engine lets those that run finish.

        Returns:
            The unload, which may take as long as the requests that still use the adapter.

        Raises:
            AdapterNotFoundError: There is none of this name.
        """
        adapter = self.get(name)
        del self._adapters[name]
        self._retired.add(name)
        task = asyncio.create_task(self._unload(adapter, self._unloading.get(name)))
        self._unloading[name] = task
        task.add_done_callback(
            lambda done: self._unloading.pop(name, None) if self._unloading.get(name) is done else None
        )
        # Whoever waits for it may have gone when it fails; the failure must not stay unseen then.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return task

    async def ensure_loaded(self, name: str) -> None:
        """Load an adapter unless the engine has it; any number of callers cause one load.

        Raises:
            AdapterNotFoundError: There is none of this name.
            RequestError: The engine cannot load it (424).
        """
        adapter = self.get(name)
        if adapter.loaded:
            return
        if adapter.loading is None:
            # Guard: the unload is taken here, and not when the load runs. One that begins in between is this adapter's
            # own and waits for the load; if the load waited for it too, neither would ever end.
            adapter.loading = asyncio.create_task(self._load(adapter, self._unloading.get(name)))
            adapter.loading.add_done_callback(lambda done: done.cancelled() or done.exception())
        # Shielded: a client that goes away must not take the load from the others.
        await asyncio.shield(adapter.loading)
        if self._adapters.get(name) is not adapter:
            raise AdapterNotFoundError(f"adapter {name} was removed while this request waited for it")

    def mark_lost(self, names: Iterable[str]) -> None:
        """Note that the engine does not have these adapters any more."""
        for name in names:
            adapter = self._adapters.get(name)
            if adapter and adapter.source:
                adapter.loaded = False

    async def _load(self, adapter: Adapter, earlier: asyncio.Task[None] | None) -> None:
        try:
            if earlier:
                await asyncio.wait([earlier])
            if self._adapters.get(adapter.name) is not adapter:
                return
            request = {"lora_name": adapter.name, "lora_path": str(adapter.source), "pinned": adapter.pin}
            message = _failure(*await self._engine.call("POST", "/load_lora_adapter", request))
            if message and ALREADY_LOADED.search(message):
                # Guard: the engine loads an unloaded adapter again by itself when a late request names it. What it has
                # under this name may be the adapter before the last update.
                await self._engine.call("POST", "/unload_lora_adapter", {"lora_name": adapter.name})
                message = _failure(*await self._engine.call("POST", "/load_lora_adapter", request))
            if message:
                raise RequestError(
                    f"the engine could not load adapter {adapter.name}: {message}",
                    status=HTTPStatus.FAILED_DEPENDENCY,
                    code="adapter_load_failed",
                )
            adapter.loaded = True
            _log.info("adapter %s is loaded", adapter.name)
        finally:
            adapter.loading = None

    async def _unload(self, adapter: Adapter, earlier: asyncio.Task[None] | None) -> None:
        # The last unload of a name ends last, so that a load which waits for it has waited for all of them.
        if earlier:
            await asyncio.wait([earlier])
        if adapter.loading:
            await asyncio.wait([adapter.loading])
        if not adapter.loaded:
            return
        adapter.loaded = False
        message = _failure(*await self._engine.call("POST", "/unload_lora_adapter", {"lora_name": adapter.name}))
        if message and not NOT_LOADED.search(message):
            raise RequestError(
                f"the engine could not unload adapter {adapter.name}: {message}",
                status=HTTPStatus.FAILED_DEPENDENCY,
                code="adapter_unload_failed",
            )
        _log.info("adapter %s is unloaded", adapter.name)


def model_cards(answer: object) -> list[dict[str, Any]]:
    """Return the entries of the engine's /v1/models that have a name."""
    cards = answer.get("data") if isinstance(answer, dict) else None
    listed = cards if isinstance(cards, list) else []
    return [card for card in listed if isinstance(card, dict) and isinstance(card.get("id"), str) and card["id"]]


def _failure(status: int, answer: Any) -> str | None:
    """Return the engine's message if it did not do what it was asked."""
    if status == HTTPStatus.OK and not (isinstance(answer, dict) and answer.get("success") is False):
        return None
    if isinstance(answer, dict):
        return str(answer.get("error_message") or answer.get("message") or answer.get("detail") or f"status {status}")
    return f"status {status}: {str(answer)[:200]}"
