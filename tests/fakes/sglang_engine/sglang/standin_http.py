"""HTTP/1.1 for the stand-in: as much of it as an engine's clients use."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from http import HTTPStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request with its whole body; `gone` is set when its client goes away."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    def json(self) -> object:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """An answer: a body, or chunks that are sent as they come."""

    status: int = 200
    content_type: str = "application/json"
    body: bytes = b""
    chunks: AsyncGenerator[bytes] | None = None

    @classmethod
    def of(cls, value: object, status: int = 200) -> Response:
        return cls(status=status, body=json.dumps(value).encode())


class BrokenConnectionError(Exception):
    """The stand-in was told to drop the connection."""


Handler = Callable[[Request], Awaitable[Response]]


async def serve_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handler: Handler) -> None:
    """Answer the requests of one connection until it ends."""
    try:
        while request := await read_request(reader, writer):
            watcher = asyncio.ensure_future(watch(reader, request.gone))
            try:
                response = await handler(request)
                await send(writer, response)
            finally:
                watcher.cancel()
                await asyncio.gather(watcher, return_exceptions=True)
            if request.gone.is_set():
                break
    except (BrokenConnectionError, ConnectionError, asyncio.IncompleteReadError, TimeoutError):
        writer.transport.abort()
    except asyncio.CancelledError:
        # The process ends. asyncio.start_server would log a traceback for a connection that was cancelled.
        writer.transport.abort()
    finally:
        writer.close()


async def read_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Request | None:
    try:
        # SGLang's HTTP server closes a connection that was idle for five seconds.
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
    except (asyncio.IncompleteReadError, TimeoutError):
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {key.lower(): value.strip() for key, _, value in (line.partition(":") for line in lines if line)}
    if headers.get("expect") == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method=method, path=target.partition("?")[0], headers=headers, body=body)


async def watch(reader: asyncio.StreamReader, gone: asyncio.Event) -> None:
    """Set `gone` when the client closes the connection. (Its clients send no request before they have the answer.)"""
    while not reader.at_eof():
        await asyncio.sleep(0.05)
    gone.set()


async def send(writer: asyncio.StreamWriter, response: Response) -> None:
    head = (
        f"HTTP/1.1 {response.status} {HTTPStatus(response.status).phrase}\r\ncontent-type: {response.content_type}\r\n"
    )
    if response.chunks is None:
        writer.write(f"{head}content-length: {len(response.body)}\r\n\r\n".encode() + response.body)
        await writer.drain()
        return
    writer.write(f"{head}transfer-encoding: chunked\r\n\r\n".encode())
    await writer.drain()
    async with aclosing(response.chunks) as chunks:
        async for chunk in chunks:
            writer.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            await writer.drain()
    writer.write(b"0\r\n\r\n")
    await writer.drain()
