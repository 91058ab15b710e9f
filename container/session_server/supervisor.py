"""The life of the container: engine and server start together, and end together.

SIGTERM: no new connections → requests finish, up to the drain time → the engine's group ends. A second SIGTERM cuts the
waiting short. If the engine ends by itself, /ping fails, requests get their errors, and this process ends as it did.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from session_server.app import Services, make_app, make_services
from session_server.bodies import Bodies
from session_server.engine_client import EngineClient
from session_server.engine_process import EngineCommand, EngineProcess, exit_description, exit_status, run_cuda_compat
from session_server.errors import SettingsError
from session_server.head_limits import BoundedHeadProtocol
from session_server.health import EngineHealth, LivenessProbe, Prober
from session_server.settings import Settings

KEEP_ALIVE_SECONDS = 75
"""Longer than a load balancer's usual minute, so that it is not this side that closes a connection about to be used."""
BACKLOG = 2048
ENGINE_GRACE_SECONDS = 3.0
HASTY_GRACE_SECONDS = 1.0
DEATH_NOTICE_SECONDS = 1.0
"""How long /ping still says that the engine ended, and running requests get their errors."""
_log = logging.getLogger("session_server")


class Server(uvicorn.Server):
    """uvicorn without its signal handlers: the supervisor decides what ends when.

    Args:
        config: uvicorn's.
        bodies: What still comes in when the server ends.
    """

    def __init__(self, config: uvicorn.Config, bodies: Bodies) -> None:
        super().__init__(config)
        self._bodies = bodies

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let what runs finish, and what only begins to arrive not use up its time."""
        self._bodies.hasten()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield


async def supervise(
    settings: Settings, command: EngineCommand, *, liveness: LivenessProbe = LivenessProbe.HEALTH_GENERATE
) -> int:
    """Run engine and server until one of them ends or a signal comes.

    Args:
        settings: What the environment says.
        command: How the engine is started.
        liveness: How an idle engine is asked whether it lives.

    Returns:
        The exit status of this process.

    Raises:
        RequestError: The base's formatters cannot be loaded.
        SettingsError: The port is taken.
    """
    health = EngineHealth(stall_seconds=settings.stall_seconds)
    url = f"http://127.0.0.1:{settings.engine_port}"
    async with EngineClient(url, progress=health.note_progress) as client:
        services = make_services(settings, client, health)
        with _listen(settings.host, settings.port) as listener:
            _log.info("listening on %s:%d", *listener.getsockname()[:2])
            return await _run(services, command, listener, liveness)


async def _run(services: Services, command: EngineCommand, listener: socket.socket, liveness: LivenessProbe) -> int:
    settings, health = services.settings, services.health
    server = make_server(services)
    stop = _Stop(server)
    stop.install()
    # Before the engine starts: /ping answers while it loads.
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    await run_cuda_compat()
    engine = await EngineProcess.start(command)
    _log.info("started the engine, process %d: %s", engine.pid, " ".join(command.arguments))
    prober = Prober(
        engine=services.engine,
        health=health,
        liveness=liveness,
        on_ready=lambda: adopt_models(services),
        probe_seconds=settings.probe_seconds,
        timeout_seconds=settings.stall_seconds,
    )
    probing = asyncio.create_task(prober.run())
    living = asyncio.create_task(engine.wait())
    last_words = "stopped"
    status = 0
    try:
        await asyncio.wait({serving, living}, return_when=asyncio.FIRST_COMPLETED)
        if living.done() and not stop.asked:
            description = exit_description(living.result())
            health.note_exit(description)
            _log.error("the engine exited with %s; stopping", description)
            last_words, status = f"the engine exited with {description}", exit_status(living.result())
            await asyncio.wait({serving}, timeout=DEATH_NOTICE_SECONDS)
            server.should_exit = server.force_exit = True
        elif serving.done() and not stop.asked:
            last_words, status = "the server ended unexpectedly", 1
        await serving
    finally:
        probing.cancel()
        await engine.stop(grace_seconds=HASTY_GRACE_SECONDS if stop.hastened else ENGINE_GRACE_SECONDS)
        await living
    _log.log(logging.ERROR if status else logging.INFO, last_words)
    return status


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), backlog=BACKLOG)
    except OSError as error:
        raise SettingsError([f"WARMSTACK_PORT is {port}; it cannot be listened on: {error.strerror}"]) from error


class _Stop:
    """What SIGTERM and SIGINT do: the first drains, the second hastens."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.asked = False
        self.hastened = False

    def install(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._on_signal, number)

    def _on_signal(self, number: signal.Signals) -> None:
        if self.asked:
            _log.info("%s again: not waiting any longer", number.name)
            self.hastened = self._server.force_exit = True
            return
        _log.info("%s: finishing what runs", number.name)
        self.asked = self._server.should_exit = True


async def adopt_models(services: Services) -> None:
    """Take over the models that the engine was started with."""
    _, answer = await services.engine.call("GET", "/v1/models", timeout_seconds=services.settings.stall_seconds)
    services.adapters.adopt(answer)


def make_server(services: Services) -> Server:
    """Return the HTTP server, ready to serve."""
    config = uvicorn.Config(
        make_app(services),
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="off",
        ws="none",
        http=BoundedHeadProtocol,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=round(services.settings.drain_seconds),
        backlog=BACKLOG,
    )
    return Server(config, services.bodies)
