"""Each check: a spec that it speaks of, at that place, and a nearby spec that it is silent about."""

from __future__ import annotations

import pytest

from tests.unit.plan.check_cases import builds, cache, capacity, deployment, engine, routing, speculative, weights
from tests.unit.plan.check_cases.case import Case
from tests.unit.plan.specs import found
from warmstack.plan import CHECKS

CASES = (
    *deployment.CASES,
    *builds.CASES,
    *capacity.CASES,
    *cache.CASES,
    *routing.CASES,
    *engine.CASES,
    *speculative.CASES,
    *weights.CASES,
)


def _name(case: Case) -> str:
    return f"{case.check} {case.label}".strip()


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_finds(case: Case) -> None:
    findings = [one for one in found(*case.bad) if one.check == case.check]
    assert findings, f"{case.check} is silent"
    assert case.path in [one.path for one in findings]
    one = next(one for one in findings if one.path == case.path)
    assert case.says in one.message
    assert one.severity == (case.severity or CHECKS[case.check].severity)


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_is_silent_where_it_should_be(case: Case) -> None:
    assert case.check not in [one.check for one in found(*case.good)]


def test_every_check_has_a_case() -> None:
    assert {case.check for case in CASES} == set(CHECKS)


def test_the_base_has_no_findings() -> None:
    assert found() == ()


@pytest.mark.parametrize("check", sorted(CHECKS))
def test_every_check_is_explained(check: str) -> None:
    one = CHECKS[check]
    assert one.id == check
    for text in (one.reason, one.fix):
        assert text.endswith("."), text
    assert one.source


def test_the_component_form_uses_every_gpu() -> None:
    """What WS025 offers, taken literally, leaves nothing idle."""
    change = [{"endpoint": {"instance_type": "ml.p4de.24xlarge", "instances": {"min": 2}}}]
    (idle,) = [one for one in found(*change) if one.check == "WS025"]
    assert "copies: {min: 4}" in idle.message
    form = {"components": [{"name": "chat", "accelerators": 4, "copies": {"min": 4}}]}
    assert not {"WS017", "WS018", "WS025"} & {one.check for one in found(*change, form)}
