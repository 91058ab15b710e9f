"""Starting copies: so many at a time, each with its adapters, and no longer than somebody wants the copy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from warmstack.errors import WarmstackError
from warmstack.local.errors import LocalError
from warmstack.local.platform.copies import Copy, CopyState
from warmstack.local.platform.endpoints import Endpoint, Progress
from warmstack.local.platform.orders import AdapterOrder, CopyOrder, CopyStarter, Report, RunningCopy
from warmstack.local.registration import unload


class Starts:
    """Starts copies.

    Args:
        starter: Makes them.
        at_once: How many start at the same time.
        report: Is told what is going on.
        clock: Seconds since the epoch.
    """

    def __init__(self, starter: CopyStarter, *, at_once: int, report: Report, clock: Callable[[], float]) -> None:
        self._starter = starter
        self._clock = clock
        self._turns = asyncio.Semaphore(at_once)
        self._report = report

    async def start(self, endpoint: Endpoint, copy: Copy, *, is_strict: bool = False) -> None:
        """Start a copy and register its adapters; of one that is abandoned meanwhile, nothing is left.

        Args:
            endpoint: Its endpoint.
            copy: The copy; it is in service afterwards, unless it was abandoned.
            is_strict: Whether a refused adapter is the copy's failure; else it is the adapter's.

        Raises:
            LocalError: It did not start, or its container refused an adapter.
        """
        copy.start = asyncio.ensure_future(self._start(endpoint, copy, is_strict=is_strict))
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

    async def _start(self, endpoint: Endpoint, copy: Copy, *, is_strict: bool) -> None:
        async with self._turns:
            # Guard: it may have been told to stop while it waited for its turn.
            if copy.state is CopyState.STOPPING:
                return
            order = CopyOrder(copy=copy.name, instance=copy.instance.name, model=copy.model)
            running = copy.running = await self._starter.start(order, self._report)
        try:
            await self._load_adapters(endpoint, copy, running, is_strict=is_strict)
        except BaseException:
            await running.stop()
            copy.running = None
            raise
        # Guard: nothing may come between the last look at the adapters and this. Whoever adds or removes one looks for
        # copies in service, and leaves the others to what is above.
        if copy.state is CopyState.STARTING:
            copy.started(running)

    async def _load_adapters(self, endpoint: Endpoint, copy: Copy, running: RunningCopy, *, is_strict: bool) -> None:
        """Load the adapters of a copy, those too that come meanwhile, and unload those that go."""
        loaded: dict[str, str] = {}
        while copy.component is not None:
            adapters = {one.name: one for one in endpoint.adapters_of(copy.component) if one.is_wanted}
            orders = {name: one.definition.artifact_url or "" for name, one in adapters.items()}
            stale = next((name for name, artifact in loaded.items() if orders.get(name) != artifact), None)
            missing = next((name for name in orders if name not in loaded), None)
            if stale is not None:
                del loaded[stale]
                await unload(running.container, stale)
            elif missing is not None:
                try:
                    await running.register(AdapterOrder(name=missing, artifact=orders[missing]))
                except (LocalError, OSError) as error:
                    if is_strict:
                        raise
                    self._report(f"{copy.name}: adapter {missing}: {error}")
                    # The base serves all the same: one adapter takes nothing from the others.
                    if adapters[missing].is_wanted:
                        failed = Progress(status="Failed", failure=str(error), changed_at=self._clock())
                        adapters[missing].progress = failed
                else:
                    loaded[missing] = orders[missing]
            else:
                return


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
