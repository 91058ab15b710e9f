"""How much of this machine is left, and who has the rest. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from warmstack.local.platform.endpoints import Component, Endpoint
from warmstack.local.platform.start_plan import Room


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomLeft:
    """What a component can have.

    Args:
        room: What this machine takes.
        taken: How many copies others have, by the endpoint's name; those of the component itself do not count.
    """

    room: Room
    taken: Mapping[str, int]

    @property
    def copies(self) -> int:
        """How many copies the component can have."""
        return max(0, self.room.copies - sum(self.taken.values()))

    @property
    def why(self) -> str:
        """Why it can have no more, and what to do."""
        most = sorted(self.taken.items(), key=lambda one: -one[1])
        holders = ", ".join(f"{name} has {count}" for name, count in most)
        taken = f", of which {holders}" if holders else ""
        return f"this machine takes {self.room.copies}{taken}; {self.room.way_out}"


def room_left(room: Room, endpoints: Iterable[Endpoint], endpoint: Endpoint, component: Component) -> RoomLeft:
    """Return what a component can have.

    Args:
        room: What this machine takes.
        endpoints: All that run.
        endpoint: The component's.
        component: The component.
    """
    taken = Counter(
        owner.name
        for owner in endpoints
        for copy in owner.copies.values()
        if copy.counts() and (owner is not endpoint or copy.component != component.name)
    )
    return RoomLeft(room=room, taken=taken)
