"""What a change of an endpoint or a component does to copies: it returns at once, and the rest goes on behind it.

::

    create    ─▶ Creating ─▶ copies start ─▶ InService, or Failed with the reason
    update    ─▶ Updating ─▶ a second fleet starts ─▶ it takes the requests, the first one finishes its own and ends
                          └▶ it does not start ─▶ the first one serves on: InService, with the reason
    delete    ─▶ Deleting ─▶ copies finish and end ─▶ gone

Endpoints whose variants host the model themselves are updated blue/green, as SageMaker documents it; what becomes of
components when their endpoint takes another configuration is not documented, and a choice (``config_swap``).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from warmstack.assembly import ComponentDefinition, EndpointDefinition
from warmstack.errors import WarmstackError
from warmstack.local.container import ContainerGoneError, ContainerRequest, read_body
from warmstack.local.platform.copies import Copy, CopyState
from warmstack.local.platform.endpoints import Component, Endpoint, Progress
from warmstack.local.platform.orders import AdapterOrder
from warmstack.local.platform.platform import Platform
from warmstack.routing import ConfigSwap

POLL_SECONDS = 0.05


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
        platform.spawn(self._create(endpoint))
        return endpoint

    def update(self, endpoint: Endpoint, definition: EndpointDefinition) -> None:
        """Have an endpoint take another configuration."""
        endpoint.progress = self._now("Updating")
        takes = self._swap(endpoint, definition) if endpoint.takes_components else self._replace(endpoint, definition)
        self.platform.spawn(takes)

    def delete(self, endpoint: Endpoint) -> None:
        """Delete an endpoint; what it runs finishes."""
        endpoint.progress = self._now("Deleting")
        self.platform.spawn(self._delete(endpoint))

    def create_component(self, endpoint: Endpoint, definition: ComponentDefinition) -> None:
        """Create a component: its copies start, or its base's copies load it."""
        component = Component(definition=definition, progress=self._now("Creating"))
        endpoint.components[definition.name] = component
        if definition.base is None:
            self.platform.spawn(self._start(endpoint, component))
        else:
            self.platform.spawn(self._load(endpoint, component))

    def update_component(self, endpoint: Endpoint, definition: ComponentDefinition) -> None:
        """Change a component: copies of another specification take the place of those that are there."""
        component = endpoint.components[definition.name]
        component.progress = self._now("Updating")
        if definition.base is not None:
            component.definition = definition
            self.platform.spawn(self._load(endpoint, component, again=True))
        else:
            self.platform.spawn(self._roll(endpoint, component, definition))

    def delete_component(self, endpoint: Endpoint, component: Component) -> None:
        """Delete a component; what its copies run finishes, or its base's copies unload it."""
        component.progress = self._now("Deleting")
        self.platform.spawn(self._remove(endpoint, component))

    def _now(self, status: str, failure: str = "") -> Progress:
        return Progress(status=status, failure=failure, changed_at=self.platform.clock())

    async def _create(self, endpoint: Endpoint) -> None:
        try:
            await self.platform.raise_fleet(endpoint)
        except (WarmstackError, OSError) as error:
            endpoint.progress = self._now("Failed", str(error))
            return
        if endpoint.progress.status == "Creating":
            endpoint.progress = self._now("InService")

    async def _replace(self, blue: Endpoint, definition: EndpointDefinition) -> None:
        platform = self.platform
        green = Endpoint(definition, choices=platform.settings.choices, created_at=blue.created_at)
        try:
            await platform.raise_fleet(green)
        except (WarmstackError, OSError) as error:
            # SageMaker rolls such an update back: the endpoint is in service, and runs what it ran.
            blue.progress = self._now("InService", str(error))
            return
        if platform.endpoints.get(blue.name) is not blue or blue.progress.status == "Deleting":
            await platform.end_fleet(green)
            return
        green.progress = self._now("InService")
        platform.endpoints[blue.name] = green
        blue.successor = green
        await platform.end_fleet(blue)

    async def _swap(self, endpoint: Endpoint, definition: EndpointDefinition) -> None:
        choices = self.platform.settings.choices
        endpoint.take(definition, choices)
        if choices.config_swap is ConfigSwap.RESTART_COPIES:
            for variant in endpoint.variants.values():
                for instance in list(variant.instances):
                    await self.platform.restart_instance(endpoint, instance)
            await self._until_served(endpoint)
        endpoint.progress = self._now("InService")

    async def _until_served(self, endpoint: Endpoint) -> None:
        while any(copy.state is CopyState.STARTING for copy in endpoint.copies.values()):
            await asyncio.sleep(POLL_SECONDS)

    async def _delete(self, endpoint: Endpoint) -> None:
        await self.platform.end_fleet(endpoint)
        if self.platform.endpoints.get(endpoint.name) is endpoint:
            del self.platform.endpoints[endpoint.name]

    async def _start(self, endpoint: Endpoint, component: Component) -> None:
        wanted = component.definition.copy_count
        left = self.platform.left_for(endpoint, component)
        count = min(wanted, left.copies)
        failure = ""
        if count < wanted:
            failure = f"{count} of {wanted} copies start: {left.why}"
            self.platform.tell(f"{endpoint.name}: {component.name}: {failure}")
        if wanted and not count:
            component.progress = self._now("Failed", failure)
            return
        await self.platform.scale(endpoint, component, count)
        component.reduction = failure
        await self._finish(endpoint, component, failure)

    async def _finish(self, endpoint: Endpoint, component: Component, failure: str) -> None:
        while True:
            there = [one for one in endpoint.copies_of(component.name) if one.state is not CopyState.STOPPING]
            if component.progress.status not in ("Creating", "Updating"):
                return
            broken = [one for one in there if one.state is CopyState.FAILED and not one.counts()]
            if broken:
                component.progress = self._now("Failed", broken[0].failure)
                return
            if all(one.state is CopyState.IN_SERVICE for one in there) and len(there) >= component.desired_copies:
                component.progress = self._now("InService", failure)
                return
            await asyncio.sleep(POLL_SECONDS)

    async def _roll(self, endpoint: Endpoint, component: Component, definition: ComponentDefinition) -> None:
        """Start copies of the new definition, then end those of the old one; or go back to it."""
        before = component.definition
        old = [copy for copy in endpoint.copies_of(component.name) if copy.counts()]
        component.definition = definition
        if definition.model == before.model:
            await self._start(endpoint, component)
            return
        count = definition.copy_count
        try:
            await self.platform.add_copies(endpoint, component, count, replaced=old)
        except (WarmstackError, OSError) as error:
            component.definition = before
            component.progress = self._now("InService", str(error))
            return
        component.desired_copies = count
        await self.platform.retire(endpoint, old)
        component.progress = self._now("InService")

    async def _load(self, endpoint: Endpoint, adapter: Component, *, again: bool = False) -> None:
        base = endpoint.components[adapter.hosts]
        try:
            for copy in _serving(endpoint, base):
                if again:
                    await _unregister(copy, adapter.name)
                if copy.running is not None:
                    artifact = adapter.definition.artifact_url or ""
                    await copy.running.register(AdapterOrder(name=adapter.name, artifact=artifact))
        except (WarmstackError, OSError) as error:
            adapter.progress = self._now("Failed", str(error))
            return
        if adapter.progress.status in ("Creating", "Updating"):
            adapter.progress = self._now("InService")

    async def _remove(self, endpoint: Endpoint, component: Component) -> None:
        if component.definition.base is None:
            await self.platform.retire(endpoint, endpoint.copies_of(component.name))
        else:
            for copy in _serving(endpoint, endpoint.components[component.hosts]):
                await _unregister(copy, component.name)
        if endpoint.components.get(component.name) is component:
            del endpoint.components[component.name]


def _serving(endpoint: Endpoint, base: Component) -> list[Copy]:
    return [copy for copy in endpoint.copies_of(base.name) if copy.state is CopyState.IN_SERVICE]


async def _unregister(copy: Copy, adapter: str) -> None:
    """Unload an adapter: a copy that does not know it, or is gone, has none of it."""
    if copy.container is None:
        return
    try:
        reply = await copy.container.send(ContainerRequest(method="DELETE", path=f"/adapters/{adapter}"))
        await read_body(reply)
    except ContainerGoneError:
        return
