"""Quantization formats of checkpoints: bits a weight, and which modules are left alone."""

from __future__ import annotations

from typing import Any

import pytest

from warmstack.catalog import ModulePattern, QuantizationShape, load_catalog
from warmstack.catalog.module_patterns import fold_modules
from warmstack.catalog.quantization import read_quantization


def _read(config: dict[str, Any]) -> QuantizationShape:
    found = read_quantization(config, num_layers=61)
    assert found is not None
    return found


def test_nothing_is_nothing() -> None:
    assert read_quantization(None, num_layers=1) is None
    assert read_quantization({}, num_layers=1) is None


@pytest.mark.parametrize(
    ("config", "method", "bits"),
    [
        ({"quant_method": "fp8"}, "fp8", 8.0),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8", 8 + 32 / 16384),
        ({"quant_method": "mxfp4"}, "mxfp4", 4.25),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4", 4.5),
        ({"quant_algo": "FP8"}, "fp8", 8.0),
        ({"quant_algo": "W4A16_NVFP4"}, "nvfp4", 4.5),
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, "awq", 4 + 20 / 128),
        ({"quant_method": "gptq", "bits": 8, "group_size": 128}, "gptq", 8 + 24 / 128),
        ({"quant_method": "gptq", "bits": 4, "group_size": -1}, "gptq", 4.0),
    ],
)
def test_bits_of_a_weight_with_its_scales(config: dict[str, Any], method: str, bits: float) -> None:
    found = _read(config)
    assert (found.method, found.weight_bits) == (method, bits)


@pytest.mark.parametrize(
    ("weights", "layout", "method", "bits"),
    [
        ({"num_bits": 4, "type": "int", "group_size": 32, "symmetric": True}, "pack-quantized", "int4", 4.5),
        (
            {"num_bits": 4, "type": "int", "group_size": 128, "symmetric": False},
            "pack-quantized",
            "int4",
            4.15625,
        ),
        ({"num_bits": 4, "type": "float", "group_size": 32}, "mxfp4-pack-quantized", "mxfp4", 4.25),
        ({"num_bits": 8, "type": "float"}, "float-quantized", "float8", 8.0),
    ],
)
def test_compressed_tensors(weights: dict[str, Any], layout: str, method: str, bits: float) -> None:
    found = _read(
        {
            "quant_method": "compressed-tensors",
            "format": layout,
            "config_groups": {"group_0": {"weights": weights}},
        }
    )
    assert (found.method, found.weight_bits) == (method, bits)


def test_a_format_that_is_not_known_has_no_bits() -> None:
    found = _read({"quant_method": "hqq"})
    assert found.weight_bits is None
    assert "does not know" in found.description


def test_mxfp4_of_gpt_oss_shrinks_the_experts_only() -> None:
    quantization = load_catalog().model("openai/gpt-oss-20b").quantization
    assert quantization is not None
    assert quantization.experts_only


def test_a_list_by_layer_folds_and_drops_the_layers_after_the_last() -> None:
    entries = [
        "lm_head",
        *(f"model.layers.{layer}.self_attn.q_proj" for layer in (0, 1, 2, 5, 61)),
        "model.layers.61*",
        "model.layers.3*",
        "model.layers.*.mlp.router",
        "model.layers.4.mlp.experts.17.up_proj",
    ]
    assert fold_modules(entries, num_layers=61) == (
        ModulePattern(pattern="lm_head"),
        ModulePattern(pattern="model.layers.#*", layers=(3,)),
        ModulePattern(pattern="model.layers.#.mlp.experts.#.up_proj", layers=(4,)),
        ModulePattern(pattern="model.layers.#.mlp.router"),
        ModulePattern(pattern="model.layers.#.self_attn.q_proj", layers=(0, 1, 2, 5)),
    )


def test_a_folded_list_folds_to_itself() -> None:
    folded = fold_modules([["a.layers.#.b", "0-2,5"], ["lm_head", ""]], num_layers=61)
    assert folded == (
        ModulePattern(pattern="a.layers.#.b", layers=(0, 1, 2, 5)),
        ModulePattern(pattern="lm_head"),
    )


def test_a_modelopt_checkpoint_without_its_list_does_not_know_what_it_leaves_alone() -> None:
    assert not _read({"quant_algo": "NVFP4"}).kept_known
    assert _read({"quant_algo": "NVFP4", "exclude_modules": ["lm_head"]}).kept_known
    assert _read({"quant_method": "fp8"}).kept_known


def test_mixed_precision_by_layer() -> None:
    found = _read(
        {
            "quant_algo": "MIXED_PRECISION",
            "quantized_layers": {
                "model.layers.0.mlp.up_proj": {"quant_algo": "NVFP4"},
                "model.layers.1.mlp.up_proj": {"quant_algo": "NVFP4"},
                "model.layers.0.self_attn.q_proj": {"quant_algo": "FP8"},
            },
        }
    )
    assert found.weight_bits is None
    assert dict(found.overrides) == {
        ModulePattern(pattern="model.layers.#.mlp.up_proj", layers=(0, 1)): 4.5,
        ModulePattern(pattern="model.layers.#.self_attn.q_proj", layers=(0,)): 8.0,
    }


def test_mixed_precision_with_an_unknown_format_is_not_half_read() -> None:
    found = _read({"quant_algo": "MIXED_PRECISION", "quantized_layers": {"model.layers.0.x": {"quant_algo": "FP6"}}})
    assert (found.weight_bits, found.overrides) == (None, ())
