"""The deployments whose images are built: specs through the real reader, planner and renderer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.unit.plan.specs import FILES, SGLANG, VLLM, planned
from tests.unit.render.builds import CODEBUILD, DOCKER, HERE, TEMPLATE, TIERS, TOKEN
from warmstack.cli.load import plan_file
from warmstack.plan import Plan

Change = dict[str, Any]
ROOT = Path(__file__).parents[2]
CODE = """\
from warmstack_formatters import input_formatter, output_formatter


@input_formatter
def to_model(payload: dict) -> dict:
    return {**payload, "max_tokens": 3}


@output_formatter
def to_client(response: dict, *, stream: bool) -> dict:
    return {**response, "formatted": "stream" if stream else "whole"}
"""
FORMATTERS: Change = {"model": {"formatters": "formatters.py"}, FILES: {"formatters.py": CODE}}
SESSIONS: Change = {"endpoint": {"sessions": {"ttl": "20m"}, "instances": {"min": 2}}}
ADAPTERS: Change = {
    "components": [
        {"name": "law", "accelerators": 4, "adapters": [{"name": "legal", "artifact": "s3://acme/legal.tar.gz"}]}
    ]
}
CHANGES: dict[str, tuple[Change, ...]] = {
    "lmi-tiers": (HERE, DOCKER, TIERS),
    "lmi-all": (HERE, DOCKER, TIERS, TEMPLATE, FORMATTERS),
    "lmi-token": (CODEBUILD, TIERS, TOKEN),
    "vllm-all": (HERE, DOCKER, VLLM, TIERS, TEMPLATE, FORMATTERS, TOKEN),
    "sglang-all": (HERE, DOCKER, SGLANG, TEMPLATE, FORMATTERS, TOKEN),
    "sglang-adapters": (HERE, CODEBUILD, SGLANG, ADAPTERS, SESSIONS),
}
EXAMPLE = "sglang-sessions"
NAMES = (*CHANGES, EXAMPLE)


def plan_of(name: str) -> Plan:
    """Return the plan of a case; it has no errors."""
    plan = plan_file(ROOT / "specs" / f"{EXAMPLE}.yaml").plan if name == EXAMPLE else planned(*CHANGES[name])
    assert plan is not None
    assert [one.message for one in plan.findings if one.severity == "error"] == []
    return plan
