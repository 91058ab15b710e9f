"""Whatever a config.json says: a shape that sizes can be computed from, or a CatalogError that names the place."""

from __future__ import annotations

import copy
import json
import math
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.unit.catalog.test_configs import LLAMA
from warmstack.catalog import ModelShape, load_catalog, shape_from_config
from warmstack.catalog.config_bounds import RANGES
from warmstack.errors import CatalogError
from warmstack.plan.kv import kv_bytes_per_token
from warmstack.plan.parameters import parameter_count, weight_bytes

DATA = Path(__file__).parents[3] / "src" / "warmstack" / "catalog" / "data" / "models.json"
MODELS: dict[str, dict[str, Any]] = json.loads(DATA.read_text(encoding="utf-8"))["models"]
MOE = {**LLAMA, "model_type": "qwen3_moe", "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 64}
TOWER = next(name for name, one in MODELS.items() if "depth" in (one.get("vision_config") or {}))
HYBRID = next(name for name, one in MODELS.items() if "hybrid_override_pattern" in one)
SPARSE = next(name for name, one in MODELS.items() if "indexer_types" in one)


def _read(config: Any) -> ModelShape:
    return shape_from_config(config, model_id="acme/model", source="acme/config.json")


def _with(model: str, **changes: Any) -> dict[str, Any]:
    return {**MODELS[model], **changes}


def _quantized(**fields: Any) -> dict[str, Any]:
    return {**LLAMA, "quantization_config": fields}


def _packed(**weights: Any) -> dict[str, Any]:
    return _quantized(quant_method="compressed-tensors", config_groups={"g": {"weights": weights}})


FAR = 10**30
ODD_NUMBERS = (0, -1, 1e30, 1.5, "x", True, FAR, 10**5000, float("nan"), float("inf"), [1], {"a": {"b": [1]}})


@pytest.mark.parametrize("value", ODD_NUMBERS, ids=lambda one: repr(one) if one != 10**5000 else "10**5000")
@pytest.mark.parametrize(
    "field",
    ["hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads", "num_hidden_layers",
     "vocab_size", "max_position_embeddings", "head_dim"],
)  # fmt: skip
@pytest.mark.parametrize("config", [LLAMA, MOE], ids=["llama", "moe"])
def test_an_odd_number_is_named_with_its_bounds(config: dict[str, Any], field: str, value: object) -> None:
    with pytest.raises(CatalogError) as caught:
        _read({**config, field: value})
    message = str(caught.value)
    assert message.startswith(f"acme/config.json: {field} is ")
    assert f"it must be a whole number from 1 to {RANGES[field][1]:,}" in message
    assert len(message) < 250


@pytest.mark.parametrize(("field", "bounds"), RANGES.items())
def test_no_model_of_the_catalog_is_near_a_bound(field: str, bounds: tuple[int, int]) -> None:
    """Five times below, so that the next generation of models passes too."""
    values = [
        part[field]
        for config in MODELS.values()
        for part in (config, config.get("text_config") or {}, config.get("vision_config") or {})
        if isinstance(part.get(field), int)
    ]
    assert all(bounds[0] <= value * 5 <= bounds[1] for value in values)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ([], "the config is []; it must be an object"),
        ({**LLAMA, "text_config": 3}, "text_config is 3; it must be an object"),
        ({**LLAMA, "architectures": [3]}, "architectures is [3]; it must be a list of texts, not empty"),
        ({**LLAMA, "model_type": ["llama"]}, "model_type is ['llama']; it must be a text"),
        ({**LLAMA, "num_attention_heads": 4096, "hidden_size": 64}, "num_attention_heads is 4096; without head_dim"),
        ({**LLAMA, "layer_types": "full"}, "layer_types is 'full'; it must be a list"),
        ({**LLAMA, "layer_types": ["full_attention"] * 1001}, "layer_types has 1,001 entries; 1,000 layers are the"),
        ({**LLAMA, "layer_types": ["x" * 999] * 32}, "the layer kind 'xxx"),
        ({**LLAMA, "layer_types": [], "num_hidden_layers": None}, "neither num_hidden_layers nor a list of layers"),
        ({**LLAMA, "hybrid_layer_pattern": [True] * 32}, "hybrid_layer_pattern is [True, True, "),
        ({**LLAMA, "hybrid_override_pattern": "*" * 10**6}, "hybrid_override_pattern has 1,000,000 characters; 1,000"),
        ({**LLAMA, "layer_types": ["linear_attention"] * 32}, "linear_attention layers and no linear_num_value_heads"),
        ({**MOE, "num_experts": 10**6}, "num_experts is 1000000; it must be a whole number from 0 to 100,000"),
        ({**MOE, "num_experts_per_tok": 9}, "a token uses 9 experts and a layer has 8"),
        ({**MOE, "moe_intermediate_size": None, "intermediate_size": None}, "has experts and no moe_intermediate_size"),
        ({**MOE, "moe_layer_freq": True}, "moe_layer_freq is True; it must be a whole number"),
        ({**MOE, "moe_layer_freq": [1]}, "moe_layer_freq has 1 entries for 32 layers"),
        ({**MOE, "mlp_layer_types": ["sparse"]}, "mlp_layer_types has 1 entries for 32 layers"),
        ({**MOE, "mlp_only_layers": 3}, "mlp_only_layers is 3; it must be a list"),
        (_with(SPARSE, indexer_types=["full"]), "indexer_types has 1 entries for "),
        (_with(HYBRID, mamba_num_heads=None), "mamba layers and no mamba_num_heads"),
        (_with(TOWER, vision_config=3), "vision_config is 3; it must be an object"),
        (
            _with(TOWER, vision_config={**MODELS[TOWER]["vision_config"], "depth": 0}),
            "vision_config.depth is 0; it must be a whole number from 1 to 1,000",
        ),
        (
            _with(TOWER, vision_config={**MODELS[TOWER]["vision_config"], "deepstack_visual_indexes": 5}),
            "vision_config.deepstack_visual_indexes is 5; it must be a list with at most 1,000 entries",
        ),
        ({**LLAMA, "quantization_config": 3}, "quantization_config is 3; it must be an object"),
        ({**LLAMA, "hf_quant_config": {"quantization": []}}, "hf_quant_config.quantization is []; it must be an obj"),
        (_quantized(quant_method=3), "quantization_config.quant_method is 3; it must be a text"),
        (_quantized(quant_method="awq", bits=0), "quantization_config.bits is 0; it must be a whole number from 1 to"),
        (_quantized(quant_method="awq", bits=-4), "quantization_config.bits is -4; it must be"),
        (_quantized(quant_method="awq", bits="x"), "quantization_config.bits is 'x'; it must be"),
        (_quantized(quant_method="awq", bits=True), "quantization_config.bits is True; it must be"),
        (_quantized(quant_method="gptq", group_size=0), "quantization_config.group_size is 0; it must be"),
        (_quantized(quant_method="gptq", group_size=-1.0), "quantization_config.group_size is -1.0; it must be"),
        (_quantized(quant_method="fp8", weight_block_size=[0, 0]), "weight_block_size[0] is 0; it must be a whole"),
        (_quantized(quant_method="fp8", weight_block_size=[128]), "weight_block_size is [128]; it must be a list of"),
        (_quantized(quant_method="fp8", weight_block_size=128), "weight_block_size is 128; it must be a list of two"),
        (_quantized(quant_method="fp8", ignore=3), "quantization_config.ignore is 3; it must be a list of texts"),
        (_quantized(quant_method="fp8", ignore=["lm_head", 3]), "ignore[1] is 3; it must be a text that names modules"),
        (_quantized(quant_method="fp8", ignore=[["a", "x"]]), "ignore[0] has the layers 'x'; they must be numbers"),
        (_quantized(quant_method="fp8", ignore=[["a", "0-9999"]]), "the layers '0-9999'; they must be numbers below"),
        (_quantized(quant_method="fp8", ignore=["x" * 501]), ", 501 characters; 500 are the most"),
        (_quantized(quant_method="fp8", ignore=[f"m{i}" for i in range(2001)]), "names 2,001 modules of a layer; 2"),
        (
            _quantized(quant_method="compressed-tensors", config_groups={"g": None}),
            "quantization_config.config_groups.g is None; it must be an object",
        ),
        (
            _quantized(quant_method="compressed-tensors", config_groups={"g": {"weights": [1]}}),
            "quantization_config.config_groups.g.weights is [1]; it must be an object",
        ),
        (_packed(num_bits=0), "quantization_config.config_groups.g.weights.num_bits is 0; it must be"),
        (_packed(num_bits=4, type="int", group_size=32, symmetric=3), "weights.symmetric is 3; it must be true or fal"),
        (
            _quantized(quant_algo="MIXED_PRECISION", quantized_layers={"a": 3}),
            "quantization_config.quantized_layers.a is 3; it must be an object",
        ),
    ],
)  # fmt: skip
def test_an_odd_value_is_named_with_its_rule(config: Any, message: str) -> None:
    with pytest.raises(CatalogError) as caught:
        _read(config)
    assert str(caught.value).startswith("acme/config.json: ")
    assert message in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("(", "which is not a regular expression: missing ), unterminated subpattern"),
        ("[[a]", "which is not a regular expression: Possible nested set"),
        ("a{9999999999999999999}", "which is not a regular expression"),
        ("(a+)+$", "a repeated group takes too long to match"),
        ("(.*)*x", "a repeated group takes too long to match"),
        ("(?:.|..){20}x", "a repeated group takes too long to match"),
        (".*.*.*.*.*x", "can match in more than 1,000,000 ways"),
        (".?" * 30 + "x", "can match in more than 1,000,000 ways"),
        ("(.|..)" * 30 + "x", "can match in more than 1,000,000 ways"),
        (r"(?x)(a+) *$", "a kind of group that is not supported"),
        (r"(a+)(?#c)*$", "a kind of group that is not supported"),
    ],
)
def test_a_regular_expression_that_cannot_be_run_safely_is_refused(expression: str, reason: str) -> None:
    with pytest.raises(CatalogError) as caught:
        _read(_quantized(quant_method="fp8", ignore=["lm_head", f"re:{expression}"]))
    assert str(caught.value).startswith("acme/config.json: quantization_config.ignore holds 're:")
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    "expression",
    [
        r".*mlp\.(gate|up|gate_up|down)_proj.*",
        r"^(?!.*experts).*self_attn.*$",
        r"model\.layers\.\d+\.mlp\.gate$",
        r"(?i).*LM_head",
        r".*[(|*+]?(?P<which>q|k)_proj?",
        r".*\(\)\*.*",
    ],
)
def test_regular_expressions_of_checkpoints_pass(expression: str) -> None:
    shape = _read(_quantized(quant_method="fp8", ignore=[f"re:{expression}"]))
    assert weight_bytes(shape).total_bytes > 0


def test_many_expressions_share_the_limit() -> None:
    ignore = [rf"re:.*a{index}\..*b\..*c" for index in range(30)]
    with pytest.raises(CatalogError, match="in more than 1,000,000 ways"):
        _read(_quantized(quant_method="fp8", ignore=ignore))


def test_the_costliest_list_that_passes_is_still_quick() -> None:
    ignore = ["re:.*.*.*.*!"] + [f"*m{index}*x*" for index in range(1500)]
    shape = _read(_quantized(quant_method="fp8", ignore=ignore))
    started = time.thread_time()
    weight_bytes(shape)
    assert time.thread_time() - started < 20


def test_a_scale_a_row_is_no_part_of_a_weight() -> None:
    quantization = _read(_packed(num_bits=4, type="int", group_size=-1)).quantization
    assert quantization is not None
    assert quantization.weight_bits == 4


def test_layers_beyond_the_last_have_no_experts() -> None:
    experts = _read({**MOE, "num_hidden_layers": 4, "moe_layer_freq": [0, 1, 0, 1, 1, 1]}).experts
    assert experts is not None
    assert experts.layers == (1, 3)


def test_a_number_of_layers_of_a_hostile_file_costs_no_memory() -> None:
    tracemalloc.start()
    try:
        for config in (LLAMA, MOE, {**LLAMA, "model_type": "mistral", "sliding_window": 4}):
            for layers in (10**9, 10**30):
                with pytest.raises(CatalogError):
                    _read({**config, "num_hidden_layers": layers})
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(0, 200),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(
        [10**9, 10**30, 10**5000, 1e30, 1.5, "re:(", "re:(a+)+$", "full_attention", "linear_attention", "mamba",
         "MEME*", "fp8", "awq", "gptq", "mxfp4", "compressed-tensors", "MIXED_PRECISION", "NVFP4", "float32",
         "llama", "mistral", "qwen3_moe", "deepseek_v3", "nemotron_h", "gemma4_text", "mimo_v2_flash", "gpt_oss",
         ["re:("], ["lm_head", 3], [["a", "0-99999999999"]], [0, 0], [-1, 4], {"g": None}, {"g": {"weights": {}}},
         {"quantization": {"quant_algo": "FP8", "exclude_modules": [[]]}}]
    ),
    st.lists(st.integers(-2, 3), max_size=4),
    st.lists(st.text(max_size=5), max_size=4),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=2),
)  # fmt: skip


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in items:
        yield (*path, key)
        yield from _places(one, (*path, key))


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    """A real config with up to three odd values, in fields that it has or that another family has."""
    config = copy.deepcopy(MODELS[draw(st.sampled_from(sorted(MODELS)))])
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.integers(0, 4)) == 0:
            part = config.get("text_config")
            (part if isinstance(part, dict) else config)[draw(st.sampled_from(FIELDS))] = copy.deepcopy(draw(ODD))
            continue
        *above, last = draw(st.sampled_from(list(_places(config))))
        node: Any = config
        for key in above:
            node = node[key]
        node[last] = copy.deepcopy(draw(ODD))
    return config


FIELDS = sorted({place[-1] for one in MODELS.values() for place in _places(one) if isinstance(place[-1], str)})


@settings(max_examples=400, suppress_health_check=list(HealthCheck))
@given(config=mutated())
def test_a_mutated_config_is_a_shape_with_sizes_or_a_catalog_error(config: dict[str, Any]) -> None:
    started = time.thread_time()
    try:
        shape = _read(config)
        parameters, weights, cache = parameter_count(shape), weight_bytes(shape), kv_bytes_per_token(shape)
    except CatalogError as error:
        assert len(str(error)) < 1_000  # noqa: PT017  (a shape is as good an end as an error)
        return
    finally:
        assert time.thread_time() - started < 5
    assert 0 < parameters < 10**30
    assert 0 < weights.total_bytes < 10**31
    assert 0 < weights.bits_per_weight <= 64
    assert math.isfinite(weights.bits_per_weight)
    grows = shape.layers_of("full_attention", *(() if shape.mla else ("chunked_attention",))) > 0
    assert cache > 0 if grows else cache == 0


def test_every_model_of_the_catalog_is_read() -> None:
    for model_id in load_catalog().models:
        assert load_catalog().model(model_id).num_layers > 0
