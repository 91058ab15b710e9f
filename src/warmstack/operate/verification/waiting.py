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
        unlisted: Why its components could not be listed, or may not be described, or None.
        undescribed: Why components that are listed could not be described, by their names.
        seen: Every status of the endpoint, in order.
        timed_out: Whether it ended because the time was over.
        seconds: How long it took.
    """

    endpoint: LiveEndpoint
    components: dict[str, LiveComponent] = field(default_factory=dict)
    unlisted: RefusedError | None
    undescribed: dict[str, RefusedError] = field(default_factory=dict)
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
    known = _Known(live, name)
    fresh = True
    while True:
        endpoint = live.endpoint(name)
        if seen[-1:] != [endpoint.status]:
            seen.append(endpoint.status)
        unlisted = known.look(again=False)
        moving = "; ".join(filter(None, (_moving(endpoint, known.components), around())))
        if not moving and not fresh:
            # What was settled when this began may not be so now.
            unlisted = known.look(again=True)
            moving = _moving(endpoint, known.components)
        fresh = not moving
        passed = waiting.clock() - began
        late = passed >= waiting.timeout_seconds
        if not moving or endpoint.status in ("Failed", "Deleting") or late:
            return Settled(
                endpoint=endpoint,
                components=dict(known.components),
                unlisted=unlisted,
                undescribed=dict(known.undescribed),
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


class _Known:
    """What is known of an endpoint's components.

    Args:
        live: SageMaker.
        endpoint: The endpoint.
    """

    def __init__(self, live: Live, endpoint: str) -> None:
        self._live = live
        self._endpoint = endpoint
        self.components: dict[str, LiveComponent] = {}
        self.undescribed: dict[str, RefusedError] = {}

    def look(self, *, again: bool) -> RefusedError | None:
        """Learn what is new: describing each of hundreds every time would take SageMaker's five a second.

        Args:
            again: Whether those that were settled are described, too.

        Returns:
            Why the components cannot be seen at all, or None.
        """
        self.undescribed.clear()
        try:
            statuses = dict(self._live.component_statuses(self._endpoint))
        except RefusedError as refused:
            return refused
        for name in set(self.components) - set(statuses):
            del self.components[name]
        for name, status in statuses.items():
            before = self.components.get(name)
            if not again and before is not None and before.status == status and before.settled:
                continue
            try:
                self.components[name] = self._live.component(name)
            except RefusedError as refused:
                self.components.pop(name, None)
                if refused.kind == "denied":
                    # Of the others there is no more to be seen.
                    return refused
                # One that is missing has been deleted since the list was made.
                if refused.kind != "missing":
                    self.undescribed[name] = refused
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
