"""The server's life: it listens, its copies start, it serves until a signal or a request to stop, and nothing is left.

::

    bind ─▶ serve (endpoints say Creating) ─▶ copies start ─▶ ready ─▶ SIGINT, SIGTERM, POST stop ─▶ copies stop ─▶ end
"""

from __future__ import annotations

import asyncio
import errno
import resource
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from warmstack.local.container import ContainerGoneError
from warmstack.local.errors import LocalError

GRACE_SECONDS = 5.0
"""How long running requests may take to finish once the end has come; then their copies end."""
LAST_WORDS_SECONDS = 1.0
"""How long they may take after that to tell their clients so."""
BACKLOG = 2048
KEEP_ALIVE_SECONDS = 75
"""How long an idle connection stays open: longer than clients keep one, so that it is theirs to close.

One that the server closes at the moment at which its client sends on it breaks that request off."""


class Life(Protocol):
    """What starts and stops with a server."""

    async def start(self) -> None:
        """Start.

        Raises:
            LocalError: It cannot; everything that did is stopped.
        """
        ...

    async def stop(self) -> None:
        """Stop, and leave nothing."""
        ...


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: what ends when is decided here."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield


class Stop:
    """Ends a server: by a signal, or by a call. The second time it does not wait."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()
        self._hasty = asyncio.Event()

    def ask(self) -> None:
        """Ask for the end."""
        if self._asked.is_set():
            self._hasty.set()
        self._asked.set()

    async def wait(self) -> None:
        """Wait until somebody asks."""
        await self._asked.wait()

    async def wait_again(self) -> None:
        """Wait until somebody asks a second time."""
        await self._hasty.wait()

    def on_signals(self) -> None:
        """Ask when a signal comes."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self.ask)


def allow_many_connections() -> None:
    """Let this process have as many open files as it may: each connection is one, and 1,024 are soon used up."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Args:
        host: An address of this machine.
        port: 0 for any that is free.

    Raises:
        LocalError: It cannot: somebody else does, or there is no such address.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # Guard: create_server leaves a socket open when it gets a name that cannot be encoded.
        address = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM)[0][4]
        return socket.create_server(address, family=family, backlog=BACKLOG)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise LocalError(
                f"port {port} on {host} is taken; `warmstack local status --port {port}` shows whether a local "
                "endpoint runs there, --port takes another one"
            ) from error
        raise LocalError(f"{host}:{port} cannot be listened on: {error.strerror or error}") from error
    except ValueError as error:
        raise LocalError(f"{host!r} is no address: {error}") from error


async def serve(
    app: ASGIApp,
    listener: socket.socket,
    platform: Life,
    stop: Stop,
    *,
    on_ready: Callable[[], Awaitable[None]],
) -> None:
    """Serve until the end is asked for.

    Args:
        app: Answers requests.
        listener: Listens already.
        platform: Starts and stops with it.
        stop: Asks for the end.
        on_ready: Is called when every copy serves.

    Raises:
        LocalError: A copy did not start; everything that did is stopped.
    """
    config = uvicorn.Config(
        _broken_off(app),
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="off",
        ws="none",
        http="httptools",
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
    )
    server = _Server(config)
    stop.on_signals()
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    starting = asyncio.create_task(_start(platform, on_ready))
    stopping = asyncio.create_task(stop.wait())
    hurrying = asyncio.create_task(stop.wait_again())
    try:
        await asyncio.wait({serving, starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if starting.done() and not stopping.done():
            await starting  # a failure ends everything
            await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        starting.cancel()
        stopping.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await starting
        server.should_exit = True
        # Requests that run finish, or break off because their copies end.
        await asyncio.wait({serving, hurrying}, timeout=GRACE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        hurrying.cancel()
        await platform.stop()
        await asyncio.wait({serving}, timeout=LAST_WORDS_SECONDS)
        server.force_exit = True
        await serving


def _broken_off(app: ASGIApp) -> ASGIApp:
    """Return an application whose answers may break off: the connection is closed, and that is no defect."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        # Cancelled: the server ends, and this request has not.
        with suppress(ContainerGoneError, TimeoutError, asyncio.CancelledError):
            await app(scope, receive, send)

    return answer


async def _start(platform: Life, on_ready: Callable[[], Awaitable[None]]) -> None:
    await platform.start()
    await on_ready()
