"""A target that fits the tiny adapters."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from warmstack.adapters import Target, target_of
from warmstack.cli.load import plan_file


@pytest.fixture(scope="session")
def target(root: Path) -> Target:
    """The base of the example with adapters: Llama 3.1 8B on LMI, with room for rank 16."""
    plan = plan_file(root / "specs" / "lora-tenants.yaml").plan
    assert plan is not None
    return target_of(plan, None)


@pytest.fixture(scope="session")
def sglang(target: Target) -> Target:
    return dataclasses.replace(target, server="sglang", server_version="0.5.20", max_lora_rank=None)
