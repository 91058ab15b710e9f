"""Fleets and requests for the tests of routing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warmstack.routing import (
    Candidate,
    RouteKey,
    RoutingChoices,
    RoutingRequest,
    RoutingRules,
    RoutingStrategy,
    body_prefix,
    route_key,
)


def key_of(text: str, prefix_aware_id: str | None = None) -> RouteKey:
    key = route_key(body_prefix(text.encode(), 4096), prefix_aware_id)
    assert key is not None
    return key


def asking(text: str) -> RoutingRequest:
    return RoutingRequest(key=key_of(text))


def fleet(loads: Mapping[str, Mapping[str, int]]) -> list[Candidate]:
    """Instances, their copies, and the requests in flight on each."""
    return [
        Candidate(copy=copy, instance=instance, in_flight=count, instance_in_flight=sum(copies.values()))
        for instance, copies in loads.items()
        for copy, count in copies.items()
    ]


def idle(instances: int, copies: int = 1) -> dict[str, dict[str, int]]:
    return {f"i-{i}": {f"i-{i}/c-{c}": 0 for c in range(copies)} for i in range(instances)}


def rules(strategy: RoutingStrategy, *, threshold: int = 4, per_copy: bool = True, **choices: Any) -> RoutingRules:
    return RoutingRules(
        strategy=strategy,
        prefix_length=1024,
        concurrency_threshold=threshold,
        per_copy=per_copy,
        choices=RoutingChoices(**choices),
    )


def prefix_aware(**settings: Any) -> RoutingRules:
    return rules(RoutingStrategy.PREFIX_AWARE, **settings)
