"""Which instance a new copy of a component goes to. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection

from warmstack.local.platform.copies import Copy, Instance
from warmstack.local.platform.endpoints import Component, Endpoint, Variant

Accelerators = Callable[[str], int | None]
"""Of an instance type: how many accelerators it has; None if that is not known."""


def instance_for(
    endpoint: Endpoint,
    variant: Variant,
    component: Component,
    accelerators: Accelerators,
    *,
    leaving: Collection[Copy] = (),
    grow: Callable[[], Instance | None] = lambda: None,
) -> Instance:
    """Return an instance with free accelerators: with SPREAD the one with the fewest copies, with BINPACK the fullest.

    How SageMaker places the copies of several components is not documented. Where no instance has room, and none can be
    added, the emptiest takes the copy all the same: the plan of a spec has checked that before, and there are no
    accelerators here.

    Args:
        endpoint: The endpoint.
        variant: The variant that hosts the component; it has an instance.
        component: The component.
        accelerators: Of an instance type.
        leaving: Copies that make room for the new one: they take none.
        grow: Adds an instance to the variant; None where it may have no more.
    """
    total = accelerators(variant.definition.instance_type)

    def there(one: Instance) -> list[Copy]:
        return [copy for copy in endpoint.copies_on(one) if copy not in leaving]

    def fits(one: Instance) -> bool:
        taken = sum(_needs(endpoint, copy.component) for copy in there(one))
        return total is None or taken + _needs(endpoint, component.name) <= total

    def crowding(one: Instance) -> tuple[int, int]:
        return sum(copy.component == component.name for copy in there(one)), len(there(one))

    fitting = [one for one in variant.instances if fits(one)]
    if fitting and component.definition.placement == "BINPACK":
        return max(fitting, key=lambda one: len(there(one)))
    if not fitting and (new := grow()) is not None:
        return new
    return min(fitting or variant.instances, key=crowding)


def _needs(endpoint: Endpoint, component: str | None) -> float:
    # Guard: a copy that still drains may outlive its component.
    found = endpoint.components.get(component) if component else None
    return 0 if found is None else found.definition.accelerators or 0
