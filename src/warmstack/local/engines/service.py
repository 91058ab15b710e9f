"""A server process on the loopback: started on ports of its own, waited for, ended."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from warmstack.local.container import ContainerGoneError, ContainerRequest, read_body
from warmstack.local.engines.connection import HttpContainer
from warmstack.local.engines.process import TetheredProcess, exit_description
from warmstack.local.errors import LocalError

HOST = "127.0.0.1"
POLL_SECONDS = 0.25
STOP_GRACE_SECONDS = 10.0
TRIES_FOR_A_PORT = 3
Result = TypeVar("Result")


class Service:
    """A running server process.

    Args:
        process: Its process.
        http: Its HTTP.
    """

    def __init__(self, process: TetheredProcess, http: HttpContainer) -> None:
        self._process = process
        self._http = http

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return self._http.url

    @property
    def log(self) -> Path:
        """The file with its output."""
        return self._process.log

    async def wait(self) -> int:
        """Wait for its end; return the status, negative for a signal."""
        status = await self._process.wait()
        # Guard: who ends by itself is not stopped by anybody.
        await self._http.close()
        return status

    async def stop(self, *, grace_seconds: float = STOP_GRACE_SECONDS) -> int:
        """End it and all that it started: SIGTERM, then SIGKILL; return the status.

        Args:
            grace_seconds: How long it has after SIGTERM.
        """
        try:
            return await self._process.stop(grace_seconds=grace_seconds)
        finally:
            await self._http.close()

    async def kill(self) -> int:
        """End it and all that it started at once, as kill -9 does; return the status."""
        try:
            return await self._process.kill()
        finally:
            await self._http.close()


class NotReadyError(Exception):
    """A server answers, and says that it does not work; the text is for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceOrder:
    """How a server is started.

    Args:
        name: What messages call it.
        command: Makes the command line of two free ports, the one for HTTP first.
        environment: Its whole environment.
        folder: Its working folder; made if it is not there.
        log: The name of the file with its output.
        ready_seconds: How long it may take until it answers.
        way_out: What to do when it does not come up.
    """

    name: str
    command: Callable[[int, int], list[str]]
    environment: Mapping[str, str]
    folder: Path
    log: str
    ready_seconds: float
    way_out: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A server that answers.

    Args:
        process: Its process.
        http: Its HTTP.
        port: Its second port.
    """

    process: TetheredProcess
    http: HttpContainer
    port: int


async def start_service(
    order: ServiceOrder,
    probe: Callable[[HttpContainer], Awaitable[Result | None]],
    *,
    report: Callable[[str], None],
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Started, Result]:
    """Start a server; return it, and what the probe answered, as soon as the probe answers something.

    Args:
        order: How.
        probe: Asks the server; None for "not yet".
        report: Told what is done.
        clock: Seconds, for the time-out and for what is reported.

    Raises:
        LocalError: It did not come up: the end of its log, and the way out.
    """
    begin = clock()
    report(f"{order.name} starts")
    order.folder.mkdir(parents=True, exist_ok=True)
    for remaining in reversed(range(TRIES_FOR_A_PORT)):
        http_port, port = free_ports()
        process = await TetheredProcess.start(
            order.command(http_port, port),
            environment=order.environment,
            log=order.folder / order.log,
            folder=order.folder,
        )
        started = Started(process=process, http=HttpContainer(f"http://{HOST}:{http_port}"), port=port)
        try:
            result = await _until_ready(order, started, probe, deadline=begin + order.ready_seconds, clock=clock)
        except BaseException as error:
            await started.http.close()
            await process.kill()
            # Somebody else may take the port between its choice and the server's start.
            if isinstance(error, LocalError) and remaining and "ddress already in use" in process.last_lines(60):
                continue
            raise
        report(f"{order.name} is ready after {clock() - begin:.0f} s")
        return started, result
    raise AssertionError("the last try returns or raises")


def free_ports() -> tuple[int, int]:
    """Return two ports of the loopback that nobody listens on now."""
    with ExitStack() as both:
        first, second = (both.enter_context(socket.create_server((HOST, 0))) for _ in range(2))
        return first.getsockname()[1], second.getsockname()[1]


async def ask(http: HttpContainer, request: ContainerRequest) -> tuple[int, bytes]:
    """Return the status and the body of an answer."""
    reply = await http.send(request)
    return reply.status, await read_body(reply)


async def _until_ready(
    order: ServiceOrder,
    started: Started,
    probe: Callable[[HttpContainer], Awaitable[Result | None]],
    *,
    deadline: float,
    clock: Callable[[], float],
) -> Result:
    process = started.process
    while clock() < deadline:
        if process.returncode is not None:
            raise _failed(order, process, f"ended with {exit_description(process.returncode)} before it was ready")
        try:
            async with asyncio.timeout(max(0.0, deadline - clock())):
                result = await probe(started.http)
        except (ContainerGoneError, TimeoutError):
            result = None
        except NotReadyError as error:
            raise _failed(order, process, str(error)) from error
        if result is not None:
            return result
        await asyncio.sleep(POLL_SECONDS)
    raise _failed(order, process, f"was not ready in {order.ready_seconds:g} s")


def _failed(order: ServiceOrder, process: TetheredProcess, what: str) -> LocalError:
    return LocalError(f"{order.name} {what}\n{process.last_lines()}\nThe whole log is {process.log}. {order.way_out}")
