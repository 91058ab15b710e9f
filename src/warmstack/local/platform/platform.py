"""The endpoints of a template, running: what starts, what is started again, and what stops."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Sequence
from typing import Any

from warmstack.assembly import EndpointDefinition
from warmstack.local.errors import LocalError
from warmstack.local.platform.copies import Copy, CopyState, Instance
from warmstack.local.platform.endpoints import Component, Endpoint
from warmstack.local.platform.layout import Layout
from warmstack.local.platform.orders import CopyStarter, Report
from warmstack.local.platform.pings import watch_pings
from warmstack.local.platform.placement import Accelerators
from warmstack.local.platform.room_left import RoomLeft, room_left, room_left_for
from warmstack.local.platform.settings import PlatformSettings
from warmstack.local.platform.start_plan import StartPlan, plan_start
from warmstack.local.platform.starts import Starts, abandon, all_of, reason_of

STARTS_IN_VAIN = 3


class Platform:
    """Runs endpoints.

    Args:
        definitions: What the template defines.
        starter: Makes copies.
        settings: How it behaves.
        accelerators: How many an instance type has.
        report: Is told what is going on.
        clock: Seconds since the epoch.
        sleep: Waits some seconds.
    """

    def __init__(
        self,
        definitions: Sequence[EndpointDefinition],
        *,
        starter: CopyStarter,
        settings: PlatformSettings,
        accelerators: Accelerators = lambda _: None,
        report: Report = lambda _: None,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.settings = settings
        self.plan = plan_start(definitions, settings.room)
        self.clock = clock
        self.endpoints = {one.name: Endpoint(one, choices=settings.choices, created_at=clock()) for one in definitions}
        self._starter = starter
        self._report = report
        self._sleep = sleep
        self._layout = Layout(settings.room, accelerators, self._owners)
        self._tasks: set[asyncio.Task[None]] = set()
        self._starts = Starts(starter, at_once=settings.starts_at_once, report=report, clock=clock)
        self._stopping = False
        self._coming: list[Endpoint] = []
        self._going: list[Endpoint] = []
        self.ready = False
        """Whether everything that was to start has started."""

    async def start(self) -> None:
        """Start what the plan says, and return when every copy serves.

        Raises:
            LocalError: A copy did not start. Whatever did is stopped.
        """
        for line in self.plan.reductions:
            self._report(line)
        copies = [pair for one in self.endpoints.values() for pair in self._laid_out(one, self.plan)]
        try:
            await self._bring_all_up(copies)
        except BaseException:
            await self.stop()
            raise
        self.ready = True
        if self.settings.ping_seconds > 0:
            self.spawn(
                watch_pings(
                    self.endpoints,
                    seconds=self.settings.ping_seconds,
                    most_failures=self.settings.ping_failures,
                    replace=self.restart_instance,
                    report=self._report,
                    sleep=self._sleep,
                )
            )

    async def raise_fleet(self, endpoint: Endpoint) -> None:
        """Start what an endpoint is to have, beside what else runs; it need not be one that serves yet.

        Of the room, it gets what endpoints of other names have left: what runs under its own name is what it replaces,
        so that an update runs both fleets for a time, whatever `--copies` says.

        Args:
            endpoint: It.

        Raises:
            LocalError: There is room for nothing of it, or a copy did not start. Whatever did of it is stopped.
        """
        left = room_left_for(self.settings.room, self._owners(), endpoint.name)
        plan = plan_start([endpoint.definition], left.as_room, empty_hosts=True)
        sizes = plan.instances.values()
        if any(one.asked for one in sizes) and not any(one.given for one in sizes):
            raise LocalError("\n".join(plan.reductions))
        endpoint.reductions = plan.reductions
        for line in plan.reductions:
            self._report(line)
        self._coming.append(endpoint)
        try:
            await self._bring_all_up(self._laid_out(endpoint, plan))
        except BaseException:
            await self.end_fleet(endpoint)
            raise
        finally:
            self._coming.remove(endpoint)

    def resize(self, endpoint: Endpoint) -> None:
        """Have the instances that host components follow a configuration that has been taken, as far as there is room.

        Args:
            endpoint: Its endpoint.
        """
        before = {one.name for variant in endpoint.variants.values() for one in variant.instances}
        endpoint.reductions = self._layout.resize(endpoint)
        for line in endpoint.reductions:
            self._report(line)
        there = {one.name for variant in endpoint.variants.values() for one in variant.instances}
        for name in sorted(before - there):
            self._report(f"{name} is released; {len(endpoint.sessions.drop_instance(name))} sessions are lost")

    async def end_fleet(self, endpoint: Endpoint) -> None:
        """Let every copy of an endpoint finish what it runs, and stop it."""
        self._going.append(endpoint)
        try:
            await self.retire(endpoint, endpoint.copies.values())
        finally:
            self._going.remove(endpoint)

    async def add_copies(
        self, endpoint: Endpoint, component: Component, count: int, *, replaced: Collection[Copy]
    ) -> None:
        """Start copies of a component beside those that it has.

        Args:
            endpoint: Its endpoint.
            component: The component.
            count: How many copies.
            replaced: Those that end afterwards: the new ones go where they would without them.

        Raises:
            LocalError: One did not start. Whatever did of them is stopped.
        """
        made = self._layout.add_copies(endpoint, component, count, replaced)
        try:
            await self._bring_all_up([(endpoint, one) for one in made])
        except BaseException:
            await self.retire(endpoint, made)
            raise

    async def retire(self, endpoint: Endpoint, copies: Iterable[Copy]) -> None:
        """Let copies finish what they run, and stop them."""
        leaving = list(copies)
        for copy in leaving:
            copy.state = CopyState.STOPPING
        await asyncio.gather(*(self._drain(endpoint, copy) for copy in leaving))

    def tell(self, line: str) -> None:
        """Tell people something that they have to know."""
        self._report(line)

    async def stop(self) -> None:
        """Stop every copy. Any number of times."""
        self._stopping = True
        # Guard: before the tasks are cancelled, too; one that was draining a copy takes it out of its fleet.
        there = self._all_copies()
        for task in list(self._tasks):
            task.cancel()
        await abandon(there.values())
        running = [copy for copy in (there | self._all_copies()).values() if copy.running]
        for copy in running:
            copy.state = CopyState.STOPPING
            copy.faults.ended = True  # who waits for a copy that hangs waits in vain
        await asyncio.gather(*(copy.running.stop() for copy in running if copy.running), return_exceptions=True)
        await self._starter.close()
        for endpoint in self.endpoints.values():
            endpoint.copies.clear()

    async def scale(self, endpoint: Endpoint, component: Component, count: int) -> None:
        """Have a component reach a number of copies: return at once, what is to do goes on.

        Args:
            endpoint: Its endpoint.
            component: The component.
            count: How many copies.
        """
        component.desired_copies, component.reduction = count, ""
        for copy in endpoint.copies_of(component.name):
            if copy.state is CopyState.FAILED and not copy.counts():
                del endpoint.copies[copy.name]
        there = [copy for copy in endpoint.copies_of(component.name) if copy.counts()]
        # The newest first: what has served longest is warmest.
        for copy in there[count:]:
            copy.state = CopyState.STOPPING
            self.spawn(self._drain(endpoint, copy))
        for copy in self._layout.add_copies(endpoint, component, max(0, count - len(there))):
            self.spawn(self._bring_up_again(endpoint, copy))

    def left_for(self, endpoint: Endpoint, component: Component) -> RoomLeft:
        """Return how many copies a component can have on this machine, and what the others take."""
        return room_left(self.settings.room, self._owners(), endpoint, component)

    async def kill(self, copy: Copy) -> None:
        """End a copy as kill -9 does."""
        if copy.running is not None:
            await copy.running.kill()

    async def restart_instance(self, endpoint: Endpoint, instance: Instance) -> None:
        """Replace an instance: its copies end at once, and others start on a new one.

        Args:
            endpoint: Its endpoint.
            instance: The instance.
        """
        variant = endpoint.variant_of(instance)
        if variant is None:
            raise LocalError(f"instance {instance.name} is gone")
        gone = endpoint.copies_on(instance)
        # Not of those that are on their way out; what was started in vain has another chance on another instance.
        replaced = [copy for copy in gone if copy.state is not CopyState.STOPPING]
        for copy in gone:
            copy.state = CopyState.STOPPING
        lost = endpoint.sessions.drop_instance(instance.name)
        self._report(f"{instance.name} is replaced; {len(lost)} sessions are lost")
        new = self._layout.instance(variant)
        variant.instances[variant.instances.index(instance)] = new
        for copy in replaced:
            self.spawn(self._bring_up_again(endpoint, self._layout.copy(endpoint, new, copy.component, copy.model)))
        await abandon(gone)
        await asyncio.gather(*(copy.running.kill() for copy in gone if copy.running is not None))
        for copy in gone:
            endpoint.copies.pop(copy.name, None)

    def _all_copies(self) -> dict[str, Copy]:
        """Return the copies of every fleet, by their names: those of two fleets are not alike."""
        return {copy.name: copy for one in (*self._owners(), *self._going) for copy in one.copies.values()}

    def _owners(self) -> list[Endpoint]:
        """Return whoever has room: not what is on its way out."""
        return [*self.endpoints.values(), *self._coming]

    def _laid_out(self, endpoint: Endpoint, plan: StartPlan) -> list[tuple[Endpoint, Copy]]:
        return [(endpoint, copy) for copy in self._layout.lay_out(endpoint, plan)]

    async def _bring_all_up(self, copies: Sequence[tuple[Endpoint, Copy]]) -> None:
        await all_of(self._bring_up(endpoint, copy) for endpoint, copy in copies)

    async def _bring_up(self, endpoint: Endpoint, copy: Copy) -> None:
        """Start a copy, and take it into service."""
        # Before the first time that everything serves, whoever started it is there to be told.
        await self._starts.start(endpoint, copy, is_strict=not self.ready)
        if copy.running is None or copy.state is CopyState.STOPPING or self._stopping:
            if copy.running is not None:
                await copy.running.stop()
            endpoint.copies.pop(copy.name, None)
            return
        self.spawn(self._watch(endpoint, copy))

    async def _bring_up_again(self, endpoint: Endpoint, copy: Copy) -> None:
        """Start a copy while the endpoint serves: a failure is reported, and tried again a few times."""
        for attempt in range(1, STARTS_IN_VAIN + 1):
            try:
                await self._bring_up(endpoint, copy)
                return
            except Exception as error:
                # Guard: it may have been told to stop meanwhile, here and while it waits.
                if not copy.counts():
                    return
                self._report(f"{copy.name} did not start (try {attempt} of {STARTS_IN_VAIN}): {reason_of(error)}")
                await self._sleep(self.settings.restart_seconds * attempt)
            if not copy.counts():
                return
        copy.state = CopyState.FAILED

    async def _watch(self, endpoint: Endpoint, copy: Copy) -> None:
        """Wait for the end of a copy, and have another one take its place."""
        if copy.running is None:
            return
        how = await copy.running.wait()
        copy.faults.ended = True
        if copy.state is not CopyState.IN_SERVICE or self._stopping:
            return
        copy.state, copy.failure = CopyState.FAILED, how
        self._report(f"{copy.name} ended with {how}; it is started again")
        await self._sleep(self.settings.restart_seconds)
        variant = endpoint.variant_of(copy.instance)
        # Guard: it may have been told to stop meanwhile, or its instance was replaced.
        if copy.state is not CopyState.FAILED or variant is None or endpoint.copies.pop(copy.name, None) is None:
            return
        place = copy.instance
        if copy.component is None:
            # A container that ends takes its instance with it, unless components share the instance.
            lost = endpoint.sessions.drop_instance(place.name)
            gone, place = place, self._layout.instance(variant)
            variant.instances[variant.instances.index(gone)] = place
            self._report(f"{gone.name} is replaced by {place.name}; {len(lost)} sessions are lost")
        # The successor runs what the copy ran, whatever an update has made of the definition meanwhile.
        await self._bring_up_again(endpoint, self._layout.copy(endpoint, place, copy.component, copy.model))

    async def _drain(self, endpoint: Endpoint, copy: Copy) -> None:
        """Let a copy finish what it runs, and stop it; release its instance if that is empty then."""
        await abandon([copy])
        waited = 0.0
        while copy.in_flight and waited < self.settings.drain_seconds:
            await self._sleep(0.1)
            waited += 0.1
        try:
            if copy.running is not None:
                await copy.running.stop()
        finally:
            # Also of one that cannot be stopped: nobody is to wait for it.
            endpoint.copies.pop(copy.name, None)
            if self._layout.release(endpoint, copy.instance):
                lost = endpoint.sessions.drop_instance(copy.instance.name)
                self._report(f"{copy.instance.name} is released; {len(lost)} sessions are lost")

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something in the background, until the platform stops."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Future[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._report(f"something failed in the background: {error}")
