"""Starting copies: so many at a time, each with its adapters, and no longer than somebody wants the copy."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any

from warmstack.errors import WarmstackError
from warmstack.local.errors import LocalError
from warmstack.local.platform.copies import Copy, CopyState
from warmstack.local.platform.endpoints import Endpoint
from warmstack.local.platform.orders import AdapterOrder, CopyOrder, CopyStarter, Report


class Starts:
    """Starts copies.

    Args:
        starter: Makes them.
        at_once: How many start at the same time.
        report: Is told what is going on.
    """

    def __init__(self, starter: CopyStarter, *, at_once: int, report: Report) -> None:
        self._starter = starter
        self._turns = asyncio.Semaphore(at_once)
        self._report = report

    async def start(self, endpoint: Endpoint, copy: Copy) -> None:
        """Start a copy and register its adapters; of one that is abandoned meanwhile, nothing is left.

        Args:
            endpoint: Its endpoint.
            copy: The copy; it has what runs afterwards, unless it was abandoned.

        Raises:
            LocalError: It did not start, or its container refused an adapter.
        """
        copy.start = asyncio.ensure_future(self._start(endpoint, copy))
        try:
            await copy.start
        except asyncio.CancelledError:
            # Guard: the end of the start is not the end of this task, unless somebody wants that, too.
            task = asyncio.current_task()
            if copy.state is not CopyState.STOPPING or (task is not None and task.cancelling()):
                raise
        except Exception as error:
            copy.failure = reason_of(error)
            raise

    async def _start(self, endpoint: Endpoint, copy: Copy) -> None:
        async with self._turns:
            # Guard: it may have been told to stop while it waited for its turn.
            if copy.state is CopyState.STOPPING:
                return
            order = CopyOrder(copy=copy.name, instance=copy.instance.name, model=copy.model)
            running = copy.running = await self._starter.start(order, self._report)
        try:
            for adapter in endpoint.adapters_of(copy.component) if copy.component is not None else ():
                artifact = adapter.definition.artifact_url or ""
                await running.register(AdapterOrder(name=adapter.name, artifact=artifact))
        except BaseException:
            await running.stop()
            copy.running = None
            raise


def reason_of(error: BaseException) -> str:
    """Return what people are told of an error: its text where it is one of ours, its type too where it is not."""
    if isinstance(error, BaseExceptionGroup):
        return "\n".join(dict.fromkeys(reason_of(one) for one in error.exceptions))
    ours = isinstance(error, WarmstackError | OSError) and str(error)
    return str(error) if ours else f"{type(error).__name__}: {error}"


async def abandon(copies: Iterable[Copy]) -> None:
    """End the starts of copies that nobody wants any more, and what they have brought up so far."""
    starts = [copy.start for copy in copies if copy.start is not None and not copy.start.done()]
    for one in starts:
        one.cancel()
    if starts:
        await asyncio.wait(starts)


async def all_of(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Do everything at the same time.

    Raises:
        LocalError: Something failed: what each failure says, once. The rest is cancelled.
    """
    try:
        async with asyncio.TaskGroup() as group:
            for one in work:
                group.create_task(one)
    except BaseExceptionGroup as failures:
        known = failures.subgroup(WarmstackError)
        if known is None:
            raise
        raise LocalError("\n".join(sorted({str(one) for one in _leaves(known)}))) from failures


def _leaves(group: BaseExceptionGroup[WarmstackError]) -> list[WarmstackError]:
    found: list[WarmstackError] = []
    for one in group.exceptions:
        found += _leaves(one) if isinstance(one, BaseExceptionGroup) else [one]
    return found
