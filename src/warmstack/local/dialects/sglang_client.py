"""What the session server calls its engine with, in this process: the interface of ``session_server.engine_client``."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

from warmstack.local.container import Container, ContainerGoneError, ContainerReply, ContainerRequest, read_body
from warmstack.local.dialects.authored_code import session_server

JSON = {"content-type": "application/json"}


class InProcessClient:
    """Calls a container as the session server's own client calls an engine over HTTP.

    Args:
        container: The engine, asked as SGLang is.
    """

    def __init__(self, container: Container) -> None:
        self._container = container
        self.gone: ContainerGoneError | None = None

    async def send(self, method: str, path: str, body: bytes | None = None, *, generates: bool = True) -> Any:  # noqa: ARG002  (nothing here watches the progress)
        """Send a request and wait for the head of its answer."""
        headers = {} if body is None else JSON
        request = ContainerRequest(method=method, path=path, headers=headers, body=body or b"")
        try:
            return _Answer(await self._container.send(request), self)
        except ContainerGoneError as error:
            raise self.lost(error) from error

    async def call(self, method: str, path: str, value: object = None, *, timeout_seconds: float | None = None) -> Any:
        """Send a value as JSON and return status and answer, decoded if it is JSON."""
        body = None if value is None else json.dumps(value).encode()
        async with asyncio.timeout(timeout_seconds):
            answer = await self.send(method, path, body)
            raw = await answer.read()
        with suppress(ValueError):
            return answer.status, json.loads(raw)
        return answer.status, raw.decode("utf-8", "replace")

    def lost(self, error: ContainerGoneError) -> Exception:
        """Note that the engine is gone, and return the server's own error for it."""
        self.gone = error
        unreachable: Exception = session_server("errors").EngineUnreachableError(str(error))
        return unreachable


class _Answer:
    def __init__(self, reply: ContainerReply, client: InProcessClient) -> None:
        self._reply = reply
        self._client = client
        self._closing: asyncio.Task[None] | None = None
        self.status = reply.status
        self.content_type = reply.headers.get("content-type", "application/json")

    @property
    def is_stream(self) -> bool:
        return self.content_type.startswith("text/event-stream")

    async def read(self) -> bytes:
        try:
            return await read_body(self._reply)
        except ContainerGoneError as error:
            raise self._client.lost(error) from error

    async def chunks(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._reply.pieces():
                yield piece
        except ContainerGoneError as error:
            raise self._client.lost(error) from error

    def close(self) -> None:
        if self._closing is None:
            self._closing = asyncio.ensure_future(self._reply.close())
