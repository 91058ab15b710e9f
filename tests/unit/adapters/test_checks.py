"""Each rule of an adapter: what breaks it, and that its neighbour does not."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.unit.adapters.makers import GOOD, Shapes, adapter, attention, lora, safetensors
from warmstack.adapters import AdapterError, Problem, Target, check_adapter, configuration_of, read_folder, target_of
from warmstack.cli.load import plan_file


def problems(folder: Path, target: Target | None) -> list[Problem]:
    found = list(check_adapter(read_folder(folder), target))
    for one in found:
        assert one.place
        assert one.value
        assert one.rule
        assert one.fix
    return found


def of(
    tmp_path: Path, target: Target | None, config: Mapping[str, Any] | None = None, shapes: Shapes = GOOD
) -> list[str]:
    return [
        f"{one.severity} {one.id}: {one.message}" for one in problems(adapter(tmp_path / "a", config, shapes), target)
    ]


def test_a_good_adapter_has_no_problems(tmp_path: Path, target: Target) -> None:
    assert of(tmp_path, target) == []
    assert of(tmp_path, None) == []
    everything = {**attention("q_proj"), **attention("k_proj"), **attention("v_proj"), **attention("o_proj", 31)}
    mlp = {
        **lora("model.layers.0.mlp.gate_proj", sizes=(4096, 14336)),
        **lora("model.layers.0.mlp.up_proj", sizes=(4096, 14336)),
        **lora("model.layers.0.mlp.down_proj", sizes=(14336, 4096)),
        **lora("lm_head", sizes=(4096, 128256)),
    }
    embedding = {
        "base_model.model.model.embed_tokens.lora_embedding_A": (2, 128256),
        "base_model.model.model.embed_tokens.lora_embedding_B": (4096, 2),
    }
    assert of(tmp_path, target, shapes={**everything, **mlp, **embedding}) == []


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"r": 32}, "error rank: the rank is 32; max_lora_rank of the plan is 16"),
        ({"rank_pattern": {"q_proj": 64}}, "error rank: the rank is 64; max_lora_rank of the plan is 16"),
        ({"r": True}, "error rank: r is True; it must be a positive whole number"),
        ({"r": 0}, "error rank: r is 0; it must be a positive whole number"),
        ({"r": None}, "error config: it is not there; every server reads it"),
        ({"lora_alpha": "x"}, "error config: it is x; it must be a number"),
        ({"target_modules": None}, "error config: it is not there"),
        ({"target_modules": {"q_proj": 1}}, "error config: it is {'q_proj': 1}; it must be a text or a list of texts"),
        ({"target_modules": ["q_proj", 1]}, "error config: it is ['q_proj', 1]; it must be a text or a list of texts"),
        ({"target_modules": True}, "error config: it is True; it must be a text or a list of texts"),
        ({"peft_type": "LOHA"}, "error peft-type: it is LOHA; the servers load LORA only"),
        ({"use_dora": True}, "error feature: it is True; vLLM cannot load DoRA"),
        ({"lora_bias": True}, "error feature: it is True; vLLM cannot load a bias in the LoRA layers"),
        ({"alora_invocation_tokens": [1]}, "error feature: it is [1]; vLLM cannot load activated LoRA"),
        ({"layer_replication": [[0, 4]]}, "error feature: it is [[0, 4]]; vLLM cannot load layer replication"),
        ({"bias": "all"}, "error bias: it is all; it must be none: biases are not loaded"),
        ({"modules_to_save": ["lm_head"]}, "error modules-to-save: it names lm_head; whole modules are not loaded"),
        ({"modules_to_save": "lm_head"}, "error modules-to-save: it names lm_head"),
        ({"init_lora_weights": "pissa"}, "error init: it is pissa; this method changes the base model's weights"),
        ({"alpha_pattern": {"q_proj": 8}}, "warning pattern: it is not empty; engines that do not read it"),
        (
            {"base_model_name_or_path": "Qwen/Qwen3-8B"},
            "warning base-model: it is Qwen/Qwen3-8B; the spec serves",
        ),
    ],
)
def test_configurations_that_do_not_fit(tmp_path: Path, target: Target, config: dict[str, Any], expected: str) -> None:
    assert any(one.startswith(expected) for one in of(tmp_path, target, config)), of(tmp_path, target, config)


@pytest.mark.parametrize(
    "config",
    [
        {"use_rslora": True},
        {"modules_to_save": ["score"]},
        {"init_lora_weights": "gaussian"},
        {"init_lora_weights": True},
        {"base_model_name_or_path": "/models/LLAMA-3.1-8b-instruct/"},
        {"base_model_name_or_path": None},
        {"lora_alpha": 0.5, "bias": None},
        {"target_modules": "all-linear"},
    ],
)
def test_configurations_that_fit(tmp_path: Path, target: Target, config: dict[str, Any]) -> None:
    assert of(tmp_path, target, config) == []


def test_ranks_of_modules(tmp_path: Path, target: Target) -> None:
    shapes = {**attention("q_proj", rank=4), **attention("v_proj")}
    assert of(tmp_path, target, {}, shapes)[0] == (
        "error rank: model.layers.0.self_attn.q_proj of rank 4; the configuration says 2"
    )
    for pattern in ({"q_proj": 4}, {"self_attn.q_proj": 4}, {r".*\.q_proj": 4}):
        assert [one.split(":")[0] for one in of(tmp_path, target, {"rank_pattern": pattern}, shapes)] == [
            "warning pattern"
        ]
    uneven = {**GOOD, "base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight": (4096, 3)}
    assert "of rank 2 and 3; the configuration says 2" in of(tmp_path, target, {}, uneven)[0]
    many = {key: value for layer in range(5) for key, value in attention("q_proj", layer, 8).items()}
    assert "and 2 more of rank 8; the configuration says 2" in of(tmp_path, target, {}, many)[0]


M = "model.layers.0.self_attn.q_proj"
Q = f"base_model.model.{M}"
HEAD = "base_model.model.lm_head"
LLAMA = "meta-llama/Llama-3.1-8B-Instruct"
ONE = {f"{Q}.lora_A.weight": (2,), f"{Q}.lora_B.weight": (4096, 2)}
BARE = {key.removeprefix("base_model.model."): value for key, value in GOOD.items()}


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ({}, "error tensors: it has no LoRA tensors; an adapter has lora_A and lora_B"),
        ({f"{Q}.lora_A.weight": (2, 4096)}, f"error pairs: {M} has one of lora_A and lora_B"),
        (ONE, f"error pairs: {M} is no matrices"),
        ({**GOOD, f"{Q}.lora_A.default.weight": (2, 4)}, f"error tensors: it has {Q}.lora_A.default.weight; the name"),
        ({**GOOD, f"{Q}.lora_magnitude_vector": (9,)}, f"error tensors: it has {Q}.lora_magnitude_vector; these"),
        ({**GOOD, f"{HEAD}.weight": (4, 4)}, f"error tensors: it has {HEAD}.weight; no engine finds"),
        ({**GOOD, f"{HEAD}.base_layer.weight": (4, 4)}, f"note tensors: it has {HEAD}.base_layer.weight; the base"),
        (BARE, f"warning prefix: {M}.lora_A.weight, "),
        (attention("q_proj", 32), "error layers: it has tensors for model.layers.32.self_attn.q_proj; meta"),
        (lora(M, sizes=(64, 64)), f"error dimensions: q_proj is 64 to 64 in 1 layer; in {LLAMA} it is 4096 to 4096"),
        (lora("model.layers.0.self_attn.k_proj"), "error dimensions: k_proj is 4096 to 4096 in 1 layer"),
        (lora("model.layers.0.mlp.down_proj"), "error dimensions: down_proj is 4096 to 4096"),
        (lora("model.layers.0.mlp.odd"), "warning modules: it changes odd; whether the engine has LoRA for such"),
    ],
)  # fmt: skip
def test_tensors_that_do_not_fit(tmp_path: Path, target: Target, shapes: Shapes, expected: str) -> None:
    assert any(one.startswith(expected) for one in of(tmp_path, target, {}, shapes)), of(tmp_path, target, {}, shapes)


def test_tensors_that_no_rule_is_for(tmp_path: Path, target: Target) -> None:
    shapes = {
        **lora("visual.blocks.0.attn.qkv", sizes=(8, 8)),
        **lora("model.layers.0.mlp.experts.3.up_proj", 7, (8, 8)),
        **lora("model.norm_proj.q_proj", sizes=(8, 8)),
    }
    assert of(tmp_path, target, {}, shapes) == []


def test_shapes_that_do_not_tell(tmp_path: Path, target: Target) -> None:
    mixed = dataclasses.replace(target.shape, layer_types=("linear_attention",) * 32)
    assert (
        of(
            tmp_path,
            dataclasses.replace(target, shape=mixed),
            {},
            lora(Q.removeprefix("base_model.model."), sizes=(8, 8)),
        )
        == []
    )
    gated = dataclasses.replace(target, shape=dataclasses.replace(target.shape, query_gate=True))
    assert "it is 4096 to 8192" in of(tmp_path, gated)[0]


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("F16", []),
        ("F32", ["note dtype"]),
        ("F64", ["error dtype"]),
        ("I8", ["error dtype"]),
        ("F8_E4M3", ["error dtype"]),
    ],
)
def test_types(tmp_path: Path, target: Target, dtype: str, expected: list[str]) -> None:
    found = problems(adapter(tmp_path / "a", dtype=dtype), target)
    assert [f"{one.severity} {one.id}" for one in found] == expected


def test_sglang_has_rules_of_its_own(tmp_path: Path, sglang: Target) -> None:
    found = of(tmp_path, sglang, {"use_rslora": True, "lora_bias": True, "use_dora": True, "r": 2})
    assert "error rslora: it is true; SGLang scales with lora_alpha / r and not with lora_alpha / sqrt(r)" in found
    assert "warning feature: it is True; whether SGLang applies a bias in the LoRA layers is not known" in found
    assert "error feature: it is True; SGLang cannot load DoRA" in found
    assert any("vLLM and SGLang cannot load DoRA" in one for one in of(tmp_path, None, {"use_dora": True}))
    assert any(one.startswith("note rslora") for one in of(tmp_path, None, {"use_rslora": True}))


def test_ranks_that_vllm_has_no_room_for_at_all(tmp_path: Path, target: Target) -> None:
    bare = dataclasses.replace(target, max_lora_rank=None, lora_enabled=False)
    found = of(tmp_path, bare, {"r": 1024})
    assert "error rank: the rank is 1024; the largest max_lora_rank of vLLM is 512" in found
    assert "note not-enabled: component base has no adapters; its engine does not turn LoRA on" in found


@pytest.mark.parametrize(
    ("text", "expected"), [("{", "it is no JSON"), ("[]", "it is no JSON object"), ("[" * 99999, "it is no JSON")]
)
def test_configurations_that_cannot_be_read(tmp_path: Path, target: Target, text: str, expected: str) -> None:
    folder = adapter(tmp_path / "a")
    (folder / "adapter_config.json").write_text(text, encoding="utf-8")
    found = problems(folder, target)
    assert [one.id for one in found] == ["config"]
    assert found[0].value.startswith(expected)
    assert configuration_of(read_folder(folder)) is None
    (folder / "adapter_config.json").write_bytes(b" " * 1_000_001)
    assert problems(folder, target)[0].value == "it has 1,000,001 bytes"
    (folder / "adapter_config.json").unlink()
    assert problems(folder, target)[0].message == "it is not there; every server reads it"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
def test_a_configuration_in_another_encoding_is_not_read(tmp_path: Path, target: Target, encoding: str) -> None:
    folder = adapter(tmp_path / "a")
    path = folder / "adapter_config.json"
    path.write_bytes(path.read_text(encoding="utf-8").encode(encoding))
    assert [one.value[:23] for one in problems(folder, target)] == ["it is no JSON in UTF-8:"]


def test_weights_that_are_elsewhere(tmp_path: Path, target: Target, sglang: Target) -> None:
    folder = adapter(tmp_path / "a")
    weights = folder / "adapter_model.safetensors"
    weights.write_bytes(b"\0")
    assert problems(folder, target)[0].message == (
        "it has 1 bytes, fewer than the 8 of a header's length; the file must be whole safetensors"
    )
    weights.rename(folder / "adapter_model.bin")
    for place in (target, sglang):
        assert [(one.id, one.severity) for one in problems(folder, place)] == [("pickle", "error")]
    assert "safe_serialization" in problems(folder, target)[0].fix
    (folder / "adapter_model.bin").unlink()
    assert [one.id for one in problems(folder, sglang)] == ["weights"]
    for number in (1, 2):
        (folder / f"adapter_model-0000{number}-of-00002.safetensors").write_bytes(safetensors(GOOD))
    assert problems(folder, target)[0].id == "shards"
    assert problems(folder, sglang) == []
    for path in folder.glob("*.safetensors"):
        path.unlink()
    (folder / "model.safetensors").write_bytes(safetensors(GOOD))
    assert problems(folder, target)[0].message.startswith("it is not named adapter_model.safetensors")


def test_a_pickle_beside_the_weights(tmp_path: Path, target: Target) -> None:
    folder = adapter(tmp_path / "a", training_args__bin="x")
    assert [(one.id, one.severity) for one in problems(folder, target)] == [("pickle", "note")]


def test_a_whole_model_is_not_an_adapter(tmp_path: Path, target: Target) -> None:
    contents = read_folder(adapter(tmp_path / "a"))
    entries = tuple(dataclasses.replace(one, size=17 * 1024**3) for one in contents.entries)
    found = check_adapter(dataclasses.replace(contents, entries=entries), target)
    assert any(one.message == "the weights have 17.0 GiB; a LoRA adapter is far smaller" for one in found)


def test_the_target_is_one_component(root: Path, tmp_path: Path) -> None:
    plan = plan_file(root / "specs" / "two-models.yaml").plan
    assert plan is not None
    name = plan.models[0].component
    assert target_of(plan, name).component == name
    with pytest.raises(AdapterError, match="several components; name one with --component"):
        target_of(plan, None)
    with pytest.raises(AdapterError, match="no component of that name, it has "):
        target_of(plan, "none")
    alone = plan_file(root / "specs" / "sticky-chat.yaml").plan
    assert alone is not None
    assert target_of(alone, None).component is None
    with pytest.raises(AdapterError, match="it has none"):
        target_of(alone, "none")


def test_hostile_values_are_cut(tmp_path: Path, target: Target) -> None:
    config = {"peft_type": "x" * 10**5, "rank_pattern": {"(a+)+$": 2}, "base_model_name_or_path": "y" * 10**5}
    shapes = {**GOOD, f"{'a' * 5000}!": (1, 1)}
    folder = adapter(tmp_path / "a", config, shapes)
    assert max(len(one.message) for one in problems(folder, target)) < 400
    assert json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))["r"] == 2


def test_formatters_that_a_stock_image_does_not_read(tmp_path: Path, target: Target) -> None:
    code = "from warmstack_formatters import input_formatter\n\n\n@input_formatter\ndef f(p):\n    return p\n"
    folder = adapter(tmp_path / "legal", formatters__py=code)
    stock = dataclasses.replace(target, server="vllm", lmi_release=None, built=False)
    (problem,) = problems(folder, stock)
    assert (problem.id, problem.severity, problem.place) == ("code", "warning", "formatters.py")
    assert problem.value == "the spec has the vllm server and image.build: none"
    assert problems(folder, dataclasses.replace(stock, built=True)) == []
    assert problems(folder, dataclasses.replace(target, built=False)) == []  # LMI reads them with any image


def test_formatters_under_another_name_are_some(tmp_path: Path, target: Target) -> None:
    code = "from warmstack_formatters import input_formatter as one\n\n\n@one\ndef f(p):\n    return p\n"
    assert problems(adapter(tmp_path / "legal", formatters__py=code), target) == []
