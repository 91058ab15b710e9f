"""How the platform behaves."""

from __future__ import annotations

from dataclasses import dataclass, field

from warmstack.local.platform.start_plan import Room
from warmstack.routing import RoutingChoices


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformSettings:
    """How the platform behaves.

    Args:
        room: How much starts on this machine.
        choices: What is not documented of routing.
        restart_seconds: How long a copy that ended is away before it is started again.
        drain_seconds: How long a copy that is to stop may finish what it runs.
        ping_seconds: How often /ping is asked; 0 for never.
        ping_failures: After how many failures an instance is replaced. SageMaker's number is not documented.
        starts_at_once: How many copies start at the same time.
    """

    room: Room
    choices: RoutingChoices = field(default_factory=RoutingChoices)
    restart_seconds: float = 0.5
    drain_seconds: float = 30.0
    ping_seconds: float = 5.0
    ping_failures: int = 3
    starts_at_once: int = 2
