"""A local endpoint that starts with nothing, and gets its endpoints from callers of SageMaker's own operations."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

from starlette.types import ASGIApp

from warmstack.assembly import Assembly
from warmstack.local.api.app import make_app
from warmstack.local.api.control_plane import ControlPlane
from warmstack.local.api.sight import Sight
from warmstack.local.api.status import About
from warmstack.local.hosting.operations import Hosting
from warmstack.local.hosting.records import Records
from warmstack.local.order import UpOrder
from warmstack.local.platform.orders import Report
from warmstack.local.platform.platform import Platform
from warmstack.local.serving import Stop
from warmstack.local.up import make_platform, make_services, make_starter


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """A local endpoint without a template.

    Args:
        app: Serves SageMaker's runtime, its control plane, and the status page.
        platform: What runs; it starts and stops with the server.
        control: The control plane, to be called in this process.
        about: What the status says of it.
    """

    app: ASGIApp
    platform: Platform
    control: ControlPlane
    about: About


def make_hosted(
    order: UpOrder,
    *,
    account: str,
    region: str,
    folder: Path,
    hosts: frozenset[str],
    stop: Stop,
    report: Report,
    images: Mapping[str, Path] | None = None,
    clock: Callable[[], float] = time.time,
) -> Hosted:
    """Put a local endpoint together that starts with nothing.

    Args:
        order: How it runs; its source is only what the status calls it.
        account: Whose endpoints.
        region: Where they are.
        folder: Where files of this run go.
        hosts: The names under which it may be asked.
        stop: Ends it.
        report: Is told what is going on.
        images: Build contexts of images, by tag; looked at when an endpoint is made.
        clock: Seconds since the epoch.

    Raises:
        LocalError: The engine is not installed.
    """
    nothing = Assembly(endpoints=(), notices=())
    made = make_starter(order, folder, report)
    platform = make_platform(order, nothing, made.starter, report)
    said: set[str] = set()

    def tell(assembly: Assembly) -> None:
        for line in (*map(str, assembly.notices), *made.differences(assembly)):
            if line not in said:
                said.add(line)
                report(f"note: {line}")

    hosting = Hosting(
        platform, Records(account=account, region=region, images={} if images is None else images), told=tell
    )
    services = make_services(order, platform, Random(order.seed), account=account, region=region, hosting=hosting)
    about = About(
        source=str(order.source),
        engine=order.engine.value,
        url=order.url,
        pid=os.getpid(),
        started_at=clock(),
        notices=(),
    )
    app = make_app(services, Sight(services, about, stop.ask), hosts)
    return Hosted(app=app, platform=platform, control=ControlPlane(services), about=about)
