"""The vLLM image in front of a simulated engine: what model-hosting-container-standards 0.1.16 adds to vLLM 0.32.

A real vLLM carries that library itself, and needs nothing in front of it. What is written here was read from the two,
and a test holds both to the same table.
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
from warmstack.local.wire.headers import ADAPTER_IDENTIFIER, CLOSED_SESSION_ID, NEW_SESSION, NEW_SESSION_ID, SESSION_ID

JSON = {"content-type": "application/json"}
PLAIN = {"content-type": "text/plain; charset=utf-8"}
DISABLED = "Invalid payload. stateful sessions not enabled"
_TYPES = {400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 415: "Unsupported Media Type"}


class _Refusal(Exception):  # noqa: N818  (an answer, not a defect)
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


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
        try:
            match (request.method, path):
                case ("GET" | "POST", "/ping"):
                    return MemoryReply()
                case ("POST", "/invocations"):
                    return await self._invoke(request)
                case ("POST", "/adapters"):
                    return await self._register(request, query)
                case ("DELETE", _) if path.startswith("/adapters/"):
                    return await self._unregister(unquote(path.removeprefix("/adapters/")))
                case _:
                    return await self._engine.send(request)
        except _Refusal as refusal:
            return MemoryReply(status=refusal.status, headers=JSON, source=_error(refusal.status, refusal.message))

    async def _invoke(self, request: ContainerRequest) -> ContainerReply:
        media = request.headers.get("content-type", "").lower().partition(";")[0].strip()
        if media != "application/json":
            raise _Refusal(415, "Unsupported Media Type: Only 'application/json' is allowed")
        body = _decoded(request.body)
        if not isinstance(body, dict):
            raise _Refusal(400, "the body must be a JSON object")
        session = request.headers.get(SESSION_ID)
        if "requestType" in body:
            return self._session_request(body, session)
        if session is not None:
            self._check(session)
        # The adapter's header decides, also by its absence: a model that the body names is lost.
        body["model"] = request.headers.get(ADAPTER_IDENTIFIER)
        for key, path in (("messages", "/v1/chat/completions"), ("prompt", "/v1/completions")):
            if key in body:
                inner = json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
                return await self._engine.send(ContainerRequest(method="POST", path=path, headers=JSON, body=inner))
        raise _Refusal(400, "Cannot find suitable handler for request. Expected one of: messages, prompt")

    def _session_request(self, body: Mapping[str, Any], session: str | None) -> MemoryReply:
        kind = body["requestType"]
        if len(body) > 1 or kind not in ("NEW_SESSION", "CLOSE"):
            raise _Refusal(400, "requestType must be NEW_SESSION or CLOSE, and stand alone")
        if self._sessions is None:
            raise _Refusal(400, DISABLED)
        if session is not None:
            self._check(session)
        if kind == "NEW_SESSION":
            opened, header = self._sessions.open()
            return MemoryReply(headers=PLAIN | {NEW_SESSION_ID: header}, source=f"Session {opened} created".encode())
        if session is None or session not in self._sessions:
            problem = f"session not found: {session}" if session else f"invalid session_id: {session}"
            raise _Refusal(424, f"Failed to close session: {problem}")
        self._sessions.drop(session)
        return MemoryReply(headers=PLAIN | {CLOSED_SESSION_ID: session}, source=f"Session {session} closed".encode())

    def _check(self, session: str) -> None:
        if self._sessions is None:
            raise _Refusal(400, f"{DISABLED}, X-Amzn-SageMaker-Session-Id header not supported")
        if session == NEW_SESSION:
            return
        if session not in self._sessions:
            raise _Refusal(400, f"Bad request: session not found: {session}")
        if self._sessions.has_expired(session):
            # This one request is served all the same; the next one finds no session.
            self._sessions.drop(session)

    async def _register(self, request: ContainerRequest, query: str) -> ContainerReply:
        wanted: Any = None
        try:
            wanted = json.loads(request.body)
        except ValueError:
            wanted = dict(parse_qsl(query))
        if not isinstance(wanted, dict) or not wanted.get("name") or not wanted.get("src"):
            raise _Refusal(400, "name and src are required")
        return await self._change(
            "/v1/load_lora_adapter",
            {"lora_name": wanted["name"], "lora_path": wanted["src"]},
            f"Adapter {wanted['name']} registered",
        )

    async def _unregister(self, name: str) -> ContainerReply:
        return await self._change("/v1/unload_lora_adapter", {"lora_name": name}, f"Adapter {name} unregistered")

    async def _change(self, path: str, body: Mapping[str, object], done: str) -> ContainerReply:
        reply = await self._engine.send(
            ContainerRequest(method="POST", path=path, headers=JSON, body=json.dumps(body).encode())
        )
        if reply.status != 200:
            return reply
        await read_body(reply)
        return MemoryReply(headers=PLAIN, source=done.encode())


def _decoded(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise _Refusal(400, f"JSON decode error: {error}") from error


def _error(status: int, message: str) -> bytes:
    kind = _TYPES.get(status, "Failed Dependency")
    document = {"error": {"message": message, "type": kind, "param": None, "code": status}}
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass")
