"""The vLLM image in front of a simulated engine: what model-hosting-container-standards 0.1.16 adds to vLLM 0.32.

A real vLLM carries that library itself, and needs nothing in front of it. What is written here was read from the two
and measured, and a test holds both to the same table.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote

from warmstack.assembly import ModelDefinition
from warmstack.local.container import Container, ContainerReply, ContainerRequest, MemoryReply, read_body
from warmstack.local.dialects.container_sessions import ContainerSessions
from warmstack.local.dialects.vllm_refusals import (
    DISABLED,
    JSON,
    NO_HANDLER,
    NOT_JSON_TYPE,
    Refusal,
    check_session_request,
    decoded,
    framework_reply,
    no_object,
    registration,
)
from warmstack.local.simulated.forms import NO_PROMPT, chat_problems, completion_problems
from warmstack.local.wire.headers import ADAPTER_IDENTIFIER, CLOSED_SESSION_ID, NEW_SESSION, NEW_SESSION_ID, SESSION_ID

ADAPTER_ALIAS = "x-amzn-sagemaker-adapter-alias"
_METHODS = {"/ping": ("GET", "POST"), "/invocations": ("POST",), "/adapters": ("POST",)}


class VllmDialect:
    """A container of the vLLM image.

    Args:
        model: The model; its environment says whether there are sessions.
        engine: The engine.
        clock: Seconds since the epoch, for sessions.
    """

    def __init__(self, model: ModelDefinition, engine: Container, *, clock: Callable[[], float] = time.time) -> None:
        self._engine = engine
        environment = model.environment
        enabled = environment.get("SAGEMAKER_ENABLE_STATEFUL_SESSIONS", "").lower() in ("true", "1")
        seconds = environment.get("SAGEMAKER_SESSIONS_EXPIRATION", "")
        expiration = int(seconds) if seconds.isdigit() else 1200
        self._sessions = ContainerSessions(expiration, clock=clock) if enabled else None

    async def send(self, request: ContainerRequest) -> ContainerReply:
        """Answer a request as the container does."""
        path, _, query = request.path.partition("?")
        methods = ("DELETE",) if path.startswith("/adapters/") and path.count("/") == 2 else _METHODS.get(path)
        if methods is None:
            return await self._engine.send(request)
        if request.method not in methods:
            return framework_reply(405)
        try:
            if path == "/ping":
                return await self._engine.send(ContainerRequest(method="GET", path="/health"))
            if path == "/invocations":
                return await self._invoke(request)
            alias = request.headers.get(ADAPTER_ALIAS)
            if path == "/adapters":
                return await self._register(request, query, alias)
            return await self._unregister(unquote(path.removeprefix("/adapters/")), alias)
        except Refusal as refusal:
            return refusal.reply()

    async def _invoke(self, request: ContainerRequest) -> ContainerReply:
        if request.headers.get("content-type", "").lower().split(";", 1)[0] != "application/json":
            raise Refusal(400, NOT_JSON_TYPE)
        body = decoded(request.body)
        session = request.headers.get(SESSION_ID)
        if isinstance(body, dict) and "requestType" in body:
            check_session_request(body)
            return self._session_request(body["requestType"], session)
        if session and isinstance(body, dict | list | str):
            self._check(session)
        if not isinstance(body, dict):
            raise no_object(body)
        # The adapter's header decides, also by its absence: a model that the body names is lost.
        body["model"] = request.headers.get(ADAPTER_IDENTIFIER)
        inner = json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
        return await self._engine.send(ContainerRequest(method="POST", path=_path(body), headers=JSON, body=inner))

    def _session_request(self, kind: str, session: str | None) -> MemoryReply:
        if self._sessions is None:
            raise Refusal(400, DISABLED)
        if session:
            self._check(session)
        if kind == NEW_SESSION:
            opened, header = self._sessions.open()
            return MemoryReply(headers={NEW_SESSION_ID: header}, source=f"Session {opened} created".encode())
        if not session or session not in self._sessions:
            problem = f"session not found: {session}" if session else f"invalid session_id: {session}"
            raise Refusal(424, f"Failed to close session: {problem}")
        self._sessions.drop(session)
        return MemoryReply(headers={CLOSED_SESSION_ID: session}, source=f"Session {session} closed".encode())

    def _check(self, session: str) -> None:
        if self._sessions is None:
            raise Refusal(400, f"{DISABLED}, X-Amzn-SageMaker-Session-Id header not supported")
        if session == NEW_SESSION:
            return
        if session not in self._sessions:
            raise Refusal(400, f"Bad request: session not found: {session}")
        if self._sessions.has_expired(session):
            # This one request is served all the same; the next one finds no session.
            self._sessions.drop(session)

    async def _register(self, request: ContainerRequest, query: str, alias: str | None) -> ContainerReply:
        wanted: object
        try:
            wanted = json.loads(request.body)
        except ValueError:
            wanted = dict(parse_qsl(query, keep_blank_values=True))
        name, folder = registration(wanted)
        told = f"Adapter {alias or name} registered"
        return await self._change("/v1/load_lora_adapter", {"lora_name": name, "lora_path": folder}, told)

    async def _unregister(self, name: str, alias: str | None) -> ContainerReply:
        return await self._change(
            "/v1/unload_lora_adapter", {"lora_name": name}, f"Adapter {alias or name} unregistered"
        )

    async def _change(self, path: str, body: Mapping[str, object], done: str) -> ContainerReply:
        inner = json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
        reply = await self._engine.send(ContainerRequest(method="POST", path=path, headers=JSON, body=inner))
        if reply.status != 200:
            return reply
        await read_body(reply)
        # Without a content type, as the standards write it.
        return MemoryReply(source=done.encode("utf-8", "surrogatepass"))


def _path(body: Mapping[str, Any]) -> str:
    """Return the path of the first form that a body fits.

    Raises:
        Refusal: It fits none.
    """
    if not chat_problems(body):
        return "/v1/chat/completions"
    if body.get("prompt") in (None, "", []):
        # No error of the form's in vLLM, but one of its value: the search ends there.
        raise Refusal(400, NO_PROMPT, kind="BadRequestError", param="prompt")
    if not completion_problems(body):
        return "/v1/completions"
    raise Refusal(400, NO_HANDLER, kind="BadRequestError")
