"""From an order to a local AWS that serves: CloudFormation, moto, and SageMaker with copies behind it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from warmstack.local.aws.assembled import LocalAws, make_local_aws
from warmstack.local.aws.build_contexts import BuildContexts
from warmstack.local.aws.progress import Progress
from warmstack.local.errors import LocalError
from warmstack.local.hosted import Hosted, make_hosted
from warmstack.local.instances import make_run_folder, note
from warmstack.local.order import LOOPBACK, UpOrder
from warmstack.local.own_session import nothing_configured
from warmstack.local.platform.orders import Report
from warmstack.local.serving import Stop, allow_many_connections, listen, serve

ACCOUNT = "111122223333"
"""An account that AWS's own documents use, and nobody has."""
PROGRESS_SECONDS = 10.0


async def run_aws(
    order: UpOrder,
    *,
    region: str,
    report: Report,
    on_ready: Callable[[], Awaitable[None]],
    state: Path,
) -> None:
    """Serve a local AWS until the end is asked for.

    Args:
        order: How endpoints run; its source is only what the status calls it.
        region: The Region that SageMaker is in.
        report: Is told what is going on.
        on_ready: Is called when it serves.
        state: The folder in which running local endpoints are written down, and keep their files.

    Raises:
        LocalError: It cannot start; nothing of it runs on.
    """
    if order.host not in LOOPBACK:
        raise LocalError(f"--host is {order.host}; the local AWS checks no permissions, and serves the loopback only")
    allow_many_connections()
    listener = listen(order.host, order.port)
    folder = make_run_folder(state, order.port)
    noted: Path | None = None
    try:
        with nothing_configured():
            noted = note(state, order.host, order.port)
            stop = Stop()
            account = order.account or ACCOUNT
            # The one place where SageMaker is chosen.
            hosted = make_hosted(
                order,
                account=account,
                region=region,
                folder=folder,
                hosts=LOOPBACK,
                stop=stop,
                report=report,
                images=BuildContexts(folder),
            )
            aws = make_local_aws(
                account=account,
                region=region,
                sagemaker=hosted.control,
                sagemaker_app=hosted.app,
                hosts=LOOPBACK,
                report=report,
                # Names end otherwise each time, as on AWS: a name is never there again.
                random=Random(),
            )
            await serve(aws.app, listener, _Life(hosted=hosted, aws=aws, report=report), stop, on_ready=on_ready)
    finally:
        listener.close()
        if noted is not None:
            noted.unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)


@dataclass(slots=True, kw_only=True)
class _Life:
    """What starts and stops with the server: first what is done to stacks ends, then the copies."""

    hosted: Hosted
    aws: LocalAws
    report: Report
    watch: asyncio.Task[None] | None = None

    async def start(self) -> None:
        await self.hosted.platform.start()
        progress = Progress(self.aws.store, self.report)
        self.watch = asyncio.create_task(progress.run(PROGRESS_SECONDS, asyncio.sleep))

    async def stop(self) -> None:
        if self.watch is not None:
            self.watch.cancel()
        await self.aws.close()
        await self.hosted.platform.stop()
