"""How much of this machine is left, and who has the rest. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from warmstack.local.platform.endpoints import Component, Endpoint
from warmstack.local.platform.start_plan import Room


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomLeft:
    """What somebody can have.

    Args:
        room: What this machine takes.
        copies_taken: How many copies others have, by the endpoint's name.
        instances_taken: Likewise instances.
    """

    room: Room
    copies_taken: Mapping[str, int]
    instances_taken: Mapping[str, int]

    @property
    def copies(self) -> int:
        """How many copies that leaves."""
        return max(0, self.room.copies - sum(self.copies_taken.values()))

    @property
    def instances(self) -> int:
        """How many instances that leaves."""
        return max(0, self.room.instances - sum(self.instances_taken.values()))

    @property
    def why(self) -> str:
        """Why there can be no more copies, and what to do."""
        return _why(self.room, self.room.copies, self.copies_taken)

    @property
    def as_room(self) -> Room:
        """What is left, as the room of an endpoint that comes now."""
        copies, instances = self.room.way_out, self.room.way_out
        if self.copies_taken:
            copies = self.why
        if self.instances_taken:
            instances = _why(self.room, self.room.instances, self.instances_taken)
        return Room(copies=self.copies, instances=self.instances, way_out=copies, instances_way_out=instances)


def room_left(room: Room, owners: Iterable[Endpoint], endpoint: Endpoint, component: Component) -> RoomLeft:
    """Return what a component can have.

    Args:
        room: What this machine takes.
        owners: All endpoints that run, and those that an update is starting.
        endpoint: The component's.
        component: The component; what it has itself does not count.
    """

    def copies(owner: Endpoint) -> int:
        own = component.name if owner.name == endpoint.name else None
        return sum(copy.counts() and (own is None or copy.component != own) for copy in owner.copies.values())

    return _left(room, owners, copies)


def room_left_for(room: Room, owners: Iterable[Endpoint], name: str) -> RoomLeft:
    """Return what a whole endpoint can have.

    Args:
        room: What this machine takes.
        owners: All endpoints that run, and those that an update is starting.
        name: The endpoint's name. What runs under it does not count: it is the endpoint's own, or what it replaces.
    """
    others = [one for one in owners if one.name != name]
    return _left(room, others, lambda one: sum(copy.counts() for copy in one.copies.values()))


def _left(room: Room, owners: Iterable[Endpoint], copies_of: Callable[[Endpoint], int]) -> RoomLeft:
    copies: dict[str, int] = {}
    instances: dict[str, int] = {}
    for one in owners:
        # Of the two fleets of an update only one stays: the endpoint has the room of the larger one.
        here = sum(len(variant.instances) for variant in one.variants.values())
        for taken, count in ((copies, copies_of(one)), (instances, here)):
            if count:
                taken[one.name] = max(taken.get(one.name, 0), count)
    return RoomLeft(room=room, copies_taken=copies, instances_taken=instances)


def _why(room: Room, most: int, taken: Mapping[str, int]) -> str:
    holders = ", ".join(f"{name} has {count}" for name, count in sorted(taken.items(), key=lambda one: -one[1]))
    return f"this machine takes {most}{f', of which {holders}' if holders else ''}; {room.way_out}"
