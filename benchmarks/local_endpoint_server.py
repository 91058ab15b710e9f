"""The local endpoint that `local_endpoint.py` asks: ``PORT [ENGINE_PORT]``, one process as its copy, or 8 simulated."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import uvloop

from warmstack.assembly import EndpointDefinition, ModelDefinition, RoutingDefinition, VariantDefinition
from warmstack.local.adapter_files import AdapterFiles, write_stand_in
from warmstack.local.api.app import make_app
from warmstack.local.api.services import Services
from warmstack.local.api.sight import Sight
from warmstack.local.api.status import About
from warmstack.local.container import Container
from warmstack.local.dialects.front import in_front
from warmstack.local.engines.connection import HttpContainer
from warmstack.local.order import LOOPBACK
from warmstack.local.platform.dispatch import Dispatcher
from warmstack.local.platform.journal import Journal
from warmstack.local.platform.orders import AdapterOrder, CopyOrder, CopyStarter, Report
from warmstack.local.platform.platform import Platform, PlatformSettings
from warmstack.local.platform.start_plan import Room
from warmstack.local.serving import Stop, listen, serve
from warmstack.local.simulated import Latency
from warmstack.local.simulated.starter import SimulatedStarter
from warmstack.local.wire.limits import Limits
from warmstack.local.wire.parts import Cut, cutting

ENDPOINT = "bench"
COPIES = 8
MODEL = ModelDefinition(
    name="model",
    logical_id="Model",
    image="",
    environment={},
    server="vllm",
    model_data=None,
    staged=None,
    execution_role=None,
)


class Outside:
    """A copy that is a process which somebody else started.

    Args:
        port: Where it listens.
    """

    def __init__(self, port: int) -> None:
        self._http = HttpContainer(f"http://127.0.0.1:{port}")
        self.engine: Container = self._http
        self.container: Container = in_front(MODEL, self.engine)
        self.pid: int | None = None

    async def register(self, adapter: AdapterOrder) -> None:
        """Not needed."""

    async def wait(self) -> str:
        """Wait for ever."""
        await asyncio.Event().wait()
        return ""

    async def stop(self) -> None:
        """Leave it."""
        await self._http.close()

    async def kill(self) -> None:
        """Leave it."""


class OutsideStarter:
    """Makes the one copy.

    Args:
        port: Where it listens.
    """

    def __init__(self, port: int) -> None:
        self._port = port

    async def start(self, _order: CopyOrder, _report: Report) -> Outside:
        """Return it."""
        return Outside(self._port)

    async def close(self) -> None:
        """Nothing is shared."""


def definition(copies: int) -> EndpointDefinition:
    """Return an endpoint with so many instances."""
    return EndpointDefinition(
        logical_id="Endpoint",
        stack="bench",
        account="111122223333",
        region="us-west-2",
        name=ENDPOINT,
        config_name="bench",
        components=(),
        variants=(
            VariantDefinition(
                name="primary",
                instance_type="ml.g5.12xlarge",
                initial_instance_count=copies,
                weight=1.0,
                routing=RoutingDefinition(strategy="PREFIX_AWARE", prefix_length=1024, concurrency_threshold=16),
                model=MODEL,
                min_instance_count=None,
                max_instance_count=None,
                download_timeout_seconds=None,
                startup_timeout_seconds=None,
            ),
        ),
    )


async def main(port: int, engine_port: int | None) -> None:
    """Serve until a signal."""
    listener = listen("127.0.0.1", port)
    adapters = AdapterFiles(Path(tempfile.gettempdir()), {}, write_stand_in)
    starter: CopyStarter = SimulatedStarter(dialect=in_front, adapters=adapters, latency=Latency())
    if engine_port is not None:
        starter = OutsideStarter(engine_port)
    copies = COPIES if engine_port is None else 1
    platform = Platform(
        (definition(copies),), starter=starter, settings=PlatformSettings(room=Room(copies=copies, instances=copies))
    )
    random = Random(0)
    services = Services(
        platform=platform,
        dispatcher=Dispatcher(random=random),
        journal=Journal(),
        limits=Limits(),
        cutting=cutting(Cut.AS_WRITTEN, random),
        account="111122223333",
        region="us-west-2",
        now=lambda: datetime.now(UTC),
        random=random,
    )
    about = About(source="", engine="", url="", pid=0, started_at=time.time(), notices=())
    stop = Stop()

    async def ready() -> None:
        """Say nothing."""

    await serve(
        make_app(services, Sight(services, about, stop.ask), LOOPBACK), listener, platform, stop, on_ready=ready
    )


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else None))
