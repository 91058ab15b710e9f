"""What a change of an endpoint or a component does to copies: it returns at once, and the rest goes on behind it.

::

    create    ─▶ Creating ─▶ copies start ─▶ InService, or Failed with the reason
    update    ─▶ Updating ─▶ a second fleet starts ─▶ it takes the requests, the first one finishes its own and ends
                          └▶ it does not start ─▶ the first one serves on: InService, with the reason
    delete    ─▶ Deleting ─▶ copies finish and end ─▶ gone

Whatever fails on the way, foreseen or not, ends in a lasting status with the reason: nobody waits for ever.

Endpoints whose variants host the model themselves, or are to, are updated blue/green, as SageMaker documents it; what
becomes of components when their endpoint takes another configuration is not documented, and a choice (``config_swap``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from warmstack.assembly import ComponentDefinition, EndpointDefinition
from warmstack.errors import WarmstackError
from warmstack.local.container import ContainerGoneError
from warmstack.local.errors import LocalError
from warmstack.local.platform.copies import Copy, CopyState
from warmstack.local.platform.endpoints import Component, Endpoint, Progress
from warmstack.local.platform.orders import AdapterOrder
from warmstack.local.platform.platform import Platform
from warmstack.local.platform.starts import reason_of
from warmstack.local.registration import unload
from warmstack.routing import ConfigSwap

POLL_SECONDS = 0.05
Work = Callable[[], Coroutine[Any, Any, str]]
"""Returns what there is to say although it succeeded; empty for nothing."""
Then = Callable[[], None]
"""What is to happen once a change has succeeded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """Changes what runs.

    Args:
        platform: What runs.
    """

    platform: Platform

    def create(self, definition: EndpointDefinition) -> Endpoint:
        """Create an endpoint; its copies start."""
        platform = self.platform
        endpoint = Endpoint(definition, choices=platform.settings.choices, created_at=platform.clock())
        endpoint.progress = self._now("Creating")
        platform.endpoints[endpoint.name] = endpoint
        self._run(endpoint, partial(self._create, endpoint))
        return endpoint

    def update(self, endpoint: Endpoint, definition: EndpointDefinition) -> None:
        """Have an endpoint take another configuration."""
        endpoint.progress = self._now("Updating")
        stays = endpoint.takes_components and all(one.model is None for one in definition.variants)
        takes = self._swap if stays else self._replace
        # SageMaker rolls an update that fails back: the endpoint is in service, and runs what it ran.
        self._run(endpoint, partial(takes, endpoint, definition), failed="InService")

    def delete(self, endpoint: Endpoint) -> None:
        """Delete an endpoint; what it runs finishes."""
        endpoint.progress = self._now("Deleting")
        self._run(endpoint, partial(self._delete, endpoint))

    def create_component(self, endpoint: Endpoint, definition: ComponentDefinition) -> None:
        """Create a component: its copies start, or its base's copies load it."""
        component = Component(definition=definition, progress=self._now("Creating"), created_at=self.platform.clock())
        endpoint.components[definition.name] = component
        comes = self._start if definition.base is None else self._load
        self._run(component, partial(comes, endpoint, component))

    def update_component(self, endpoint: Endpoint, definition: ComponentDefinition, then: Then = lambda: None) -> None:
        """Change a component: copies of another specification take the place of those that are there.

        Args:
            endpoint: Its endpoint.
            definition: What it is to be.
            then: Is called when it is that.
        """
        component = endpoint.components[definition.name]
        before, component.progress = component.progress, self._now("Updating")
        if definition.base is not None:
            component.definition = definition
            self._run(component, partial(self._load, endpoint, component, again=True), then=then)
        elif definition.model == component.definition.model:
            component.definition = definition
            self._run(component, partial(self._start, endpoint, component), then=then)
        else:
            # What does not start leaves what was there: that serves, unless it never did.
            failed = "InService" if before.status == "InService" else "Failed"
            self._run(component, partial(self._roll, endpoint, component, definition), failed=failed, then=then)

    def delete_component(self, endpoint: Endpoint, component: Component, then: Then = lambda: None) -> None:
        """Delete a component; what its copies run finishes, or its base's copies unload it.

        Args:
            endpoint: Its endpoint.
            component: The component.
            then: Is called when it is gone.
        """
        component.progress = self._now("Deleting")
        self._run(component, partial(self._remove, endpoint, component), then=then)

    def _now(self, status: str, failure: str = "") -> Progress:
        return Progress(status=status, failure=failure, changed_at=self.platform.clock())

    def _run(
        self,
        what: Endpoint | Component,
        work: Work,
        *,
        failed: str = "Failed",
        then: Then = lambda: None,
    ) -> None:
        """Do something in the background that leaves a passing status, however it ends.

        Args:
            what: What has the status.
            work: What is to be done.
            failed: The status that it has where this fails.
            then: Is called where it does not.
        """
        self.platform.spawn(self._come_to_rest(what, work, what.progress.status, failed, then))

    async def _come_to_rest(
        self, what: Endpoint | Component, work: Work, passing: str, failed: str, then: Then
    ) -> None:
        try:
            # What is gone stays as it went: others may still look at it.
            end = self._now("Deleting" if passing == "Deleting" else "InService", await work())
        except Exception as error:
            reason = reason_of(error)
            if not isinstance(error, WarmstackError | OSError):
                self.platform.tell(f"{what.name}: something unforeseen happened while it was {passing}: {reason}")
            end, then = self._now(failed, reason), lambda: None
        # Guard: it may have been deleted meanwhile, and then there is nothing to say or to keep of it.
        if what.progress.status == passing:
            what.progress = end
            then()

    async def _create(self, endpoint: Endpoint) -> str:
        await self.platform.raise_fleet(endpoint)
        return ""

    async def _replace(self, blue: Endpoint, definition: EndpointDefinition) -> str:
        platform = self.platform
        green = Endpoint(definition, choices=platform.settings.choices, created_at=blue.created_at)
        await platform.raise_fleet(green)
        green.progress = self._now("InService")
        platform.endpoints[blue.name] = green
        blue.successor = green
        await platform.end_fleet(blue)
        return ""

    async def _swap(self, endpoint: Endpoint, definition: EndpointDefinition) -> str:
        choices = self.platform.settings.choices
        endpoint.take(definition, choices)
        self.platform.resize(endpoint)
        if choices.config_swap is ConfigSwap.RESTART_COPIES:
            for variant in endpoint.variants.values():
                for instance in list(variant.instances):
                    # Guard: it may have been replaced while another one was.
                    if instance in variant.instances:
                        await self.platform.restart_instance(endpoint, instance)
            while any(copy.state is CopyState.STARTING for copy in endpoint.copies.values()):
                await asyncio.sleep(POLL_SECONDS)
        return ""

    async def _delete(self, endpoint: Endpoint) -> str:
        await self.platform.end_fleet(endpoint)
        if self.platform.endpoints.get(endpoint.name) is endpoint:
            del self.platform.endpoints[endpoint.name]
        return ""

    def _granted(self, endpoint: Endpoint, component: Component, wanted: int) -> tuple[int, str]:
        """Return how many copies of those that are wanted there is room for, and why no more; tell the latter.

        Raises:
            LocalError: There is room for none.
        """
        left = self.platform.left_for(endpoint, component)
        count = min(wanted, left.copies)
        if count == wanted:
            return count, ""
        reduction = f"{count} of {wanted} copies start: {left.why}"
        self.platform.tell(f"{endpoint.name}: {component.name}: {reduction}")
        if not count:
            raise LocalError(reduction)
        return count, reduction

    async def _start(self, endpoint: Endpoint, component: Component) -> str:
        """Have a component reach the copies of its definition."""
        count, reduction = self._granted(endpoint, component, component.definition.copy_count)
        await self._reach(endpoint, component, count, reduction)
        return reduction

    async def _reach(self, endpoint: Endpoint, component: Component, count: int, reduction: str) -> None:
        # Guard: it may be on its way out by now, and is to have no more copies then.
        if component.progress.status not in ("Creating", "Updating"):
            return
        await self.platform.scale(endpoint, component, count)
        component.reduction = reduction
        await self._until_served(endpoint, component, count)

    async def _until_served(self, endpoint: Endpoint, component: Component, count: int) -> None:
        """Wait until so many copies of what a component is now serve.

        Raises:
            LocalError: One has been started in vain often enough.
        """
        while component.progress.status in ("Creating", "Updating"):
            model = component.definition.model
            there = [one for one in endpoint.copies_of(component.name) if one.model == model]
            there = [one for one in there if one.state is not CopyState.STOPPING]
            broken = [one for one in there if one.state is CopyState.FAILED and not one.counts()]
            if broken:
                raise LocalError(broken[0].failure)
            if all(one.state is CopyState.IN_SERVICE for one in there) and len(there) >= count:
                return
            await asyncio.sleep(POLL_SECONDS)

    async def _roll(self, endpoint: Endpoint, component: Component, definition: ComponentDefinition) -> str:
        """Start copies of the new definition, then end those of the old one; or go back to it."""
        before = component.definition
        count, reduction = self._granted(endpoint, component, definition.copy_count)
        component.definition = definition
        try:
            old = [copy for copy in endpoint.copies_of(component.name) if copy.counts()]
            await self.platform.add_copies(endpoint, component, count, replaced=old)
            await self._until_served(endpoint, component, count)
        except Exception:
            component.definition = before
            await self._retire_others(endpoint, component)
            raise
        # Also of those that took an old one's place meanwhile; and what is lost or too many by now is made good.
        await self._retire_others(endpoint, component)
        await self._reach(endpoint, component, count, reduction)
        return reduction

    async def _retire_others(self, endpoint: Endpoint, component: Component) -> None:
        """End the copies of a component that run another model than it has now."""
        model = component.definition.model
        others = [one for one in endpoint.copies_of(component.name) if one.model != model]
        await self.platform.retire(endpoint, others)

    async def _load(self, endpoint: Endpoint, adapter: Component, *, again: bool = False) -> str:
        base = endpoint.components[adapter.hosts]
        for copy in _serving(endpoint, base):
            if again:
                await self._unload(copy, adapter.name)
            artifact = adapter.definition.artifact_url or ""
            # One that has ended meanwhile is started again, and loads it then.
            with suppress(ContainerGoneError):
                if copy.running is not None:
                    await copy.running.register(AdapterOrder(name=adapter.name, artifact=artifact))
        return ""

    async def _remove(self, endpoint: Endpoint, component: Component) -> str:
        if component.definition.base is None:
            await self.platform.retire(endpoint, endpoint.copies_of(component.name))
        else:
            serving = _serving(endpoint, endpoint.components[component.hosts])
            await asyncio.gather(*(self._unload(copy, component.name) for copy in serving))
        if endpoint.components.get(component.name) is component:
            del endpoint.components[component.name]
        return ""

    async def _unload(self, copy: Copy, adapter: str) -> None:
        if copy.container is not None and not await unload(copy.container, adapter):
            self.platform.tell(f"{copy.name} does not answer: it keeps adapter {adapter} until it ends")


def _serving(endpoint: Endpoint, base: Component) -> list[Copy]:
    return [copy for copy in endpoint.copies_of(base.name) if copy.state is CopyState.IN_SERVICE]
