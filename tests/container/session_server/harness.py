"""The session server and the stand-in engine, each in an event loop of its own, and a client for both."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sglang.launch_server import make_engine, parse
from sglang.standin_engine import Engine
from sglang.standin_http import serve_connection
from sglang.standin_options import Options

from session_server.app import Services, make_services
from session_server.engine_client import EngineClient
from session_server.health import EngineHealth, LivenessProbe, Prober
from session_server.settings import Settings
from session_server.supervisor import Server, adopt_models, make_server

STANDIN_FOLDER = Path(__file__).parents[2] / "fakes" / "sglang_engine"
SESSIONS_ON = {"SAGEMAKER_ENABLE_STATEFUL_SESSIONS": "true"}
PATIENCE_SECONDS = 60.0
"""How long a test waits for what comes in milliseconds; only a test that fails waits so long."""


class FakeClock:
    """A clock that a test moves."""

    def __init__(self, now: float = 1_800_000_000.25) -> None:
        self.now = now
        self.broken = False

    def __call__(self) -> float:
        if self.broken:
            raise RuntimeError("the clock is broken")
        return self.now


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A whole answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, str]:
        error: dict[str, str] = self.json["error"]
        return error


class LoopThread:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Awaitable[Any]) -> Any:
        async def waited() -> Any:
            return await work

        return asyncio.run_coroutine_threadsafe(waited(), self._loop).result(PATIENCE_SECONDS)

    def stop(self) -> None:
        async def cancel_all() -> None:
            tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.get_running_loop().shutdown_asyncgens()

        self.run(cancel_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE_SECONDS)
        self._loop.close()


@dataclass(slots=True, kw_only=True)
class Stack:
    """A running pair."""

    port: int
    engine_port: int
    services: Services
    server: Server
    engine: Engine
    clock: FakeClock
    server_loop: LoopThread
    engine_loop: LoopThread

    def connect(self, timeout: float = PATIENCE_SECONDS) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def request(
        self, method: str, path: str, body: bytes | str | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        connection = self.connect()
        try:
            connection.request(method, path, body, dict(headers or {}))
            response = connection.getresponse()
            lowered = {key.lower(): value for key, value in response.getheaders()}
            return Answer(status=response.status, headers=lowered, body=response.read())
        finally:
            connection.close()

    def post(self, body: object, path: str = "/invocations", **headers: str) -> Answer:
        """POST a value as JSON; `session` and `adapter` are the platform's headers."""
        return self.request("POST", path, json.dumps(body), own_headers(**headers))

    def get(self, path: str) -> Answer:
        return self.request("GET", path)

    def engine_requests(self, path: str) -> list[Any]:
        """Return the bodies that the engine got on a path."""
        found = [one for one in list(self.engine.counters.requests) if one["path"] == path]
        return [json.loads(one["body"]) for one in found]


def own_headers(*, session: str | None = None, adapter: str | None = None) -> dict[str, str]:
    named = {"X-Amzn-SageMaker-Session-Id": session, "X-Amzn-SageMaker-Adapter-Identifier": adapter}
    return {key: value for key, value in named.items() if value is not None}


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return this thread's own time for a piece of work, the least of three: what else runs does not count."""

    def once() -> float:
        started = time.thread_time()
        work()
        return time.thread_time() - started

    return min(once() for _ in range(3))


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait for something that happens soon; a test that runs into this fails."""
    step = threading.Event()
    for _ in range(int(PATIENCE_SECONDS / 0.01)):
        if condition():
            return
        step.wait(0.01)
    raise AssertionError(f"not within {PATIENCE_SECONDS} s: {what}")


@contextmanager
def running_stack(
    environment: Mapping[str, str] | None = None,
    *,
    arguments: tuple[str, ...] = ("--enable-lora",),
    wait_for_ready: bool = True,
    health_clock: Callable[[], float] = time.monotonic,
    **options: Any,
) -> Iterator[Stack]:
    """Start a stand-in and a session server in front of it.

    Args:
        environment: The server's environment, beside ports and quick probes.
        arguments: The stand-in's flags.
        wait_for_ready: Wait until /ping is 200.
        health_clock: What the engine's silence is measured with.
        options: The stand-in's options.
    """
    engine_loop, server_loop = LoopThread(), LoopThread()
    clock = FakeClock()
    settings = Settings.from_environment(
        {"WARMSTACK_PROBE_SECONDS": "0.05", "WARMSTACK_HOST": "127.0.0.1", **(environment or {})}
    )
    try:
        engine, standin = engine_loop.run(start_standin(arguments, Options(**options)))
        engine_port = standin.sockets[0].getsockname()[1]
        services, server, port, close = server_loop.run(start_server(settings, engine_port, clock, health_clock))
        stack = Stack(
            port=port,
            engine_port=engine_port,
            services=services,
            server=server,
            engine=engine,
            clock=clock,
            server_loop=server_loop,
            engine_loop=engine_loop,
        )
        try:
            if wait_for_ready:
                wait_until(lambda: stack.get("/ping").status == 200, "/ping is 200")
            yield stack
        finally:
            server_loop.run(close())
            engine_loop.run(close_standin(standin))
    finally:
        server_loop.stop()
        engine_loop.stop()


async def start_standin(arguments: tuple[str, ...], options: Options) -> tuple[Engine, asyncio.Server]:
    engine = await make_engine(parse(["--model-path", "/opt/ml/model", *arguments]), options)
    server = await asyncio.start_server(partial(serve_connection, handler=engine.handle), "127.0.0.1", 0, limit=1 << 26)
    return engine, server


async def close_standin(server: asyncio.Server) -> None:
    server.close()


async def start_server(
    settings: Settings, engine_port: int, clock: FakeClock, health_clock: Callable[[], float]
) -> tuple[Services, Server, int, Callable[[], Awaitable[None]]]:
    health = EngineHealth(stall_seconds=settings.stall_seconds, clock=health_clock)
    client = EngineClient(f"http://127.0.0.1:{engine_port}", progress=health.note_progress)
    await client.__aenter__()
    services = make_services(settings, client, health, clock=clock)
    server = make_server(services)
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)

    prober = Prober(
        engine=client,
        health=health,
        liveness=LivenessProbe.HEALTH_GENERATE,
        on_ready=lambda: adopt_models(services),
        probe_seconds=settings.probe_seconds,
        timeout_seconds=settings.stall_seconds,
    )
    probing = asyncio.ensure_future(prober.run())
    serving = asyncio.ensure_future(server.serve(sockets=[listener]))

    async def close() -> None:
        server.should_exit = server.force_exit = True
        probing.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(serving, probing, return_exceptions=True)
        listener.close()
        await client.__aexit__(None, None, None)

    return services, server, listener.getsockname()[1], close
