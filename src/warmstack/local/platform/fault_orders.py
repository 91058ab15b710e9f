"""Faults as they are asked for: which, on what, and carried out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import UnionType
from typing import TypeVar

from warmstack.local.errors import LocalError
from warmstack.local.platform.copies import Copy
from warmstack.local.platform.endpoints import Endpoint
from warmstack.local.platform.faults_catalog import FAULTS
from warmstack.local.platform.platform import Platform

_T = TypeVar("_T")
_MOST_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultOrder:
    """A fault to put on something.

    Args:
        fault: One of `FAULTS`.
        target: The copy, component, session, instance or endpoint; a copy or instance by any start of its name
            that is unique.
        seconds: For ``slow``.
        pieces: For ``cut``.
        times: For ``cut`` and ``unavailable``; None for good.
    """

    fault: str
    target: str
    seconds: float = 1.0
    pieces: int = 1
    times: int | None = None


async def inflict(platform: Platform, order: FaultOrder) -> str:
    """Carry out an order, and return what was done.

    Args:
        platform: The endpoints.
        order: What to do.

    Raises:
        LocalError: There is no such fault or target, or a value is not what it must be.
    """
    _check(order)
    match order.fault:
        case "kill" | "hang" | "slow" | "cut" | "heal":
            return await _on_copy(platform, order)
        case "refuse" | "accept":
            _, component = _one(
                {one.name: (endpoint, one) for endpoint in _all(platform) for one in endpoint.components.values()},
                order.target,
                "component",
            )
            component.refuses = order.fault == "refuse"
            return f"{component.name} {'refuses' if component.refuses else 'takes'} requests"
        case "unavailable":
            if order.times is not None and order.times < 1:
                raise LocalError("times must be 1 or above")
            _, endpoint = _one({one.name: (one.name, one) for one in _all(platform)}, order.target, "endpoint")
            endpoint.outage.begin(order.times)
            return f"{endpoint.name} is unavailable{'' if order.times is None else f' for {order.times} requests'}"
        case "expire":
            return _expire(platform, order.target)
        case "restart":
            endpoint, instance = _one(
                {
                    one.name: (endpoint, one)
                    for endpoint in _all(platform)
                    for variant in endpoint.variants.values()
                    for one in variant.instances
                },
                order.target,
                "instance",
            )
            await platform.restart_instance(endpoint, instance)
            return f"{instance.name} is replaced"
        case _:
            raise LocalError(f"fault {order.fault!r} does not exist; the faults are {', '.join(FAULTS)}")


def _check(order: FaultOrder) -> None:
    kinds: tuple[tuple[str, object, type | UnionType, str], ...] = (
        ("fault", order.fault, str, "a text"),
        ("target", order.target, str, "a text"),
        ("seconds", order.seconds, int | float, "a number"),
        ("pieces", order.pieces, int, "a whole number"),
        ("times", order.times, int | None, "a whole number"),
    )
    problems = [
        f"{name} is {value!r}; it must be {what}"
        for name, value, kind, what in kinds
        if isinstance(value, bool) or not isinstance(value, kind)
    ]
    if problems:
        raise LocalError("\n".join(problems))


async def _on_copy(platform: Platform, order: FaultOrder) -> str:
    if order.fault == "heal" and order.target == "all":
        for endpoint in _all(platform):
            endpoint.outage.clear()
            for one in endpoint.copies.values():
                one.faults.clear()
        return "everything is well"
    copy = _one(
        {one.name: one for endpoint in _all(platform) for one in endpoint.copies.values()}, order.target, "copy"
    )
    match order.fault:
        case "kill":
            await platform.kill(copy)
            return f"{copy.name} is killed"
        case "hang":
            copy.faults.hangs = True
        case "slow":
            if not 0 <= order.seconds <= 3600:
                raise LocalError(f"seconds is {order.seconds}; it must be from 0 to 3600")
            copy.faults.slow_seconds = order.seconds
        case "cut":
            if order.pieces < 0 or (order.times is not None and order.times < 1):
                raise LocalError("pieces must be 0 or above, and times 1 or above")
            copy.faults.cut_after, copy.faults.cuts = order.pieces, order.times
        case _:
            copy.faults.clear()
    return _now(copy)


def _now(copy: Copy) -> str:
    return f"{copy.name} {', '.join(copy.faults.described()) or 'is well'}"


def _expire(platform: Platform, target: str) -> str:
    now = platform.clock()
    if target == "all":
        ended = 0
        for endpoint in _all(platform):
            for session in endpoint.sessions.live(now_seconds=now):
                ended += endpoint.sessions.expire(session.id, now_seconds=now)
        return f"{ended} sessions have expired"
    if not any(endpoint.sessions.expire(target, now_seconds=now) for endpoint in _all(platform)):
        raise LocalError(f"session {target!r} is not open; `warmstack local status` counts them, 'all' takes each")
    return f"session {target} has expired"


def _all(platform: Platform) -> list[Endpoint]:
    return list(platform.endpoints.values())


def _one(named: Mapping[str, _T], target: str, what: str) -> _T:
    if target in named:
        return named[target]
    # Guard: i-1 is also the start of i-10; the copies of an instance go before those of others.
    found = [name for name in named if target and (name.startswith(f"{target}/") or name.endswith(f"/{target}"))]
    found = found or [name for name in named if target and name.startswith(target)]
    if len(found) == 1:
        return named[found[0]]
    if found:
        more = f" and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
        raise LocalError(
            f"{target!r} names more than one {what}: {', '.join(found[:_MOST_SHOWN])}{more}; give the whole name of "
            "one, see `warmstack local status`"
        )
    near = get_close_matches(target, named, 1)
    hint = f"did you mean {near[0]}?" if near else f"there is {', '.join(named) or 'none'}"
    raise LocalError(f"there is no {what} {target!r}; {hint}")
