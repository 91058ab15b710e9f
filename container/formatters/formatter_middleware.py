"""An ASGI middleware that runs formatters on the requests and responses of an OpenAI server.

It needs the standard library only. It knows the adapters by what passes through it: ``POST /adapters`` names one and
its folder, ``DELETE /adapters/{name}`` forgets it, and the header of a request says which one is meant.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from formatted_response import Client, FormattedResponse
from warmstack_formatters import FormatterError, Formatters, error_body, is_session_request, load, to_text

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

ADAPTER_HEADER = b"x-amzn-sagemaker-adapter-identifier"
# What generates. SageMaker calls the first; the vLLM image can route it to the others by a custom attribute.
GENERATING = frozenset({"/invocations", "/v1/chat/completions", "/v1/completions"})
# Where SageMaker puts adapters and models. The middleware runs code before the server has looked at where it lies.
ROOTS = (Path("/opt/ml/models"), Path("/opt/ml/model"))
_LOG = logging.getLogger("warmstack")


class FormatterMiddleware:
    """Runs the formatters of the adapter that a request names, and else those of the base model.

    Args:
        app: the application behind it.
        base: the base model's formatters, or None without.
        roots: the folders in which an adapter's formatters may lie.
    """

    def __init__(self, app: App, base: Formatters | None = None, *, roots: Sequence[Path] = ROOTS) -> None:
        self._app, self._base, self._roots = app, base, tuple(roots)
        self._adapters: dict[str, Formatters] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        method, path = scope.get("method"), scope.get("path", "")
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif method == "POST" and path == "/adapters":
            await self._register(scope, receive, send)
        elif method == "DELETE" and path.startswith("/adapters/"):
            await self._unregister(path.removeprefix("/adapters/"), scope, receive, send)
        elif method == "POST" and path in GENERATING:
            await self._generate(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _register(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Load an adapter's formatters before its weights are; keep them when the server has taken it."""
        body = await _read(receive)
        if body is None:
            return
        name, source = _name_and_source(scope, body)
        try:
            # In a thread: the user's file may import what takes seconds, and others are being answered.
            formatters = await asyncio.to_thread(_formatters_in, source, name, self._roots)
        except FormatterError as error:
            await _refuse(send, error)
            return
        watched = _Watched(send)
        await self._app(scope, _replay(body, receive), watched)
        if watched.succeeded and name:
            self._adapters.pop(name, None)
            if formatters is not None:
                self._adapters[name] = formatters

    async def _unregister(self, name: str, scope: Scope, receive: Receive, send: Send) -> None:
        watched = _Watched(send)
        await self._app(scope, receive, watched)
        if watched.succeeded:
            self._adapters.pop(name, None)

    async def _generate(self, scope: Scope, receive: Receive, send: Send) -> None:
        adapter = self._adapters.get(_header(scope, ADAPTER_HEADER).decode("latin-1"))
        before = _first(adapter, self._base, "has_input")
        after = _first(adapter, self._base, "has_output")
        if before is None and after is None:
            await self._app(scope, receive, send)
            return
        body = await _read(receive)
        if body is None:
            return
        payload = _payload(scope, body)
        if payload is None or is_session_request(payload):
            await self._app(scope, _replay(body, receive), send)
            return
        if before is not None:
            try:
                body = to_text(before.input(payload)).encode()
            except FormatterError as error:
                await _refuse(send, error)
                return
            scope = _resized(scope, len(body))
        if after is None:
            await self._app(scope, _replay(body, receive), send)
            return
        response = FormattedResponse(after, Client(send))
        try:
            await self._app(scope, _replay(body, receive), response)
        except Exception:
            # What the application says about a client that this middleware has told good-bye.
            if not response.broken:
                raise


class _Watched:
    """A way to send that remembers whether the answer was a success."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.succeeded = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.succeeded = 200 <= message["status"] < 300
        await self._send(message)


def _first(adapter: Formatters | None, base: Formatters | None, wanted: str) -> Formatters | None:
    """Return the adapter's formatters where they have the wanted kind, else the base model's where they have it."""
    return next((one for one in (adapter, base) if one is not None and getattr(one, wanted)), None)


def _formatters_in(folder: str, adapter: str, roots: Sequence[Path]) -> Formatters | None:
    """Return the formatters in an adapter's folder, or None where it has none.

    Raises:
        FormatterError: they cannot be used, or lie outside the roots when every link is followed.
    """
    try:
        path = (Path(folder) / "formatters.py").resolve(strict=True)
        if not adapter or not path.is_file():
            return None
    except (OSError, RuntimeError, ValueError):
        # A path that is none (too long, with a null byte, links in a circle) is the server's to refuse.
        return None
    if not any(path.is_relative_to(root.resolve()) for root in roots):
        allowed = ", ".join(map(str, roots))
        raise FormatterError(
            f"the formatters of {adapter} are not run: they must lie inside {allowed}, also after links are followed"
        )
    return load(path, adapter, adapter=adapter)


async def _read(receive: Receive) -> bytes | None:
    """Return the whole body of a request, or None when the client has gone."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a way to receive that gives the body once, and then what the client does."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


def _header(scope: Scope, name: bytes) -> bytes:
    return next((value for key, value in scope.get("headers", ()) if key.lower() == name), b"")


def _payload(scope: Scope, body: bytes) -> dict[str, Any] | None:
    """Return the object that a request holds as JSON; what is no such object is the server's to refuse."""
    kind = _header(scope, b"content-type")
    if kind and b"json" not in kind.lower():
        return None
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return payload if isinstance(payload, dict) else None


def _resized(scope: Scope, length: int) -> Scope:
    """Return the scope of a request whose body has another length."""
    dropped = (b"content-length", b"transfer-encoding")
    headers = [(key, value) for key, value in scope.get("headers", ()) if key.lower() not in dropped]
    return {**scope, "headers": [*headers, (b"content-length", str(length).encode())]}


def _name_and_source(scope: Scope, body: bytes) -> tuple[str, str]:
    """Return what a registration names: JSON in the body, or the query without such a body."""
    try:
        values = json.loads(body)
    except (ValueError, RecursionError):
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
        values = {key: found[0] for key, found in query.items()}
    values = values if isinstance(values, dict) else {}
    name, source = values.get("name"), values.get("src")
    return (name, source) if isinstance(name, str) and isinstance(source, str) else ("", "")


async def _refuse(send: Send, error: FormatterError) -> None:
    _LOG.error("%s", error)
    await Client(send).whole(424, [], to_text(error_body(error)).encode(), b"application/json")
