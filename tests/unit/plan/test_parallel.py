"""Tensor parallel degrees."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.plan.specs import VLLM, planned
from warmstack.catalog import load_catalog
from warmstack.plan.parallel import degrees, largest, nearest

MODELS = load_catalog().models


@pytest.mark.parametrize(
    ("model", "gpus", "allowed"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", 8, (1, 2, 4)),  # 28 heads, 4 KV heads: 7 divides the heads but not the KV heads
        ("Qwen/Qwen2.5-1.5B-Instruct", 8, (1, 2, 4, 6)),  # 12 heads, 2 KV heads
        ("meta-llama/Llama-3.1-70B-Instruct", 8, (1, 2, 4, 8)),
        ("deepseek-ai/DeepSeek-V3", 8, (1, 2, 4, 8)),  # latent attention: no KV heads to split
    ],
)
def test_allowed_degrees(model: str, gpus: int, allowed: tuple[int, ...]) -> None:
    assert degrees(MODELS[model], gpus) == allowed
    assert largest(MODELS[model], gpus) == allowed[-1]


def test_nearest_names_both_sides() -> None:
    assert nearest(MODELS["Qwen/Qwen2.5-7B-Instruct"], 3, 4) == (2, 4)
    assert nearest(MODELS["Qwen/Qwen2.5-7B-Instruct"], 7, 8) == (4,)


@pytest.mark.parametrize(
    ("change", "degree", "accelerators"),
    [
        ({}, 4, 4),  # the variant itself: all GPUs
        ({"components": [{"name": "one"}]}, 1, 1),  # a component: the smallest that fits
        ({"components": [{"name": "one"}], "model": {"id": "Qwen/Qwen3-32B"}}, 4, 4),
        ({"components": [{"name": "one", "accelerators": 2}]}, 2, 2),
        ({"components": [{"name": "one"}], "engine": {"tensor_parallel_degree": 2}}, 2, 2),
        ({"endpoint": {"instance_type": "ml.p4de.24xlarge"}}, 4, 8),  # four GPUs stay over, and WS025 says so
    ],
)
def test_chosen_degree(change: dict[str, Any], degree: int, accelerators: int) -> None:
    model = planned(change).models[0]
    assert (model.memory.tensor_parallel_degree, model.accelerators) == (degree, accelerators)


def test_a_component_takes_more_gpus_for_a_longer_context() -> None:
    """The smallest degree that holds one full request: more tokens, more GPUs."""
    one = {"components": [{"name": "one"}], "model": {"id": "meta-llama/Llama-3.1-8B-Instruct", "max_model_len": 8192}}
    long = {"model": {"max_model_len": 131072}}
    assert planned(one).models[0].accelerators == 1
    assert planned(one, long).models[0].accelerators == 2


def test_data_parallel_ranks_share_the_gpus() -> None:
    plan = planned(VLLM, {"engine": {"options": {"data_parallel_size": 2}}})
    assert plan.models[0].memory.tensor_parallel_degree == 2


def test_copies_per_instance() -> None:
    model = planned(
        {"components": [{"name": "one", "accelerators": 2}]}, {"endpoint": {"instance_type": "ml.g5.48xlarge"}}
    )
    assert model.models[0].copies_per_instance == 4
