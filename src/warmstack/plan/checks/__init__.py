"""The checks: each looks at the spec and the plan made from it, and yields findings.

A check that belongs to one planning step lives there (options, degree, timeouts); the ones here combine steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from warmstack.plan.checks import (
    adapters,
    builds,
    cache,
    capacity,
    images,
    parsers,
    remote,
    routing,
    sessions,
    settings,
    speculative,
    weights,
)
from warmstack.plan.model import Finding, Plan
from warmstack.spec import DeploymentSpec

CheckFunction = Callable[[DeploymentSpec, Plan], Iterator[Finding]]

ALL_CHECKS: tuple[CheckFunction, ...] = (
    *images.CHECKS,
    *builds.CHECKS,
    *capacity.CHECKS,
    *cache.CHECKS,
    *remote.CHECKS,
    *routing.CHECKS,
    *sessions.CHECKS,
    *settings.CHECKS,
    *parsers.CHECKS,
    *speculative.CHECKS,
    *adapters.CHECKS,
    *weights.CHECKS,
)


def run_checks(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """Yield what every check finds."""
    for check in ALL_CHECKS:
        yield from check(spec, plan)
