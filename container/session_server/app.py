"""The HTTP surface: which path does what."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from pydantic_core import from_json
from starlette.exceptions import HTTPException
from starlette.routing import Route

from session_server.adapter_paths import adapter_folder, formatter_file
from session_server.adapter_references import check_adapter_name
from session_server.adapters import Adapter, AdapterRegistry, model_cards
from session_server.bodies import Bodies, ClientGoneError
from session_server.endpoint import InferenceEndpoint, unexpected
from session_server.engine_client import EngineClient
from session_server.errors import BadRequestError, RequestError
from session_server.formatting import Formatters, load_formatters
from session_server.forms import Form
from session_server.gateway import Gateway
from session_server.health import EngineHealth
from session_server.limits import RequestSlots
from session_server.replies import Reply, error_reply, json_reply
from session_server.sessions import SessionTable
from session_server.settings import Settings

UNLOAD_WAIT_SECONDS = 20.0
"""How long DELETE /adapters waits for requests that still use the adapter; the unload goes on after that."""
ADAPTER_KEYS = frozenset({"name", "src", "preload", "pin"})
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """What the paths work with.

    Args:
        settings: What the environment says.
        engine: Calls the engine.
        adapters: The registered adapters.
        health: The engine's state.
        sessions: The open sessions; None when sessions are off.
        formatters: The base's formatters, if it has some.
        bodies: Reads the bodies of requests.
    """

    settings: Settings
    engine: EngineClient
    adapters: AdapterRegistry
    health: EngineHealth
    sessions: SessionTable | None
    formatters: Formatters | None
    bodies: Bodies


def make_services(settings: Settings, engine: EngineClient, health: EngineHealth, **session_options: Any) -> Services:
    """Put the parts together.

    Args:
        settings: What the environment says.
        engine: Calls the engine.
        health: The engine's state.
        session_options: The clock and the maker of ids of the session table, for tests.

    Raises:
        RequestError: The base's formatters cannot be loaded.
    """
    sessions = SessionTable(
        expiration_seconds=settings.sessions_expiration_seconds,
        max_sessions=settings.sessions_max,
        sliding=settings.sessions_sliding,
        **session_options,
    )
    return Services(
        settings=settings,
        engine=engine,
        adapters=AdapterRegistry(engine=engine, load_formatters=_adapter_formatters),
        health=health,
        sessions=sessions if settings.sessions_enabled else None,
        formatters=load_formatters(settings.formatters) if settings.formatters else None,
        bodies=Bodies(
            max_bytes=settings.max_body_bytes,
            seconds=settings.body_seconds,
            arriving_bytes=settings.max_arriving_bytes,
        ),
    )


def make_app(services: Services) -> FastAPI:
    """Return the ASGI application."""
    # No pages about the interface: what is not needed to serve is not there to be reached.
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    gateway = Gateway(
        engine=services.engine,
        adapters=services.adapters,
        sessions=services.sessions,
        formatters=services.formatters,
    )
    slots = RequestSlots(services.settings.max_concurrent_requests)
    paths = (
        ("/invocations", None),
        ("/v1/chat/completions", Form.CHAT),
        ("/v1/completions", Form.COMPLETION),
    )
    for path, only in paths:
        endpoint = InferenceEndpoint(gateway=gateway, slots=slots, bodies=services.bodies, only=only)
        app.router.routes.append(Route(path, endpoint, methods=["POST"]))
    _add_health(app, services)
    _add_adapters(app, services)
    _add_error_handlers(app)
    return app


def _add_health(app: FastAPI, services: Services) -> None:
    @app.get("/ping")
    async def ping() -> Response:
        problem = services.health.problem
        return Response() if problem is None else _response(json_reply({"status": problem}, status=503))

    @app.get("/v1/models")
    async def models() -> Response:
        status, answer = await services.engine.call("GET", "/v1/models")
        if cards := model_cards(answer):
            listed = {card["id"] for card in cards}
            waiting = [one.name for one in services.adapters.list() if one.name not in listed]
            answer["data"] += [cards[0] | {"id": name, "root": name, "parent": cards[0]["id"]} for name in waiting]
        return _response(json_reply(answer, status=status))

    @app.get("/metrics")
    async def metrics() -> Response:
        answer = await services.engine.send("GET", "/metrics", generates=False)
        return _response(Reply(body=await answer.read(), status=answer.status, content_type=answer.content_type))


def _add_adapters(app: FastAPI, services: Services) -> None:
    registry, roots = services.adapters, services.settings.adapter_roots

    @app.get("/adapters")
    async def list_adapters() -> Response:
        return _response(json_reply({"adapters": [_described(adapter) for adapter in registry.list()]}))

    @app.post("/adapters")
    async def register(request: Request) -> Response:
        wanted = await _adapter_request(request, services.bodies)
        name = check_adapter_name(_text(wanted, "name"), "name")
        folder = await asyncio.to_thread(adapter_folder, _text(wanted, "src"), roots)
        preload, pin = _flag(wanted, "preload"), _flag(wanted, "pin")
        await registry.register(name, folder, preload=preload, pin=pin)
        return _response(json_reply({"status": f"Adapter {name} registered"}))

    @app.delete("/adapters/{name}")
    async def unregister(name: str) -> Response:
        unload = await registry.unregister(check_adapter_name(name, "name"))
        done, _ = await asyncio.wait([unload], timeout=UNLOAD_WAIT_SECONDS)
        if not done:
            note = f"Adapter {name} unregistered; it is unloaded when the requests that use it are done"
            return _response(json_reply({"status": note}, status=HTTPStatus.ACCEPTED))
        await unload
        return _response(json_reply({"status": f"Adapter {name} unregistered"}))


def _add_error_handlers(app: FastAPI) -> None:
    async def on_request_error(_request: Request, error: Exception) -> Response:
        if not isinstance(error, RequestError):
            raise error
        return _response(error_reply(error))

    async def on_http_error(request: Request, error: Exception) -> Response:
        if not isinstance(error, HTTPException):
            raise error
        message = f"{request.method} {request.url.path}: {error.detail}"
        known = RequestError(
            message, status=error.status_code, code="not_found" if error.status_code == 404 else "http"
        )
        return _response(error_reply(known))

    async def on_gone(_request: Request, _error: Exception) -> Response:
        return Response()  # to no one; without it the log would have a traceback for each

    async def on_any_error(_request: Request, _error: Exception) -> Response:
        return _response(error_reply(unexpected()))

    app.add_exception_handler(RequestError, on_request_error)
    app.add_exception_handler(HTTPException, on_http_error)
    app.add_exception_handler(ClientGoneError, on_gone)
    app.add_exception_handler(Exception, on_any_error)


def _adapter_formatters(folder: Path, name: str) -> Formatters | None:
    file = formatter_file(folder)
    return load_formatters(file, name) if file else None


async def _adapter_request(request: Request, bodies: Bodies) -> dict[str, Any]:
    """Return the JSON body, or without one the query."""
    headers = {key.lower(): value for key, value in request.headers.items()}
    raw = await bodies.read(request.receive, headers)
    if not raw.strip():
        wanted: Any = dict(request.query_params)
    else:
        wanted = None
        with suppress(ValueError):
            wanted = from_json(raw)
        if not isinstance(wanted, dict):
            raise BadRequestError("the body is no JSON object; send {name, src, preload, pin}", code="invalid_json")
    if unknown := sorted(wanted.keys() - ADAPTER_KEYS):
        _log.info("POST /adapters: keys that are not used here: %s", ", ".join(map(repr, unknown[:10])))
    return dict(wanted)


def _text(wanted: dict[str, Any], key: str) -> str:
    value = wanted.get(key)
    if not isinstance(value, str) or not value:
        raise BadRequestError(f"{key} is missing; POST /adapters needs name and src, as JSON or in the query")
    return value


def _flag(wanted: dict[str, Any], key: str) -> bool:
    value = wanted.get(key, False)
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if not isinstance(value, bool):
        raise BadRequestError(f"{key} is {str(value)[:40]!r}; it must be true or false")
    return value


def _described(adapter: Adapter) -> dict[str, object]:
    return {
        "name": adapter.name,
        "src": str(adapter.source) if adapter.source else None,
        "pin": adapter.pin,
        "loaded": adapter.loaded,
        "formatters": adapter.formatters is not None,
    }


def _response(reply: Reply) -> Response:
    headers = {"content-type": reply.content_type, **reply.headers}
    return Response(content=reply.body, status_code=reply.status, headers=headers)
