"""What goes over the loopback to an engine and back, against a server of raw bytes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable

import pytest

from warmstack.local.container import ContainerGoneError, ContainerRequest, read_body
from warmstack.local.engines.connection import LARGE_BODY_BYTES, HttpContainer

Handler = Callable[[bytes, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
POST = ContainerRequest(method="POST", path="/invocations?x=%2F1", headers={"content-type": "a/b"}, body=b"{}")


def run(handler: Handler, scenario: Callable[[HttpContainer], Awaitable[None]]) -> None:
    """Run a scenario against a server that hands each request's head to a handler."""

    async def whole() -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await handler(await reader.readuntil(b"\r\n\r\n"), reader, writer)
            except (asyncio.IncompleteReadError, ConnectionError):
                pass
            finally:
                writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        try:
            async with asyncio.timeout(20), HttpContainer(f"http://127.0.0.1:{port}") as container:
                await scenario(container)
        finally:
            server.close()
            await server.wait_closed()

    asyncio.run(whole())


def test_request_and_answer_are_unmodified() -> None:
    heads: list[bytes] = []

    async def handler(head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(head + await reader.readexactly(2))
        writer.write(
            b"HTTP/1.1 418 Teapot\r\nContent-Length: 3\r\nDate: now\r\nX-A: 1\r\nX-a: 2\r\nConnection: close\r\n\r\nabc"
        )
        await writer.drain()

    async def scenario(container: HttpContainer) -> None:
        reply = await container.send(
            ContainerRequest(
                method="POST",
                path="/invocations?x=%2F1",
                headers={"content-type": "a/b", "x-amzn-sagemaker-session-id": "s", "host": "h", "content-length": "9"},
                body=b"{}",
            )
        )
        assert (reply.status, reply.headers) == (418, {"x-a": "1, 2"})
        assert await read_body(reply) == b"abc"

    run(handler, scenario)
    lines = heads[0].split(b"\r\n")
    assert lines[0] == b"POST /invocations?x=%2F1 HTTP/1.1"
    assert {line.lower() for line in lines[1:]} >= {b"content-type: a/b", b"x-amzn-sagemaker-session-id: s", b"{}"}
    assert b"content-length: 2" in heads[0].lower()
    for added in (b"accept-encoding", b"user-agent", b"host: h\r"):
        assert added not in heads[0].lower()


def test_pieces_come_as_they_are_made() -> None:
    seen = asyncio.Event()

    async def handler(head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
        await writer.drain()
        async with asyncio.timeout(5):
            await seen.wait()
        writer.write(b"3\r\ntwo\r\n0\r\n\r\n")
        await writer.drain()

    async def scenario(container: HttpContainer) -> None:
        pieces: list[bytes] = []
        async for piece in (await container.send(POST)).pieces():
            pieces.append(piece)
            seen.set()
        assert pieces == [b"one", b"two"]

    run(handler, scenario)


def test_an_answer_that_is_closed_early_is_aborted() -> None:
    aborted = asyncio.Event()

    async def handler(head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n")
        await writer.drain()
        await reader.read()
        aborted.set()

    async def scenario(container: HttpContainer) -> None:
        reply = await container.send(POST)
        await reply.close()
        await reply.close()
        async with asyncio.timeout(5):
            await aborted.wait()
        assert aborted.is_set()

    run(handler, scenario)


def test_a_large_body_arrives_whole() -> None:
    received: list[int] = []

    async def handler(head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(len(await reader.readexactly(3 * LARGE_BODY_BYTES)))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()

    async def scenario(container: HttpContainer) -> None:
        request = ContainerRequest(method="POST", path="/", body=bytes(3 * LARGE_BODY_BYTES))
        assert await read_body(await container.send(request)) == b""

    run(handler, scenario)
    assert received == [3 * LARGE_BODY_BYTES]


@pytest.mark.parametrize(
    "head", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", b"not HTTP\r\n\r\n"], ids=["none", "cut", "odd"]
)
def test_a_connection_that_breaks(head: bytes) -> None:
    async def handler(_: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        await writer.drain()

    async def scenario(container: HttpContainer) -> None:
        with pytest.raises(ContainerGoneError, match="broke before the answer was complete"):
            await read_body(await container.send(POST))

    run(handler, scenario)


def test_nobody_there_and_closed() -> None:
    async def scenario() -> None:
        container = HttpContainer("http://127.0.0.1:9")
        with pytest.raises(ContainerGoneError, match="does not accept connections"):
            await container.send(POST)
        await container.close()
        await container.close()
        with pytest.raises(ContainerGoneError, match=r"the engine at http://127.0.0.1:9 was stopped"):
            await container.send(POST)

    asyncio.run(scenario())


def test_proxies_of_the_environment_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")

    async def handler(head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        await writer.drain()

    async def scenario(container: HttpContainer) -> None:
        assert await read_body(await container.send(POST)) == b"ok"

    run(handler, scenario)


def test_without_the_extra_the_message_says_what_to_install() -> None:
    script = (
        "import sys; sys.modules['aiohttp'] = None\n"
        "from warmstack.errors import WarmstackError\n"
        "try:\n    import warmstack.local.engines\n"
        "except WarmstackError as error:\n    print(type(error).__name__, error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout == (
        "LocalError the local endpoint needs aiohttp, which is not installed: pip install 'warmstack[local]', or in a "
        "clone make setup\n"
    )
