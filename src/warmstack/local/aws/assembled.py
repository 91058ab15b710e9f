"""The local AWS, put together."""

from __future__ import annotations

import asyncio
import string
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random

from starlette.types import ASGIApp

from warmstack.local.api.trusted import TrustedHosts
from warmstack.local.aws.cloudformation.api import CloudFormationApi
from warmstack.local.aws.cloudformation.desk import Desk
from warmstack.local.aws.front import Front
from warmstack.local.aws.moto_app import MotoBridge, load_moto
from warmstack.local.aws.moto_calls import MotoCalls
from warmstack.local.aws.ports import SageMaker
from warmstack.local.aws.resources.handler import Surroundings
from warmstack.local.aws.sight import StacksPage
from warmstack.local.aws.stacks.executor import Executor
from warmstack.local.aws.stacks.journal import Journal, Report
from warmstack.local.aws.stacks.store import Store
from warmstack.local.aws.stacks.workshop import Workshop

LINGER_SECONDS = 3.0
_SUFFIX = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalAws:
    """A local AWS.

    Args:
        app: Answers requests.
        store: The stacks.
        bridge: Asks moto for clients.
        calls: Asks moto for handlers.
    """

    app: ASGIApp
    store: Store
    bridge: MotoBridge
    calls: MotoCalls

    async def close(self) -> None:
        """End what is being done to stacks, and the threads."""
        works = [one.work for one in self.store.all() if one.work is not None and not one.work.done()]
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)
        self.bridge.close()
        self.calls.close()


def make_local_aws(
    *,
    account: str,
    region: str,
    sagemaker: SageMaker,
    sagemaker_app: ASGIApp,
    hosts: frozenset[str],
    report: Report,
    random: Random,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    linger_seconds: float = LINGER_SECONDS,
) -> LocalAws:
    """Put a local AWS together.

    Args:
        account: The account.
        region: The Region that SageMaker is in.
        sagemaker: SageMaker, for the stacks.
        sagemaker_app: SageMaker and its runtime, for clients.
        hosts: The names under which it may be asked.
        report: Is told what happens to stacks.
        random: Makes the ends of names.
        now: The time, with its zone.
        sleep: Waits some seconds.
        linger_seconds: How long a description waits for a stack that is being worked on.

    Raises:
        LocalError: moto is not installed.
    """
    moto = load_moto()
    bridge, calls = MotoBridge(moto, account), MotoCalls(moto, account)
    store, journal = Store(account), Journal(now, report)
    around = Surroundings(
        aws=calls,
        sagemaker=sagemaker,
        account=account,
        home_region=region,
        sleep=sleep,
        suffix=lambda: "".join(random.choices(string.ascii_letters + string.digits, k=_SUFFIX)),
    )
    workshop = Workshop(journal=journal, around=around)
    executor = Executor(
        workshop=workshop, exports=store.export, exported_by=store.exported_by, imported_by=store.imported_by
    )
    desk = Desk(store=store, executor=executor, journal=journal, aws=calls, linger_seconds=linger_seconds)
    front = Front(
        cloudformation=CloudFormationApi(desk),
        sagemaker=sagemaker_app,
        others=bridge,
        stacks=StacksPage(store, account=account, region=region),
        region=region,
    )
    return LocalAws(app=TrustedHosts(front, hosts), store=store, bridge=bridge, calls=calls)
