"""A local endpoint in a thread of its own, so that real clients, which block, can ask it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from tests.unit.local.clients import close_all
from tests.unit.local.definitions import ACCOUNT, REGION
from warmstack.assembly import EndpointDefinition
from warmstack.local.adapter_files import AdapterFiles, write_stand_in
from warmstack.local.api.app import make_app
from warmstack.local.api.services import Services
from warmstack.local.api.sight import Sight
from warmstack.local.api.status import About
from warmstack.local.dialects.front import in_front
from warmstack.local.hosting.operations import Hosting
from warmstack.local.hosting.records import Records
from warmstack.local.order import LOOPBACK
from warmstack.local.platform.dispatch import Dispatcher
from warmstack.local.platform.journal import Journal
from warmstack.local.platform.orders import CopyStarter
from warmstack.local.platform.platform import Platform
from warmstack.local.platform.settings import PlatformSettings
from warmstack.local.platform.start_plan import Room
from warmstack.local.serving import Stop, listen, serve
from warmstack.local.simulated import Latency
from warmstack.local.simulated.starter import SimulatedStarter
from warmstack.local.wire.limits import Limits
from warmstack.local.wire.parts import Cut, cutting
from warmstack.routing import RoutingChoices

T = TypeVar("T")
WAIT_SECONDS = 30


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return datetime.now(UTC).timestamp() + self.ahead


@dataclass
class Local:
    """A local endpoint that serves.

    Args:
        url: Where it listens.
        services: What its handlers work with.
        loop: Its event loop.
        clock: Its clock.
        reports: What it reported.
    """

    url: str
    services: Services
    loop: asyncio.AbstractEventLoop
    clock: Clock
    reports: list[str]

    @property
    def platform(self) -> Platform:
        return self.services.platform

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something on its loop."""
        future: Future[T] = asyncio.run_coroutine_threadsafe(work, self.loop)
        return future.result(WAIT_SECONDS)

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition."""

        async def wait() -> None:
            async with asyncio.timeout(WAIT_SECONDS):
                while not condition():
                    await asyncio.sleep(0.01)

        self.run(wait())


@contextmanager
def running(
    *definitions: EndpointDefinition,
    folder: Path,
    limits: Limits | None = None,
    choices: RoutingChoices | None = None,
    cut: Cut = Cut.AS_WRITTEN,
    latency: Latency | None = None,
    starter: CopyStarter | None = None,
    copies: int = 64,
    source: str = "test",
    hosting: bool = False,
    accelerators: int | None = None,
    **settings: Any,
) -> Iterator[Local]:
    """Serve endpoints with simulated copies."""
    clock = Clock()
    reports: list[str] = []
    random = Random(0)
    dialect = partial(in_front, clock=clock)
    adapters = AdapterFiles(folder, {}, write_stand_in)
    made = starter or SimulatedStarter(dialect=dialect, adapters=adapters, latency=latency or Latency(), clock=clock)
    settings = {"restart_seconds": 0.01, "ping_seconds": 0.0} | settings
    ready: Future[Local] = Future()

    async def main() -> None:
        listener = listen("127.0.0.1", 0)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        platform = Platform(
            definitions,
            starter=made,
            settings=PlatformSettings(
                room=Room(copies=copies, instances=copies), choices=choices or RoutingChoices(), **settings
            ),
            accelerators=lambda _: accelerators,
            report=reports.append,
            clock=clock,
        )
        services = Services(
            platform=platform,
            dispatcher=Dispatcher(random=random, clock=clock),
            journal=Journal(),
            limits=limits or Limits(),
            cutting=cutting(cut, random),
            account=ACCOUNT,
            region=REGION,
            now=lambda: datetime.fromtimestamp(clock(), UTC),
            random=random,
            hosting=Hosting(platform, Records(account=ACCOUNT, region=REGION)) if hosting else None,
        )
        about = About(source=source, engine="simulated", url=url, pid=0, started_at=clock(), notices=())
        stops.append(stop := _Quiet())
        loop = asyncio.get_running_loop()

        async def on_ready() -> None:
            ready.set_result(Local(url, services, loop, clock, reports))

        app = make_app(services, Sight(services, about, stop.ask), LOOPBACK)
        await serve(app, listener, platform, stop, on_ready=on_ready)

    stops: list[Stop] = []

    def thread() -> None:
        try:
            asyncio.run(main())
        except BaseException as error:
            if ready.done():
                raise
            ready.set_exception(error)

    worker = threading.Thread(target=thread, daemon=True)
    worker.start()
    local = ready.result(WAIT_SECONDS)
    try:
        yield local
    finally:
        close_all()
        local.loop.call_soon_threadsafe(stops[0].ask)
        worker.join(WAIT_SECONDS)
        assert not worker.is_alive()


class _Quiet(Stop):
    """Signals belong to the main thread."""

    def on_signals(self) -> None:
        """Leave them alone."""
