"""Weights: the published totals, and the bytes that each storage format makes of them."""

from __future__ import annotations

import dataclasses
import re

import pytest

from warmstack.catalog import (
    ModelShape,
    ModulePattern,
    ParameterPart,
    QuantizationShape,
    load_catalog,
    next_token_parts,
    parameter_parts,
)
from warmstack.errors import CatalogError
from warmstack.plan.parameters import (
    active_parameter_count,
    next_token_parameter_count,
    parameter_count,
    weight_bytes,
)

MODELS = load_catalog().models
COMPLETE = sorted(model_id for model_id, shape in MODELS.items() if shape.complete)

# Totals as the publishers state them: model cards, technical reports, or the count of the safetensors index.
PUBLISHED = {
    "meta-llama/Llama-3.1-8B": 8.03e9,
    "meta-llama/Llama-3.1-70B": 70.55e9,
    "meta-llama/Llama-3.1-405B": 405.85e9,
    "Qwen/Qwen2.5-1.5B-Instruct": 1.54e9,
    "Qwen/Qwen2.5-7B-Instruct": 7.616e9,
    "Qwen/Qwen2.5-72B-Instruct": 72.706e9,
    "Qwen/Qwen3-30B-A3B": 30.53e9,
    "Qwen/Qwen3-235B-A22B": 235.09e9,
    "Qwen/Qwen3-VL-8B-Instruct": 8.77e9,
    "mistralai/Mixtral-8x7B-v0.1": 46.70e9,
    "mistralai/Mixtral-8x22B-v0.1": 140.6e9,
    "deepseek-ai/DeepSeek-V3": 671.03e9,
    "deepseek-ai/DeepSeek-V3.2": 671.0e9,
    "moonshotai/Kimi-K2-Instruct": 1026e9,
    "openai/gpt-oss-20b": 20.91e9,
    "openai/gpt-oss-120b": 116.83e9,
    "zai-org/GLM-5": 744e9,
    "XiaomiMiMo/MiMo-V2-Flash": 309e9,
    "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": 31.6e9,
}
ACTIVE = {
    "Qwen/Qwen3-30B-A3B": 3.3e9,
    "Qwen/Qwen3-235B-A22B": 22e9,
    "mistralai/Mixtral-8x7B-v0.1": 12.9e9,
    "deepseek-ai/DeepSeek-V3": 37e9,
    "XiaomiMiMo/MiMo-V2-Flash": 15e9,
    "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": 3.6e9,
}


@pytest.mark.parametrize(("model_id", "published"), PUBLISHED.items())
def test_the_published_total_within_one_percent(model_id: str, published: float) -> None:
    assert parameter_count(MODELS[model_id]) == pytest.approx(published, rel=0.01)


def test_a_count_that_is_known_to_the_last_weight() -> None:
    # The safetensors indexes of these repositories state their number of weights.
    assert parameter_count(MODELS["meta-llama/Llama-3.1-8B"]) == 8_030_261_248
    assert parameter_count(MODELS["Qwen/Qwen2.5-7B-Instruct"]) == 7_615_616_512
    assert parameter_count(MODELS["Qwen/Qwen3-8B"]) == 8_190_735_360


@pytest.mark.parametrize(("model_id", "published"), ACTIVE.items())
def test_the_published_active_weights(model_id: str, published: float) -> None:
    assert active_parameter_count(MODELS[model_id]) == pytest.approx(published, rel=0.03)


def test_active_weights_of_gpt_oss_are_published_without_the_embedding() -> None:
    # gpt-oss model card: 5.13 B active, the embedding not counted, the output head counted.
    shape = MODELS["openai/gpt-oss-120b"]
    active = active_parameter_count(shape)
    assert active is not None
    assert active - shape.vocab_size * shape.hidden_size == pytest.approx(5.13e9, rel=0.01)


def test_every_weight_of_a_dense_model_is_active() -> None:
    shape = MODELS["Qwen/Qwen3-32B"]
    assert active_parameter_count(shape) == parameter_count(shape)


def test_without_the_experts_a_token_uses_the_active_weights_are_not_known() -> None:
    shape = MODELS["mistralai/Mixtral-8x7B-v0.1"]
    assert shape.experts is not None
    unsaid = dataclasses.replace(shape, experts=dataclasses.replace(shape.experts, per_token=None))
    assert active_parameter_count(unsaid) is None
    assert parameter_count(unsaid) == parameter_count(shape)


@pytest.mark.parametrize("model_id", COMPLETE)
def test_the_size_in_a_models_name(model_id: str) -> None:
    name = model_id.rsplit("/", 1)[1]
    count = parameter_count(MODELS[model_id])
    assert count > 0
    # Llama 4 and Mixtral name the size of a part.
    stated = re.search(r"-([0-9]+(?:\.[0-9]+)?)B(?:-|$)", name)
    if stated is None or "Llama-4" in name:
        return
    size = float(stated[1]) * 1e9
    # Names round: the 7 of 7.6, the 8 of Qwen3-VL's 8.8.
    assert abs(count - size) <= max(0.06 * size, 0.8e9), count


def test_incomplete_shapes_give_no_number() -> None:
    shape = MODELS["deepseek-ai/DeepSeek-V4-Pro"]
    assert not shape.complete
    for ask in (parameter_count, active_parameter_count, next_token_parameter_count, weight_bytes):
        with pytest.raises(CatalogError, match=r"DeepSeek-V4-Pro are not known: .*compressed attention"):
            ask(shape)


def test_multi_token_prediction_is_counted_apart() -> None:
    # DeepSeek-V3 README: 14 B with the embedding and the output head, 11.5 B without what it shares.
    shape = MODELS["deepseek-ai/DeepSeek-V3"]
    assert next_token_parameter_count(shape) == pytest.approx(11.5e9, rel=0.02)
    assert next_token_parameter_count(MODELS["Qwen/Qwen3-8B"]) == 0
    assert next_token_parameter_count(MODELS["Qwen/Qwen3.5-27B"]) is None


def test_the_layers_for_multi_token_prediction_come_after_the_last() -> None:
    parts = next_token_parts(MODELS["deepseek-ai/DeepSeek-V3"])
    assert parts is not None
    assert {part.layer_indices for part in parts} == {(61,)}


def _part(shape: ModelShape, module: str) -> ParameterPart:
    (found,) = (part for part in parameter_parts(shape) if part.module == module)
    return found


def test_tied_embeddings_are_counted_once() -> None:
    shape = MODELS["Qwen/Qwen3-0.6B"]
    assert shape.tie_word_embeddings
    untied = dataclasses.replace(shape, tie_word_embeddings=False)
    assert parameter_count(untied) - parameter_count(shape) == shape.vocab_size * shape.hidden_size


def test_biases_and_sinks_of_gpt_oss() -> None:
    shape = MODELS["openai/gpt-oss-20b"]
    # q 4096, k 512, v 512, o 2880, 64 sinks; both kinds of layer have them.
    small = [part for part in parameter_parts(shape) if part.module == "self_attn.small"]
    assert [part.per_layer for part in small] == [4096 + 512 + 512 + 2880 + 64] * 2
    assert sum(part.layers for part in small) == 24
    assert _part(shape, "mlp.experts.bias").per_layer == 32 * (2 * 2880 + 2880)
    assert _part(shape, "mlp.gate").per_layer == 32 * (2880 + 1)


def test_experts_beside_the_mlp() -> None:
    shape = MODELS["google/gemma-4-26B-A4B"]
    assert _part(shape, "mlp.up_proj").layers == 30
    assert _part(shape, "experts.#.up_proj").layers == 30
    # Global layers make their values from the keys: there is no second projection.
    values = [part for part in parameter_parts(shape) if part.module == "self_attn.v_proj"]
    assert [part.layers for part in values] == [25]


def test_dense_layers_before_the_experts() -> None:
    shape = MODELS["deepseek-ai/DeepSeek-V3"]
    assert _part(shape, "mlp.up_proj").layer_indices == (0, 1, 2)
    assert _part(shape, "mlp.experts.#.up_proj").layer_indices == tuple(range(3, 61))


def test_unquantized_weights_take_two_bytes() -> None:
    shape = MODELS["Qwen/Qwen2.5-72B-Instruct"]
    found = weight_bytes(shape)
    assert found.total_bytes == 2 * parameter_count(shape)
    assert found.bits_per_weight == 16
    assert found.exact
    assert found.description == "bfloat16"


def test_the_engines_dtype_wins_and_auto_is_the_models_own() -> None:
    shape = MODELS["Qwen/Qwen3-0.6B"]
    assert weight_bytes(shape, dtype="float32").total_bytes == 4 * parameter_count(shape)
    assert weight_bytes(shape, dtype="auto") == weight_bytes(shape)
    assert weight_bytes(shape, dtype="half").total_bytes == weight_bytes(shape).total_bytes


def test_an_unknown_dtype_is_a_doubt_and_not_a_guess_in_silence() -> None:
    found = weight_bytes(MODELS["Qwen/Qwen3-0.6B"], dtype="posit16")
    assert not found.exact
    assert "posit16" in found.reason


@pytest.mark.parametrize(
    ("model_id", "gib"),
    # gpt-oss model card, table 1: checkpoint sizes.
    [("openai/gpt-oss-120b", 60.8), ("openai/gpt-oss-20b", 12.8)],
)
def test_mxfp4_is_the_size_of_the_published_checkpoint(model_id: str, gib: float) -> None:
    found = weight_bytes(MODELS[model_id])
    assert found.total_bytes / 1024**3 == pytest.approx(gib, rel=0.002)
    # The config states no dtype, and the figure says so.
    assert not found.exact
    assert "dtype" in found.reason


def test_fp8_keeps_embedding_head_norms_and_router() -> None:
    shape = MODELS["Qwen/Qwen3-30B-A3B-FP8"]
    parts = parameter_parts(shape)
    linear = sum(part.total for part in parts if part.kind in ("linear", "expert"))
    rest = sum(part.total for part in parts) - linear
    found = weight_bytes(shape)
    assert found.total_bytes == round((linear * (8 + 32 / 16384) + rest * 16) / 8)
    assert rest > 2 * shape.vocab_size * shape.hidden_size
    assert found.exact


def test_a_quantized_checkpoint_keeps_its_format_whatever_the_engine_is_told() -> None:
    shape = MODELS["deepseek-ai/DeepSeek-V3"]
    assert weight_bytes(shape, quantization="awq") == weight_bytes(shape)


def test_quantization_made_by_the_engine() -> None:
    shape = MODELS["meta-llama/Llama-3.1-70B-Instruct"]
    found = weight_bytes(shape, quantization="fp8")
    # 68.45 B linear weights at one byte, 2.1 B in embedding and head at two.
    assert found.total_bytes == pytest.approx(72.66e9, rel=0.001)
    assert not found.exact
    assert "assumed" in found.reason


def test_an_unknown_quantization_is_counted_as_none_and_says_so() -> None:
    shape = MODELS["meta-llama/Llama-3.1-8B"]
    found = weight_bytes(shape, quantization="zip")
    assert found.total_bytes == weight_bytes(shape).total_bytes
    assert not found.exact
    assert "'zip' is not known" in found.reason


def test_a_list_that_keeps_attention_and_shared_experts() -> None:
    shape = MODELS["moonshotai/Kimi-K2.5"]
    parts = parameter_parts(shape)
    experts = sum(part.total for part in parts if part.kind == "expert")
    rest = sum(part.total for part in parts) - experts
    # Kimi K2.5 ignores self_attn, shared_experts, the dense MLP and the head by regular expression.
    assert weight_bytes(shape).total_bytes == round((experts * 4.5 + rest * 16) / 8)


def test_a_list_that_names_whole_layers() -> None:
    # GLM-5.1-NVFP4 keeps layers 0 to 2 whole, and attention and shared experts of the others.
    shape = MODELS["nvidia/GLM-5.1-NVFP4"]
    parts = parameter_parts(shape)
    experts = sum(part.total for part in parts if part.kind == "expert")
    rest = sum(part.total for part in parts) - experts
    assert weight_bytes(shape).total_bytes == round((experts * 4.5 + rest * 16) / 8)


def test_mixed_precision_counts_each_module_by_its_format() -> None:
    shape = MODELS["nvidia/Qwen3.6-35B-A3B-NVFP4"]
    bits = {"mlp.experts.#.up_proj": 4.5, "self_attn.q_proj": 8, "lm_head": 4.5, "embed_tokens": 16}
    total = 0.0
    for part in parameter_parts(shape):
        if part.kind == "expert" or "shared_experts." in part.module or part.module == "lm_head":
            total += part.total * 4.5
        elif re.search(r"(q|k|v|o)_proj|in_proj_qkv|in_proj_z|out_proj", part.module):
            total += part.total * 8
        else:
            total += part.total * bits.get(part.module, 16)
    assert weight_bytes(shape).total_bytes == round(total / 8)


def test_a_checkpoint_whose_list_is_not_known_is_not_exact() -> None:
    found = weight_bytes(MODELS["nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4"])
    assert not found.exact
    assert "leaves alone is not known" in found.reason


def test_a_tower_that_is_not_counted_is_a_doubt() -> None:
    assert "not counted" in weight_bytes(MODELS["google/gemma-4-26B-A4B"]).reason
    assert weight_bytes(MODELS["Qwen/Qwen3-VL-8B-Instruct"]).exact


@pytest.mark.parametrize("model_id", COMPLETE)
def test_weights_take_between_four_and_sixteen_bits(model_id: str) -> None:
    found = weight_bytes(MODELS[model_id])
    assert 4 < found.bits_per_weight <= 16
    assert found.exact == (found.reason == "layout, type and format are known")


def test_biases_that_a_config_switches_on() -> None:
    shape = MODELS["meta-llama/Llama-3.1-8B"]
    biased = dataclasses.replace(shape, attention_bias=True, output_bias=True, mlp_bias=True)
    added = parameter_count(biased) - parameter_count(shape)
    # q 4096, k 1024, v 1024, o 4096; gate and up 14336 each, down 4096.
    assert added == 32 * (4096 + 1024 + 1024 + 4096 + 2 * 14336 + 4096)


def test_a_list_with_a_module_that_the_layout_does_not_know_is_a_doubt() -> None:
    shape = MODELS["Qwen/Qwen3-32B-FP8"]
    assert shape.quantization is not None
    odd = dataclasses.replace(shape.quantization, kept=(ModulePattern(pattern="model.layers.#.warp_drive"),))
    found = weight_bytes(dataclasses.replace(shape, quantization=odd))
    assert not found.exact
    assert "model.layers.#.warp_drive" in found.reason


def test_a_list_with_one_word_of_a_name() -> None:
    shape = MODELS["Qwen/Qwen3-32B-FP8"]
    assert shape.quantization is not None
    kept = dataclasses.replace(shape.quantization, kept=(ModulePattern(pattern="self_attn"),))
    parts = parameter_parts(shape)
    mlp = sum(part.total for part in parts if part.module.startswith("mlp."))
    rest = parameter_count(shape) - mlp
    found = weight_bytes(dataclasses.replace(shape, quantization=kept))
    assert found.total_bytes == round((mlp * (8 + 32 / 16384) + rest * 16) / 8)


def test_a_format_that_is_not_known_is_an_upper_bound() -> None:
    shape = MODELS["Qwen/Qwen3-32B"]
    odd = QuantizationShape(method="hqq", weight_bits=None, description="hqq: not known")
    found = weight_bytes(dataclasses.replace(shape, quantization=odd))
    assert found.total_bytes == weight_bytes(shape).total_bytes
    assert "an upper bound" in found.reason
