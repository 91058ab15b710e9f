"""How many instances and copies start on this machine, of what a template asks for. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warmstack.assembly import ComponentDefinition, EndpointDefinition, VariantDefinition


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much starts of one variant or component.

    Args:
        asked: What the template asks for.
        given: What starts.
    """

    asked: int
    given: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StartPlan:
    """What starts.

    Args:
        instances: Instances, by endpoint and variant.
        copies: Copies of components, by endpoint and component; adapters have none of their own.
        reductions: A sentence for each number that is smaller than asked for.
        way_out: How more can start.
    """

    instances: dict[tuple[str, str], Size]
    copies: dict[tuple[str, str], Size]
    reductions: tuple[str, ...]
    way_out: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What this machine takes.

    Args:
        copies: Copies in all.
        instances: Instances in all.
        way_out: What to say of a reduction.
        instances_way_out: Likewise where instances are what there is too little of; empty for the same.
    """

    copies: int
    instances: int
    way_out: str = "--copies starts more"
    instances_way_out: str = ""


def plan_start(endpoints: Sequence[EndpointDefinition], room: Room, *, empty_hosts: bool = False) -> StartPlan:
    """Share the room: first one copy for each variant and component in turn, then the rest in turn.

    Args:
        endpoints: What the template defines.
        room: What this machine takes.
        empty_hosts: Whether variants without a model have their instances before a component is on them, as
            CreateEndpoint starts them; else those on which no copy will be have none.
    """
    wanted: dict[tuple[str, str], int] = {}
    hosts: dict[tuple[str, str], int] = {}
    for endpoint in endpoints:
        for variant in endpoint.variants:
            place = (endpoint.name, variant.name)
            least = 1 if _needs_host(endpoint, variant) else 0
            awaits = empty_hosts and variant.model is None
            hosts[place] = max(least, variant.initial_instance_count) if least or awaits else 0
            if variant.model is not None:
                wanted[endpoint.name, f"variant {variant.name}"] = variant.initial_instance_count
        for component in base_components(endpoint):
            wanted[endpoint.name, component.name] = component.copy_count
    given = _share(wanted, room.copies)
    instances = _share(hosts, room.instances)
    for_instances = room.instances_way_out or room.way_out
    ways_out = dict.fromkeys(wanted, room.way_out)
    for (endpoint_name, name), count in given.items():
        if name.startswith("variant "):
            # Such a copy is an instance: neither can be more than the other.
            place = (endpoint_name, name.removeprefix("variant "))
            if instances[place] < count:
                ways_out[endpoint_name, name] = for_instances
            given[endpoint_name, name] = instances[place] = min(count, instances[place])
    return StartPlan(
        instances={place: Size(asked=hosts[place], given=count) for place, count in instances.items()},
        copies={
            place: Size(asked=wanted[place], given=count)
            for place, count in given.items()
            if not place[1].startswith("variant ")
        },
        reductions=(
            *(
                f"{endpoint}: {name}: {given[endpoint, name]} of {asked} copies start; {ways_out[endpoint, name]}"
                for (endpoint, name), asked in wanted.items()
                if given[endpoint, name] < asked
            ),
            # Of the others, the copies tell.
            *(
                f"{endpoint}: variant {name}: {instances[endpoint, name]} of {asked} instances start; {for_instances}"
                for (endpoint, name), asked in hosts.items()
                if empty_hosts and (endpoint, f"variant {name}") not in wanted and instances[endpoint, name] < asked
            ),
        ),
        way_out=room.way_out,
    )


def base_components(endpoint: EndpointDefinition) -> list[ComponentDefinition]:
    """Return the components that have copies of their own: all but adapters."""
    return [one for one in endpoint.components if one.base is None]


def _needs_host(endpoint: EndpointDefinition, variant: VariantDefinition) -> bool:
    if variant.model is not None:
        return variant.initial_instance_count > 0
    return any(one.variant_name == variant.name and one.copy_count > 0 for one in base_components(endpoint))


def _share(wanted: dict[tuple[str, str], int], room: int) -> dict[tuple[str, str], int]:
    given = dict.fromkeys(wanted, 0)
    while room > 0:
        hungry = [place for place in wanted if given[place] < wanted[place]]
        if not hungry:
            break
        for place in hungry[:room]:
            given[place] += 1
        room -= len(hungry[:room])
    return given
