"""Waiting until an endpoint and its components are what they will be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from warmstack.operate.asking import RefusedError
from warmstack.operate.verification.live import MOVING, Live, LiveComponent, LiveEndpoint

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """How long to wait, and by which clock.

    Args:
        timeout_seconds: The longest; 0 looks once.
        clock: Seconds, of a clock that only goes forward.
        sleep: Waits some seconds.
        progress: Told of each change, and how many seconds have passed.
    """

    timeout_seconds: float
    clock: Callable[[], float]
    sleep: Callable[[float], object]
    progress: Callable[[str, float], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What there was when the waiting ended.

    Args:
        endpoint: The endpoint.
        components: Its components by their names.
        unlisted: Why its components could not be listed or described, or None.
        seen: Every status of the endpoint, in order.
        timed_out: Whether it ended because the time was over.
        seconds: How long it took.
    """

    endpoint: LiveEndpoint
    components: dict[str, LiveComponent] = field(default_factory=dict)
    unlisted: RefusedError | None
    seen: tuple[str, ...]
    timed_out: bool
    seconds: float

    @property
    def rolled_back(self) -> bool:
        """Whether an update was rolled back while this waited."""
        return "RollingBack" in self.seen


def wait_until_settled(live: Live, name: str, waiting: Waiting, around: Callable[[], str] = str) -> Settled:
    """Wait while the endpoint or a component of it is being created or updated, or lacks instances or copies.

    Args:
        live: SageMaker.
        name: The endpoint.
        waiting: How long.
        around: Says what is still done to what the endpoint belongs to, or nothing.

    Raises:
        RefusedError: The endpoint could not be asked for.
    """
    began = waiting.clock()
    pause, told = FIRST_PAUSE_SECONDS, ""
    seen: list[str] = []
    components: dict[str, LiveComponent] = {}
    while True:
        endpoint = live.endpoint(name)
        if seen[-1:] != [endpoint.status]:
            seen.append(endpoint.status)
        unlisted = _look(live, name, components)
        moving = "; ".join(filter(None, (_moving(endpoint, components), around())))
        passed = waiting.clock() - began
        late = passed >= waiting.timeout_seconds
        if not moving or endpoint.status in ("Failed", "Deleting") or late:
            return Settled(
                endpoint=endpoint,
                components=dict(components),
                unlisted=unlisted,
                seen=tuple(seen),
                timed_out=bool(moving) and late,
                seconds=passed,
            )
        if moving != told:
            told = moving
            waiting.progress(moving, passed)
        # The last pause is shorter: what is there when the time is over counts.
        waiting.sleep(min(pause, waiting.timeout_seconds - passed))
        pause = min(pause * 2, LONGEST_PAUSE_SECONDS)


def _look(live: Live, endpoint: str, known: dict[str, LiveComponent]) -> RefusedError | None:
    """Learn of the components what is new: describing each of hundreds again would take SageMaker's five a second."""
    try:
        statuses = dict(live.component_statuses(endpoint))
        for name in set(known) - set(statuses):
            del known[name]
        for name, status in statuses.items():
            before = known.get(name)
            if before is None or before.status != status or not before.settled:
                known[name] = live.component(name)
    except RefusedError as refused:
        return refused
    return None


def _moving(endpoint: LiveEndpoint, components: dict[str, LiveComponent]) -> str:
    """Return what is still moving, or nothing."""
    told = []
    if endpoint.status in MOVING:
        told.append(f"{endpoint.name} is {endpoint.status}")
    told += [
        f"variant {one.name} has {one.current} of {one.desired} instances"
        for one in endpoint.variants
        if not one.complete
    ]
    moving = [one for one in components.values() if not one.settled]
    told += [f"{one.name} is {one.status}{_copies(one)}" for one in moving[:3]]
    if len(moving) > 3:
        told.append(f"{len(moving) - 3} more components are not settled")
    return "; ".join(told)


def _copies(one: LiveComponent) -> str:
    return "" if one.complete else f" with {one.current} of {one.desired} copies"
