"""What fits on the GPUs, against published figures and by hand."""

from __future__ import annotations

import pytest

from tests.unit.plan.specs import SGLANG, VLLM, planned
from warmstack.plan import Plan
from warmstack.units import GIB

P4DE = {"endpoint": {"instance_type": "ml.p4de.24xlarge"}}


def component(accelerators: int, model: str) -> dict[str, object]:
    return {"model": {"id": model}, "components": [{"name": "one", "accelerators": accelerators}]}


def kv_tokens(plan: Plan) -> int:
    return plan.models[0].memory.kv_tokens


@pytest.mark.parametrize(
    ("model", "degree", "published"),
    # AWS, LMI LMCache performance page: KV tokens on p4de GPUs. Assumptions that reproduce it: these degrees,
    # gpu_memory_utilization 0.90.
    [("Qwen/Qwen2.5-1.5B-Instruct", 1, 2.6e6), ("Qwen/Qwen2.5-72B-Instruct", 4, 480e3)],
)
def test_published_kv_capacity_within_five_percent(model: str, degree: int, published: float) -> None:
    plan = planned(P4DE, component(degree, model))
    assert plan.models[0].memory.gpu_memory_utilization == 0.90
    assert kv_tokens(plan) == pytest.approx(published, rel=0.05)


def test_the_share_of_the_gpu_is_the_specs_own() -> None:
    small = planned(P4DE, {"engine": {"options": {"gpu_memory_utilization": 0.5}}})
    large = planned(P4DE, {"engine": {"options": {"gpu_memory_utilization": 0.9}}})
    gpus = small.models[0].memory.tensor_parallel_degree
    more = (0.9 - 0.5) * 80 * GIB * 0.99 * gpus / small.models[0].memory.kv_bytes_per_token
    assert kv_tokens(large) - kv_tokens(small) == pytest.approx(more, rel=0.001)


def test_an_eight_bit_cache_holds_twice_as_much() -> None:
    plain, half = planned(VLLM), planned(VLLM, {"engine": {"options": {"kv_cache_dtype": "fp8"}}})
    assert kv_tokens(half) == pytest.approx(2 * kv_tokens(plain), rel=1e-4)


def test_replicated_heads_take_their_room() -> None:
    """Qwen2.5-7B has four KV heads: on eight GPUs (Llama-like heads allowed) each token is held twice."""
    four = planned(P4DE, component(4, "Qwen/Qwen3-30B-A3B"))
    eight = planned(P4DE, component(8, "Qwen/Qwen3-30B-A3B"))
    assert eight.models[0].memory.kv_bytes_per_token == 2 * four.models[0].memory.kv_bytes_per_token


def test_adapters_and_drafts_take_their_room() -> None:
    base = {"model": {"id": "meta-llama/Llama-3.1-8B-Instruct"}}
    adapters = [{"name": "a", "artifact": "s3://acme/a.tar.gz", "rank": 64}]
    plain = planned(base, {"components": [{"name": "one", "accelerators": 4}]})
    lora = planned(base, {"components": [{"name": "one", "accelerators": 4, "adapters": adapters}]})
    assert kv_tokens(lora) < kv_tokens(plain)
    draft = planned(base, VLLM, {"engine": {"speculative": {"method": "eagle3", "draft": "eagle3/"}}})
    assert kv_tokens(draft) < kv_tokens(planned(base, VLLM))


def test_lmcache_makes_windowed_layers_grow() -> None:
    """vLLM switches its hybrid cache manager off under LMCache: gpt-oss then keeps every layer whole."""
    oss = {"model": {"id": "openai/gpt-oss-20b"}}
    with_tier = planned(oss, VLLM, {"cache": {"tiers": {"cpu": "60%"}}})
    without = planned(oss, VLLM)
    assert with_tier.models[0].memory.kv_bytes_per_token == 2 * without.models[0].memory.kv_bytes_per_token


def test_sglang_leaves_activations_outside_its_share() -> None:
    sglang = planned(SGLANG).models[0].memory
    assert sglang.gpu_memory_utilization == 0.85
    assert sglang.overhead_bytes_per_gpu < planned(VLLM).models[0].memory.overhead_bytes_per_gpu


def test_full_sequences_are_tokens_over_length() -> None:
    memory = planned().models[0].memory
    assert memory.max_full_sequences == memory.kv_tokens // 8192
    assert memory.max_full_sequences > 0


def test_no_room_is_zero_tokens_not_a_negative_number() -> None:
    plan = planned({"model": {"id": "Qwen/Qwen2.5-72B-Instruct"}, "endpoint": {"instance_type": "ml.g5.xlarge"}})
    assert plan.models[0].memory.kv_tokens == 0
    assert plan.models[0].memory.kv_bytes_per_gpu == 0


def test_a_draft_model_of_the_catalog_takes_its_weights() -> None:
    def draft(model: str) -> dict[str, object]:
        return {"engine": {"speculative": {"method": "draft_model", "draft": model}}}

    base = {"model": {"id": "Qwen/Qwen3-32B"}, "endpoint": {"instance_type": "ml.g6e.12xlarge"}}
    known = planned(VLLM, base, draft("Qwen/Qwen3-0.6B")).models[0].memory
    unknown = planned(VLLM, base, draft("acme/small")).models[0].memory
    per_gpu = known.overhead_bytes_per_gpu - unknown.overhead_bytes_per_gpu
    assert per_gpu == pytest.approx(0.6e9 * 2 / 4, rel=0.05)
    assert kv_tokens(planned(VLLM, base, draft("acme/small"))) == unknown.kv_tokens


def test_kv_follows_a_32_bit_type() -> None:
    plain = planned(VLLM).models[0].memory
    wide = planned(VLLM, {"model": {"dtype": "float32"}}).models[0].memory
    assert wide.kv_bytes_per_token == 2 * plain.kv_bytes_per_token
