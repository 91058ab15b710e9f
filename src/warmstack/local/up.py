"""From an order to a server: what reads the template, starts copies and answers requests, put together."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random

from warmstack.assembly import Assembly
from warmstack.catalog import load_catalog
from warmstack.errors import CatalogError
from warmstack.local.adapter_files import AdapterFiles, write_stand_in
from warmstack.local.api.app import make_app
from warmstack.local.api.services import Services
from warmstack.local.api.sight import Sight
from warmstack.local.api.status import About
from warmstack.local.dialects.front import in_front
from warmstack.local.dialects.notices import dialect_notices
from warmstack.local.errors import LocalError
from warmstack.local.hosting.operations import Hosting
from warmstack.local.instances import make_run_folder, note
from warmstack.local.order import LOOPBACK, EngineKind, UpOrder
from warmstack.local.platform.dispatch import Dispatcher
from warmstack.local.platform.journal import Journal
from warmstack.local.platform.orders import CopyStarter, Report
from warmstack.local.platform.platform import Platform
from warmstack.local.platform.settings import PlatformSettings
from warmstack.local.real.replacements import fatal_settings, is_fatal
from warmstack.local.sanity import check_start
from warmstack.local.serving import Stop, allow_many_connections, listen, serve
from warmstack.local.simulated.starter import SimulatedStarter
from warmstack.local.wire.parts import cutting


@dataclass(frozen=True, slots=True, kw_only=True)
class Up:
    """A local endpoint that serves.

    Args:
        order: What was asked for.
        platform: The endpoints.
        about: What the status says of it.
    """

    order: UpOrder
    platform: Platform
    about: About


async def run_up(
    order: UpOrder,
    assembly: Assembly,
    *,
    report: Report,
    on_ready: Callable[[Up], Awaitable[None]],
    state: Path,
) -> None:
    """Serve the endpoints of an assembly until the end is asked for.

    Args:
        order: What was asked for.
        assembly: What was read.
        report: Is told what is going on.
        on_ready: Is called when every copy serves.
        state: The folder in which running local endpoints are written down, and keep their files.

    Raises:
        LocalError: It cannot start; nothing of it runs on.
    """
    allow_many_connections()
    listener = listen(order.host, order.port)
    folder = make_run_folder(state, order.port)
    noted: Path | None = None
    failed = True
    try:
        noted = note(state, order.host, order.port)
        made = make_starter(order, folder, report)
        random = Random(order.seed)
        platform = make_platform(order, assembly, made.starter, report)
        check_start(order, assembly, platform.plan)
        first = assembly.endpoints[0]
        services = make_services(order, platform, random, account=first.account, region=first.region)
        notices = (*map(str, assembly.notices), *made.differences(assembly))
        for notice in sorted(notices, key=is_fatal, reverse=True):
            report(f"{'WARNING' if is_fatal(notice) else 'note'}: {notice}")
        about = About(
            source=str(order.source),
            engine=order.engine.value,
            url=order.url,
            pid=os.getpid(),
            started_at=time.time(),
            notices=notices,
        )
        stop = Stop()
        hosts = LOOPBACK if order.host in LOOPBACK else frozenset()
        app = make_app(services, Sight(services, about, stop.ask), hosts)

        async def ready() -> None:
            await on_ready(Up(order=order, platform=platform, about=about))

        await serve(app, listener, platform, stop, on_ready=ready)
        failed = False
    finally:
        listener.close()
        if noted is not None:
            noted.unlink(missing_ok=True)
        if not failed:
            # Of one that failed, the logs are what says why.
            shutil.rmtree(folder, ignore_errors=True)


def make_platform(order: UpOrder, assembly: Assembly, starter: CopyStarter, report: Report) -> Platform:
    """Put together what runs the endpoints of an assembly."""
    return Platform(
        assembly.endpoints,
        starter=starter,
        settings=PlatformSettings(room=order.room, choices=order.choices),
        accelerators=_accelerators,
        report=report,
    )


def make_services(
    order: UpOrder, platform: Platform, random: Random, *, account: str, region: str, hosting: Hosting | None = None
) -> Services:
    """Put together what the handlers work with.

    Args:
        order: What was asked for.
        platform: What runs.
        random: For all that is left to chance.
        account: The account where no endpoint names one.
        region: The Region, likewise.
        hosting: What makes and removes endpoints; None where those of the assembly are all there are.
    """
    return Services(
        platform=platform,
        dispatcher=Dispatcher(random=random),
        journal=Journal(),
        limits=order.limits,
        cutting=cutting(order.cut, random),
        account=account,
        region=region,
        now=lambda: datetime.now(UTC),
        random=random,
        hosting=hosting,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What makes copies.

    Args:
        starter: Makes them.
        differences: What is otherwise than in a template, a sentence each.
    """

    starter: CopyStarter
    differences: Callable[[Assembly], tuple[str, ...]]


def make_starter(order: UpOrder, folder: Path, report: Report) -> Made:
    """Return what makes copies.

    Args:
        order: What was asked for.
        folder: Where files of this run go.
        report: Is told what is going on.

    Raises:
        LocalError: The engine is not installed.
    """
    front = partial(in_front, defects=order.defects, code=order.model_code)
    if order.engine is EngineKind.SIMULATED:
        starter = SimulatedStarter(
            dialect=front,
            adapters=AdapterFiles(folder, order.adapters, write_stand_in),
            latency=order.latency,
            cache_blocks=order.cache_blocks,
        )
        return Made(starter=starter, differences=partial(_said_at_start, order))
    from warmstack.local.engines import find_engine, make_adapter, read_model, tiny_model
    from warmstack.local.real.replacements import replacements
    from warmstack.local.real.starter import RealStarter

    engine = find_engine()
    if engine is None:
        raise LocalError("vLLM is not installed for the local endpoint; `warmstack local install` does that once")
    model = read_model(order.model) if order.model else tiny_model(engine, report=report)
    adapters = AdapterFiles(
        folder,
        order.adapters,
        lambda name, place: _made(make_adapter(place, name=name, model=model)),
        replaces=model.stands_in,
    )
    real = RealStarter(
        engine=engine,
        model=model,
        folder=folder,
        adapters=adapters,
        kv_cache_bytes=order.kv_cache_bytes,
        dialect=partial(front, real=True),
    )

    def differences(assembly: Assembly) -> tuple[str, ...]:
        return (*replacements(assembly, model, order.kv_cache_bytes), *_said_at_start(order, assembly))

    return Made(starter=real, differences=differences)


def _said_at_start(order: UpOrder, assembly: Assembly) -> tuple[str, ...]:
    real = order.engine is EngineKind.VLLM
    # A real engine's replacements name them among the others.
    fatal = () if real else fatal_settings(assembly)
    return (*fatal, *dialect_notices(assembly, real=real, defects=order.defects))


def _made(_folder: Path) -> None:
    """Take what made an adapter for done."""


def _accelerators(instance_type: str) -> int | None:
    with suppress(CatalogError):
        return load_catalog().instance(instance_type).gpu_count
    return None
