"""LMCache's server, which the copies of one instance share: the CPU tier, and the disk tier behind it.

On a CPU, LMCache works in its multiprocess mode only (LMCache 0.5.6, tried 2026-11-30): inside vLLM it logs that there
is no connector, and vLLM goes on without a cache.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from warmstack.local.container import ContainerRequest
from warmstack.local.engines.connection import HttpContainer
from warmstack.local.engines.environment import EngineEnvironment
from warmstack.local.engines.service import HOST, Service, ServiceOrder, Started, ask, start_service
from warmstack.local.engines.surroundings import engine_surroundings

HEALTH = ContainerRequest(method="GET", path="/healthcheck")
METRICS = ContainerRequest(method="GET", path="/metrics")


@dataclass(frozen=True, slots=True, kw_only=True)
class LmcacheOrder:
    """What server to start.

    Args:
        engine: The environment that has LMCache.
        folder: The server's own folder, for its log; made if it is not there.
        chunk_tokens: The tokens of a chunk.
        cpu_gib: The size of the CPU tier.
        disk: The folder of the disk tier, which outlives the server; None for no such tier.
        disk_gib: The size of the disk tier. The next server on the same folder finds what is there, but counts anew.
        name: What messages call it.
        ready_seconds: How long it may take until it answers.
    """

    engine: EngineEnvironment
    folder: Path
    chunk_tokens: int = 256
    cpu_gib: float = 1.0
    disk: Path | None = None
    disk_gib: float = 4.0
    name: str = "LMCache"
    ready_seconds: float = 120.0


class LmcacheServer(Service):
    """A running server of LMCache.

    Args:
        started: The process that answers.
    """

    def __init__(self, started: Started) -> None:
        super().__init__(started.process, started.http)
        self.port = started.port

    @property
    def arguments(self) -> tuple[str, ...]:
        """What a copy's vLLM is given so that it uses this server."""
        config = {
            "kv_connector": "LMCacheMPConnector",
            "kv_role": "kv_both",
            "kv_connector_extra_config": {"lmcache.mp.host": f"tcp://{HOST}", "lmcache.mp.port": self.port},
        }
        return ("--kv-transfer-config", json.dumps(config))

    async def metrics(self) -> str:
        """Return its metrics, in Prometheus's text form (``lmcache_mp_*``).

        Raises:
            ContainerGoneError: It does not answer.
        """
        _, text = await ask(self._http, METRICS)
        return text.decode()


async def start_lmcache(
    order: LmcacheOrder,
    *,
    report: Callable[[str], None] = lambda _: None,
    outer: Mapping[str, str] = os.environ,
    clock: Callable[[], float] = time.monotonic,
) -> LmcacheServer:
    """Start a server; return it when it is healthy. Start the copies after it: they wait for it without end.

    Args:
        order: What server.
        report: Told what is done.
        outer: This process's environment.
        clock: Seconds, for the time-out and for what is reported.

    Raises:
        LocalError: It did not come up: the end of its log, and the way out.
    """
    service = ServiceOrder(
        name=order.name,
        command=lambda http_port, port: lmcache_command(order, port, http_port),
        environment=engine_surroundings(outer),
        folder=order.folder,
        log="lmcache.log",
        ready_seconds=order.ready_seconds,
        way_out="Start again, or without tiers: --tiers none.",
    )
    started, _ = await start_service(service, _healthy, report=report, clock=clock)
    return LmcacheServer(started)


def lmcache_command(order: LmcacheOrder, port: int, http_port: int) -> list[str]:
    """Return the command line of a server."""
    # By its module: a script's first line holds no long path, and the environment may lie deep.
    command = [str(order.engine.python), "-m", "lmcache.cli.main", "server", "--host", HOST, "--port", str(port)]
    command += ["--http-host", HOST, "--http-port", str(http_port), "--chunk-size", str(order.chunk_tokens)]
    command += ["--l1-size-gb", f"{order.cpu_gib:g}", "--eviction-policy", "LRU"]
    # Guard: without it the server does not know what a vLLM on a CPU registers, and vLLM waits at its start for ever.
    command += ["--supported-transfer-mode", "auto"]
    if order.disk is not None:
        # Guard: the plain adapter "fs" has no size, and a size without an eviction policy is only counted.
        adapter = {
            "type": "fs_native",
            "base_path": str(order.disk),
            "max_capacity_gb": order.disk_gib,
            "eviction": {"eviction_policy": "LRU"},
        }
        command += ["--l2-adapter", json.dumps(adapter)]
    return command


async def _healthy(http: HttpContainer) -> bool | None:
    status, _ = await ask(http, HEALTH)
    return status == HTTPStatus.OK or None
