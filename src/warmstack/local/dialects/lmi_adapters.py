"""LMI's API of adapters: parameters in the query, and a registry of its own.

Read in djl-serving d21927c4: ``AdapterManagementRequestHandler.java``, ``adapter_manager_mixin.py``,
``adapter_formatter_mixin.py``. Of the asynchronous handler it is not known for sure that a failed registration is
answered with its failure, since its reply is asynchronous too; here it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from warmstack.local.container import Container, ContainerRequest, MemoryReply, read_body
from warmstack.local.dialects.lmi_code import ModelCode, load_code
from warmstack.local.dialects.lmi_replies import JSON, ServerFailure, encoded
from warmstack.local.errors import LocalError

ADAPTER_ALIAS = "x-amzn-sagemaker-adapter-alias"
_PATH = re.compile(r"(?:/models/(?P<model>[^/]+))?/adapters(?:/(?P<name>[^/]+)(?:/(?P<action>[^/]+))?)?/?")
_NO_SLOT = ("No free lora slots", "greater than the number of GPU LoRA slots")
_PAGE = 100


@dataclass(slots=True, kw_only=True)
class Adapter:
    """A registered adapter.

    Args:
        name: What requests call it.
        source: Its folder.
        preload: Whether it was loaded when it was registered.
        pin: Whether it stays in memory.
        loaded: Whether the engine has it.
        code: Its own formatters.
    """

    name: str
    source: str
    preload: bool
    pin: bool
    loaded: bool = False
    code: ModelCode = field(default_factory=ModelCode)

    def document(self) -> dict[str, Any]:
        """Return it as the API shows it."""
        return {"name": self.name, "src": self.source, "preload": self.preload, "pin": self.pin}


class LmiAdapters:
    """The adapters of a container.

    Args:
        engine: The engine.
        enabled: Whether LoRA is on.
        lazy: Whether an adapter that is not loaded yet is loaded at its first use; LMI does not.
        four_times: Whether a model.py is executed for each kind of formatter anew.
    """

    def __init__(self, engine: Container, *, enabled: bool, lazy: bool, four_times: bool) -> None:
        self._engine = engine
        self._enabled = enabled
        self._lazy = lazy
        self._four_times = four_times
        self._adapters: dict[str, Adapter] = {}

    def code_of(self, name: str) -> ModelCode:
        """Return an adapter's own formatters."""
        adapter = self._adapters.get(name)
        return adapter.code if adapter is not None else ModelCode()

    async def require(self, name: str) -> None:
        """Refuse an adapter that the handler does not have.

        Raises:
            ValueError: In LMI's words.
        """
        adapter = self._adapters.get(name)
        if adapter is not None and self._lazy and not adapter.loaded:
            await self._load(adapter)
        if adapter is None or not adapter.loaded:
            known = [one.name for one in self._adapters.values() if one.loaded]
            raise ValueError(f"LoRA adapter {name} not found in registry. Available adapters: {known}")

    async def answer(self, request: ContainerRequest) -> MemoryReply | None:
        """Answer a request to this API; None for one to another.

        Raises:
            ServerFailure: It is refused.
        """
        path, _, query = request.path.partition("?")
        found = _PATH.fullmatch(path)
        if found is None:
            return None
        if found["model"] not in (None, "model"):
            raise ServerFailure(404, f"The model {found['model']} was not found")
        if not self._enabled:
            raise ServerFailure(400, "LoRA is not enabled.")
        named = {key: values[0] for key, values in parse_qs(query).items() if len(values) == 1}
        alias = request.headers.get(ADAPTER_ALIAS)
        match (request.method, found["name"], found["action"]):
            case ("GET", None, _):
                return self._list(named)
            case ("POST", None, _):
                return await self._register(named, alias)
            case ("GET", name, _):
                return _reply(self._get(unquote(name), alias).document())
            case ("POST", name, action) if (action or "").lower() == "update":
                return await self._update(self._get(unquote(name), alias), named, alias)
            case ("DELETE", name, _) if name is not None:
                return await self._unregister(self._get(unquote(name), alias), alias)
        message = "Requested method is not allowed, please refer to API document."
        raise ServerFailure(405, message, "MethodNotAllowedException")

    def _get(self, name: str, alias: str | None) -> Adapter:
        adapter = self._adapters.get(name)
        if adapter is None:
            raise ServerFailure(404, f"The adapter {alias or name} was not found")
        return adapter

    def _list(self, named: Mapping[str, str]) -> MemoryReply:
        limit, first = _whole(named, "limit", _PAGE), max(_whole(named, "next_page_token", 0), 0)
        last = first + (limit if 0 <= limit <= _PAGE else _PAGE)
        adapters = list(self._adapters.values())
        document: dict[str, Any] = {"adapters": [one.document() for one in adapters[first:last]]}
        if last < len(adapters):
            document["nextPageToken"] = str(last)
        return _reply(document)

    async def _register(self, named: Mapping[str, str], alias: str | None) -> MemoryReply:
        for parameter in ("name", "src"):
            if not named.get(parameter):
                raise ServerFailure(400, f"Parameter {parameter} is required.")
        name, source = named["name"], named["src"]
        if urlsplit(source).scheme not in ("", "file"):
            raise ServerFailure(409, "URL adapters are not currently supported", "IllegalArgumentException")
        if name in self._adapters:
            raise ServerFailure(
                409,
                f"The adapter {alias or name} already exists. If you want to replace it, please unregistering before "
                "registering a new adapter with the same name.",
                "IllegalArgumentException",
            )
        adapter = Adapter(name=name, source=source, preload=_flag(named, "preload", True), pin=_flag(named, "pin"))
        folder = Path(source.removeprefix("file://"))
        if (folder / "model.py").is_file():
            try:
                adapter.code = load_code(folder, four_times=self._four_times, adapter=name)
            except LocalError as error:
                raise ServerFailure(424, f"Failed to load custom code for adapter {name}: {error}") from error
        if not folder.exists():
            raise ServerFailure(424, f"Only local LoRA models are supported. {source} is not a valid path")
        if adapter.pin and not adapter.preload:
            raise ServerFailure(424, "Can not set preload to false and pin to true")
        if adapter.preload:
            await self._load(adapter)
        self._adapters[name] = adapter
        return _status(f"Adapter {alias or name} registered")

    async def _update(self, adapter: Adapter, named: Mapping[str, str], alias: str | None) -> MemoryReply:
        preload, pin = _flag(named, "preload", adapter.preload), _flag(named, "pin", adapter.pin)
        if pin and not preload:
            raise ServerFailure(424, "Can not set load to false and pin to true")
        if named.get("src", adapter.source) != adapter.source:
            raise ServerFailure(424, "Updating adapter path is not supported.")
        if preload != adapter.preload:
            await (self._load(adapter) if preload else self._unload(adapter))
        if adapter.pin and not pin:
            shown = alias or adapter.name
            raise ServerFailure(
                424,
                f"Unpinning adapter is not supported. To unpin adapter '{shown}', please delete the adapter and "
                "re-register it without pinning.",
            )
        adapter.preload, adapter.pin = preload, pin
        return _status(f"Adapter {alias or adapter.name} updated")

    async def _unregister(self, adapter: Adapter, alias: str | None) -> MemoryReply:
        if adapter.loaded or not self._lazy:
            await self._unload(adapter)
        del self._adapters[adapter.name]
        return _status(f"Adapter {alias or adapter.name} unregistered")

    async def _load(self, adapter: Adapter) -> None:
        place = adapter.source.removeprefix("file://")
        await self._change("load", {"lora_name": adapter.name, "lora_path": place, "load_inplace": True})
        adapter.loaded = True

    async def _unload(self, adapter: Adapter) -> None:
        if not adapter.loaded:
            raise ServerFailure(424, f"LoRA adapter {adapter.name} not found in registry")
        await self._change("unload", {"lora_name": adapter.name})
        adapter.loaded = False

    async def _change(self, what: str, body: Mapping[str, object]) -> None:
        path = f"/v1/{what}_lora_adapter"
        reply = await self._engine.send(ContainerRequest(method="POST", path=path, headers=JSON, body=encoded(body)))
        answer = await read_body(reply)
        if reply.status == 200:
            return
        message = engine_message(answer)
        raise ServerFailure(507 if any(one in message for one in _NO_SLOT) else 424, message)


def engine_message(answer: bytes) -> str:
    """Return the message in an error of the engine's."""
    try:
        return str(json.loads(answer)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return answer.decode("utf-8", "replace")


def _flag(named: Mapping[str, str], name: str, otherwise: bool = False) -> bool:
    return named[name].lower() == "true" if name in named else otherwise


def _whole(named: Mapping[str, str], name: str, otherwise: int) -> int:
    try:
        return int(named.get(name, otherwise))
    except ValueError as error:
        raise ServerFailure(400, f"Invalid parameter {name}={named[name]}") from error


def _status(text: str) -> MemoryReply:
    return _reply({"status": text})


def _reply(document: Mapping[str, Any]) -> MemoryReply:
    return MemoryReply(headers=JSON, source=encoded(document))
