"""What an endpoint has where: its instances, and the copies on them. Nothing that is made here runs yet."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import partial

from warmstack.assembly import ModelDefinition
from warmstack.local.platform.copies import Copy, Instance
from warmstack.local.platform.endpoints import Component, Endpoint, Variant
from warmstack.local.platform.placement import Accelerators, instance_for
from warmstack.local.platform.room_left import room_left_for
from warmstack.local.platform.start_plan import Room, StartPlan


class Layout:
    """Makes instances and copies, and takes instances away.

    Args:
        room: What this machine takes.
        accelerators: How many an instance type has.
        owners: All endpoints that run, and those that an update is starting.
    """

    def __init__(self, room: Room, accelerators: Accelerators, owners: Callable[[], Iterable[Endpoint]]) -> None:
        self._room = room
        self._accelerators = accelerators
        self._owners = owners
        self._numbers = itertools.count(1)
        self._instance_numbers = itertools.count(1)

    def lay_out(self, endpoint: Endpoint, plan: StartPlan) -> list[Copy]:
        """Make the instances and copies that a plan gives an endpoint; return the copies."""
        copies: list[Copy] = []
        for variant in endpoint.variants.values():
            size = plan.instances[endpoint.name, variant.definition.name]
            variant.desired_instances = size.given
            new = [self.instance(variant) for _ in range(size.given)]
            variant.instances += new
            if (model := variant.definition.model) is not None:
                copies += [self.copy(endpoint, one, None, model) for one in new]
        for component in endpoint.components.values():
            if component.definition.base is None:
                component.desired_copies = plan.copies[endpoint.name, component.name].given
                copies += self.add_copies(endpoint, component, component.desired_copies)
        return copies

    def add_copies(
        self, endpoint: Endpoint, component: Component, count: int, leaving: Collection[Copy] = ()
    ) -> list[Copy]:
        """Make copies of a component, on instances with room for them.

        Args:
            endpoint: Its endpoint.
            component: The component.
            count: How many copies.
            leaving: Copies that take no room, because they end soon.
        """
        variant = endpoint.variants[component.definition.variant_name]
        made = []
        for _ in range(count):
            if not variant.instances:
                self._grow(variant)
            place = instance_for(
                endpoint,
                variant,
                component,
                self._accelerators,
                leaving=leaving,
                grow=partial(self._scale_out, endpoint, variant),
            )
            made.append(self.copy(endpoint, place, component.name, component.definition.model))
        return made

    def copy(self, endpoint: Endpoint, instance: Instance, component: str | None, model: ModelDefinition) -> Copy:
        """Make a copy of a component, or of a variant's own model, on an instance."""
        name = f"{instance.name}/{component or instance.variant}-{next(self._numbers)}"
        copy = Copy(name=name, instance=instance, component=component, model=model)
        endpoint.copies[name] = copy
        return copy

    def instance(self, variant: Variant) -> Instance:
        """Make an instance; whoever asks puts it into the variant."""
        return Instance(name=f"i-{next(self._instance_numbers)}", variant=variant.definition.name)

    def resize(self, endpoint: Endpoint) -> tuple[str, ...]:
        """Have variants that host components reach the instances of a configuration that they have just taken.

        An instance with copies stays: nobody has asked them to go.

        Returns:
            A sentence for each variant that has less than its configuration asks for.
        """
        short = []
        for name, variant in endpoint.variants.items():
            wanted = variant.definition.initial_instance_count
            while len(variant.instances) < wanted and self._left(endpoint).instances:
                self._grow(variant)
            for one in variant.instances[::-1]:
                if len(variant.instances) > wanted and not endpoint.copies_on(one):
                    variant.instances.remove(one)
            variant.desired_instances = there = len(variant.instances)
            if there < wanted:
                way_out = self._left(endpoint).instances_way_out
                short.append(f"{endpoint.name}: variant {name}: {there} of {wanted} instances start; {way_out}")
        return tuple(short)

    def _left(self, endpoint: Endpoint) -> Room:
        """Return how much room there is beside what others and the endpoint itself have."""
        left = room_left_for(self._room, self._owners(), endpoint.name).as_room
        own = sum(len(one.instances) for one in endpoint.variants.values())
        return replace(left, instances=max(0, left.instances - own))

    def release(self, endpoint: Endpoint, instance: Instance) -> bool:
        """Take away an instance that has become empty, where SageMaker would; return whether it is gone."""
        variant = endpoint.variant_of(instance)
        if variant is None or endpoint.copies_on(instance):
            return False
        definition = variant.definition
        if definition.model is None and definition.max_instance_count is None:
            # Nothing scales it: it keeps its instances whether copies are on them or not.
            return False
        if len(variant.instances) <= (definition.min_instance_count or 0):
            return False
        variant.instances.remove(instance)
        variant.desired_instances = len(variant.instances)
        return True

    def _scale_out(self, endpoint: Endpoint, variant: Variant) -> Instance | None:
        """Add an instance, as managed instance scaling does when copies find no room; None where it may not."""
        most = variant.definition.max_instance_count
        if most is None or len(variant.instances) >= most or not self._left(endpoint).instances:
            return None
        return self._grow(variant)

    def _grow(self, variant: Variant) -> Instance:
        new = self.instance(variant)
        variant.instances.append(new)
        variant.desired_instances = len(variant.instances)
        return new
