"""SGLang's images: ours, whose session server runs here as it is, and the stock ones, which have none of it."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import replace
from pathlib import Path

from warmstack.assembly import ModelDefinition
from warmstack.local.container import Container, ContainerReply, ContainerRequest
from warmstack.local.dialects.asgi import AsgiContainer, AsgiReply
from warmstack.local.dialects.authored_code import session_server
from warmstack.local.dialects.sglang_client import InProcessClient
from warmstack.local.dialects.sglang_engine import SglangEngine
from warmstack.local.dialects.vllm_formatters import FORMATTERS, base_formatters
from warmstack.local.errors import LocalError

_STOCK = ("sglang", "huggingface-sglang")
_OF_THE_PROCESS = ("WARMSTACK_ENGINE_PYTHON", "WARMSTACK_HOST", FORMATTERS)


def is_stock(model: ModelDefinition) -> bool:
    """Return whether a model's image is one of AWS's, which carry no session server."""
    repository = model.image.rsplit("@", 1)[0].rsplit("/", 1)[-1].split(":", 1)[0]
    return model.staged is None and repository in _STOCK


def sglang_dialect(model: ModelDefinition, engine: Container, *, clock: Callable[[], float] = time.time) -> Container:
    """Return a container of an image of SGLang's.

    Args:
        model: The model.
        engine: The engine.
        clock: Seconds since the epoch, for sessions.

    Raises:
        LocalError: The session server would not start.
    """
    played = SglangEngine(engine)
    return played if is_stock(model) else SessionServerDialect(model, played, clock=clock)


class SessionServerDialect:
    """A container of an image of ours: the session server, in this process, in front of an engine.

    Args:
        model: The model; its environment holds the server's settings.
        engine: The engine, asked as SGLang is.
        clock: Seconds since the epoch, for sessions.

    Raises:
        LocalError: The server would not start.
    """

    def __init__(self, model: ModelDefinition, engine: Container, *, clock: Callable[[], float]) -> None:
        errors, health = session_server("errors"), session_server("health")
        app = session_server("app")
        self._engine = engine
        self._client = InProcessClient(engine)
        self._adopted = False
        # Nothing can stall here without being gone, and the engine is ready before this is made.
        state = health.EngineHealth(stall_seconds=math.inf)
        state.note_ready()
        try:
            settings = session_server("settings").Settings.from_environment(_environment(model))
            settings = replace(settings, adapter_roots=(Path("/"),))  # the run's folder; only the platform registers
            self._services = app.make_services(settings, self._client, state, clock=clock)
        except errors.SessionServerError as error:
            raise LocalError(f"{model.name}: the session server would not start: {error}") from error
        self._app = AsgiContainer(app.make_app(self._services))

    async def send(self, request: ContainerRequest) -> ContainerReply:
        """Answer a request as the container does.

        Raises:
            ContainerGoneError: The engine is gone, and with it the container.
        """
        if request.path == "/ping":
            await (await self._engine.send(ContainerRequest(method="GET", path="/health"))).close()
        if not self._adopted:
            # As the server does when its engine is ready: the base model's name, and adapters from the start.
            _, models = await self._client.call("GET", "/v1/models")
            self._services.adapters.adopt(models)
            self._adopted = True
        reply = await self._app.send(request)
        if self._client.gone is not None:
            await reply.close()
            raise self._client.gone
        return _Reply(reply, self._client)


class _Reply:
    """An answer that breaks when the engine is gone: the container ends with it."""

    def __init__(self, reply: AsgiReply, client: InProcessClient) -> None:
        self._reply = reply
        self._client = client
        self.status = reply.status
        self.headers: Mapping[str, str] = reply.headers

    async def pieces(self) -> AsyncIterator[bytes]:
        async for piece in self._reply.pieces():
            if self._client.gone is not None:
                break
            yield piece
        if self._client.gone is not None:
            raise self._client.gone

    async def close(self) -> None:
        await self._reply.close()


def _environment(model: ModelDefinition) -> dict[str, str]:
    """Return the environment without what belongs to the process, with formatters where they are here."""
    kept = {key: value for key, value in model.environment.items() if key not in _OF_THE_PROCESS}
    formatters = base_formatters(model)
    return kept if formatters is None else kept | {FORMATTERS: str(formatters)}
