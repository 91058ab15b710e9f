"""config.json to shape: names that families give the same thing, what is missing, what is not understood."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from warmstack.catalog import AttentionHeads, ModelShape, load_catalog, shape_from_config
from warmstack.errors import CatalogError

LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "torch_dtype": "bfloat16",
    "tie_word_embeddings": False,
}


def _read(config: dict[str, Any]) -> ModelShape:
    return shape_from_config(config, model_id="acme/model", source="acme/config.json")


def _without(config: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in config.items() if key not in keys}


def test_a_plain_config() -> None:
    shape = _read(LLAMA)
    assert (shape.id, shape.source, shape.architecture) == (
        "acme/model",
        "acme/config.json",
        "LlamaForCausalLM",
    )
    assert (shape.num_layers, shape.num_key_value_heads, shape.head_dim) == (32, 8, 128)
    assert shape.complete
    assert shape.notes == ()
    assert shape.layer_types is None
    assert shape.kinds == ("full_attention",) * 32


@pytest.mark.parametrize(
    "field",
    [
        "architectures",
        "hidden_size",
        "num_hidden_layers",
        "num_attention_heads",
        "vocab_size",
        "intermediate_size",
    ],
)
def test_a_missing_field_is_named_with_the_file(field: str) -> None:
    with pytest.raises(CatalogError, match=rf"acme/config\.json: the config has no {field}"):
        _read(_without(LLAMA, field))


@pytest.mark.parametrize(("field", "value"), [("hidden_size", "4096"), ("num_hidden_layers", True)])
def test_a_value_of_another_type_is_named(field: str, value: object) -> None:
    with pytest.raises(CatalogError, match=rf"{field} is {value!r}; it must be a whole number"):
        _read({**LLAMA, field: value})


def test_without_key_value_heads_every_head_has_its_own() -> None:
    assert _read(_without(LLAMA, "num_key_value_heads")).num_key_value_heads == 32


def test_a_stated_head_dim_wins_over_the_quotient() -> None:
    assert _read({**LLAMA, "head_dim": 64}).head_dim == 64


def test_both_names_of_the_type() -> None:
    assert _read({**_without(LLAMA, "torch_dtype"), "dtype": "float16"}).dtype == "float16"
    assert _read(LLAMA).dtype == "bfloat16"


def test_a_config_without_a_type_says_what_is_assumed() -> None:
    shape = _read(_without(LLAMA, "torch_dtype"))
    assert shape.dtype == "bfloat16"
    assert shape.notes == ("the config names no dtype: bfloat16 is assumed",)


def test_the_language_model_of_a_multimodal_config() -> None:
    nested = _without(LLAMA, "architectures", "tie_word_embeddings")
    shape = _read(
        {
            "architectures": ["AcmeForConditionalGeneration"],
            "model_type": "acme_vl",
            "tie_word_embeddings": True,
            "text_config": nested,
            "vision_config": {"depth": 27},
        }
    )
    assert (shape.model_type, shape.hidden_size) == ("llama", 4096)
    assert shape.architecture == "AcmeForConditionalGeneration"
    assert shape.multimodal
    assert shape.tie_word_embeddings
    assert "not counted" in shape.notes[0]


@pytest.mark.parametrize("key", ["n_routed_experts", "num_local_experts", "num_experts"])
def test_the_names_of_the_number_of_experts(key: str) -> None:
    shape = _read({**LLAMA, "model_type": "mixtral", key: 8, "num_experts_per_tok": 2})
    assert shape.experts is not None
    assert (shape.experts.num_experts, shape.experts.per_token) == (8, 2)
    assert shape.experts.moe_intermediate_size == 14336
    assert shape.experts.layers == tuple(range(32))


def test_zero_experts_is_a_dense_model() -> None:
    assert _read({**LLAMA, "num_experts": 0}).experts is None


def test_leading_dense_layers_and_steps() -> None:
    deepseek = load_catalog().model("deepseek-ai/DeepSeek-V3").experts
    maverick = load_catalog().model("meta-llama/Llama-4-Maverick-17B-128E-Instruct").experts
    assert deepseek is not None
    assert maverick is not None
    assert (deepseek.first_dense_layers, deepseek.layers) == (3, tuple(range(3, 61)))
    assert (maverick.layer_step, maverick.layers) == (2, tuple(range(1, 48, 2)))


def test_an_unused_window_is_no_window() -> None:
    # Qwen2 and MiMo configs name a sliding_window and switch it off beside it.
    qwen = {**LLAMA, "model_type": "qwen2", "sliding_window": 32768, "use_sliding_window": False}
    assert _read(qwen).sliding_window is None
    assert load_catalog().model("XiaomiMiMo/MiMo-7B-Base").sliding_window is None


def test_a_used_window_starts_at_its_layer() -> None:
    shape = _read(
        {
            **LLAMA,
            "model_type": "qwen2",
            "sliding_window": 4096,
            "use_sliding_window": True,
            "max_window_layers": 28,
        }
    )
    assert shape.sliding_window == 4096
    assert shape.kinds[27:29] == ("full_attention", "sliding_attention")


def test_fewer_layer_types_than_layers_are_refused() -> None:
    with pytest.raises(CatalogError, match="31 layer types for 32 layers"):
        _read({**LLAMA, "layer_types": ["full_attention"] * 31})


def test_layer_types_after_the_last_layer_belong_to_multi_token_prediction() -> None:
    shape = _read({**LLAMA, "layer_types": ["full_attention"] * 33})
    assert (shape.num_layers, len(shape.kinds)) == (32, 32)


def test_a_list_of_layers_stands_for_a_number_that_is_not_stated() -> None:
    kinds = ["full_attention"] * 31
    assert _read({**_without(LLAMA, "num_hidden_layers"), "layer_types": kinds}).num_layers == 31


def test_a_kind_of_layer_that_is_not_known_is_refused() -> None:
    with pytest.raises(CatalogError, match="the layer kind 'warp_attention' is not known"):
        _read({**LLAMA, "layer_types": ["warp_attention"] * 32})


def test_hybrid_layers_by_interval() -> None:
    shape = load_catalog().model("Qwen/Qwen3.5-27B")
    assert shape.full_attention_interval == 4
    assert shape.kinds[:4] == ("linear_attention",) * 3 + ("full_attention",)
    assert shape.layers_of("full_attention") == 16
    assert shape.linear_attention is not None
    assert shape.linear_attention.conv_width == 2 * 16 * 128 + 48 * 128


def test_a_pattern_of_single_mixers() -> None:
    shape = load_catalog().model("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16")
    assert shape.single_mixer_layers
    assert shape.kinds[:6] == ("mamba", "moe", "mamba", "moe", "mamba", "full_attention")
    assert (shape.layers_of("mamba"), shape.layers_of("moe"), shape.layers_of("full_attention")) == (
        23,
        23,
        6,
    )


def test_heads_that_differ_by_kind_of_layer() -> None:
    gemma = load_catalog().model("google/gemma-4-26B-A4B")
    assert gemma.heads_of("sliding_attention").num_key_value_heads == 8
    assert gemma.heads_of("full_attention") == AttentionHeads(
        num_heads=16, num_key_value_heads=2, head_dim=512, value_head_dim=512, value_from_key=True
    )
    mimo = load_catalog().model("XiaomiMiMo/MiMo-V2-Flash")
    assert mimo.heads_of("full_attention").num_key_value_heads == 4
    assert mimo.heads_of("sliding_attention").num_key_value_heads == 8
    assert mimo.heads_of("sliding_attention").value_head_dim == 128


def test_latent_attention_has_the_head_of_its_two_parts() -> None:
    shape = load_catalog().model("zai-org/GLM-5")
    assert shape.mla is not None
    # The config's own head_dim is 64, the rotary part alone.
    assert shape.head_dim == 192 + 64
    assert shape.mla.index_topk == 2048


def test_shared_indexers_are_counted_once() -> None:
    every, shared = load_catalog().model("zai-org/GLM-5").mla, load_catalog().model("zai-org/GLM-5.2").mla
    assert every is not None
    assert shared is not None
    assert (len(every.index_layers), len(shared.index_layers)) == (78, 21)


def test_a_family_that_is_not_known_is_incomplete_and_says_why() -> None:
    shape = _read({**LLAMA, "model_type": "acme_9000"})
    assert not shape.complete
    assert shape.incomplete_reason == "model_type 'acme_9000': the catalog does not know its layout"
    assert shape.hidden_size == 4096


def test_the_families_that_were_left_out_say_why() -> None:
    left_out = {
        shape.model_type: shape.incomplete_reason for shape in load_catalog().models.values() if not shape.complete
    }
    assert set(left_out) == {
        "deepseek_ref",
        "deepseek_v4",
        "kimi_linear",
        "minimax_m3",
        "minimax_m3_vl",
        "nemotron-nas",
        "step3p7",
    }
    assert all(reason and "does not know" not in reason for reason in left_out.values())


def test_a_latent_attention_family_needs_its_rank() -> None:
    with pytest.raises(CatalogError, match="no kv_lora_rank, which a deepseek_v3 model must have"):
        _read({**LLAMA, "model_type": "deepseek_v3"})


def test_embeddings_are_tied_unless_the_config_or_the_family_says_otherwise() -> None:
    unsaid = _without(LLAMA, "tie_word_embeddings")
    assert not _read(unsaid).tie_word_embeddings
    assert _read({**unsaid, "model_type": "qwen3"}).tie_word_embeddings
    assert _read({**unsaid, "model_type": "acme_9000"}).tie_word_embeddings


def test_mistral_has_a_window_in_every_layer() -> None:
    shape = _read({**LLAMA, "model_type": "mistral", "sliding_window": 4096})
    assert (shape.sliding_window, shape.layers_of("sliding_attention")) == (4096, 32)
    assert _read({**LLAMA, "model_type": "mistral", "sliding_window": None}).sliding_window is None


def test_the_widths_of_llama_4_are_named_the_other_way_round() -> None:
    shape = load_catalog().model("meta-llama/Llama-4-Scout-17B-16E-Instruct")
    assert shape.experts is not None
    assert (shape.intermediate_size, shape.experts.moe_intermediate_size) == (16384, 8192)
    assert shape.kinds[:4] == ("chunked_attention",) * 3 + ("full_attention",)


def test_an_interval_stands_for_the_list_of_layers() -> None:
    linear = ("num_key_heads", "num_value_heads", "key_head_dim", "value_head_dim", "conv_kernel_dim")
    sizes = {f"linear_{name}": 4 for name in linear}
    qwen = {**LLAMA, **sizes, "model_type": "qwen3_next", "full_attention_interval": 4}
    assert _read(qwen).kinds[:5] == ("linear_attention",) * 3 + ("full_attention", "linear_attention")


def test_layers_named_dense_have_no_experts() -> None:
    moe = {**LLAMA, "model_type": "qwen3_moe", "num_experts": 8, "decoder_sparse_step": 2}
    shape = _read({**moe, "mlp_only_layers": [3], "num_hidden_layers": 8})
    assert shape.experts is not None
    assert shape.experts.layers == (1, 5, 7)


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("torch_dtype", 16, "must be a text"),
        ("tie_word_embeddings", "yes", "must be true or false"),
        ("layer_types", [1, 2], "must be a list of texts"),
        ("moe_layer_freq", ["a"], "must be a list of whole numbers"),
    ],
)
def test_a_field_of_another_type_is_named_with_the_rule(field: str, value: object, rule: str) -> None:
    with pytest.raises(CatalogError, match=rf"acme/config\.json: {field} .*{rule}"):
        _read({**LLAMA, "num_experts": 8, field: value})


def test_a_shape_whose_list_of_layers_disagrees_with_their_number_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="1 layer types for 32 layers"):
        dataclasses.replace(_read(LLAMA), layer_types=("full_attention",))
