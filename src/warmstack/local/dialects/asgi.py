"""ASGI applications in this process as containers, and containers as ASGI applications.

The servers that Warmstack's images carry are ASGI applications. So a dialect can be the image's own code.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from typing import Any
from urllib.parse import unquote

from warmstack.local.container import Container, ContainerGoneError, ContainerRequest

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
WAITING_PIECES = 8
"""How far an application may be ahead of whoever reads; a connection's buffers hold a few pieces likewise."""
_OF_THE_TRANSPORT = frozenset({"connection", "content-length", "date", "server", "transfer-encoding"})


class AsgiContainer:
    """A container that is an ASGI application.

    Args:
        app: The application.
    """

    def __init__(self, app: App) -> None:
        self._app = app

    async def send(self, request: ContainerRequest) -> AsgiReply:
        """Send a request and wait for the head of its answer.

        Raises:
            ContainerGoneError: The application asks a container that is gone.
        """
        reply = AsgiReply(self._app, request)
        await reply.begin()
        return reply


class AsgiReply:
    """An answer whose head has come. Closing it cancels the application, as a client that goes away would.

    Args:
        app: The application.
        request: What it is asked.
    """

    def __init__(self, app: App, request: ContainerRequest) -> None:
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self._body = [request.body]
        self._pieces: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._room = asyncio.Semaphore(WAITING_PIECES)
        self._started = asyncio.Event()
        self._error: Exception | None = None
        self._task = asyncio.create_task(self._run(app, _scope(request)))

    async def begin(self) -> None:
        """Wait for the head."""
        try:
            await self._started.wait()
        except BaseException:
            await self.close()
            raise
        if not self.status:
            raise self._error or ContainerGoneError("the server in this process ended a request without an answer")

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes."""
        while (piece := await self._pieces.get()) is not None:
            self._room.release()
            yield piece
        if self._error is not None:
            raise self._error

    async def close(self) -> None:
        """Let go of the answer."""
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    async def _run(self, app: App, scope: Scope) -> None:
        try:
            await app(scope, self._receive, self._send)
        except Exception as error:  # whoever reads gets it
            self._error = error
        finally:
            self._pieces.put_nowait(None)
            self._started.set()

    async def _receive(self) -> Message:
        if self._body:
            return {"type": "http.request", "body": self._body.pop(), "more_body": False}
        # Whoever goes away closes the reply, and that cancels the application.
        await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = int(message["status"])
            named = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in message["headers"]}
            self.headers = {key: value for key, value in named.items() if key not in _OF_THE_TRANSPORT}
            self._started.set()
        elif message.get("body"):
            await self._room.acquire()
            self._pieces.put_nowait(bytes(message["body"]))


class ContainerApp:
    """A container as an ASGI application, for what wraps one.

    Args:
        container: The container.
    """

    def __init__(self, container: Container) -> None:
        self._container = container

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        query = scope["query_string"].decode("latin-1")
        path = scope["raw_path"].decode("latin-1")
        body = b""
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        request = ContainerRequest(
            method=scope["method"],
            path=f"{path}?{query}" if query else path,
            headers={key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]},
            body=body,
        )
        reply = await self._container.send(request)
        try:
            headers = [(key.encode("latin-1"), value.encode("latin-1")) for key, value in reply.headers.items()]
            await send({"type": "http.response.start", "status": reply.status, "headers": headers})
            async for piece in reply.pieces():
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            await reply.close()


def _scope(request: ContainerRequest) -> Scope:
    path, _, query = request.path.partition("?")
    headers = {key: value for key, value in request.headers.items() if key not in _OF_THE_TRANSPORT}
    headers["content-length"] = str(len(request.body))
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode("latin-1"),
        "query_string": query.encode("latin-1"),
        "root_path": "",
        "headers": [(key.encode("latin-1"), value.encode("latin-1")) for key, value in headers.items()],
        "client": ("127.0.0.1", 0),
        "server": ("127.0.0.1", 8080),
    }
