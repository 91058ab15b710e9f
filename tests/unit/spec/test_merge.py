"""Inheritance: files, components, named lists, null."""

from __future__ import annotations

from pathlib import Path

import pytest

from warmstack.spec import LoadedSpec, SpecError, load_spec

BASE = """\
name: chat
model:
  id: Qwen/Qwen2.5-7B-Instruct
  weights: {s3: s3://acme/qwen/}
  max_model_len: 8192
engine: {version: 0.38.0-lmi29.0.0-cu130, options: {max_num_seqs: 64, enforce_eager: true}}
endpoint: {instance_type: ml.g5.12xlarge, instances: {min: 2}}
components:
  - name: one
    adapters:
      - {name: legal, artifact: s3://acme/legal.tar.gz}
      - {name: sales, artifact: s3://acme/sales.tar.gz, rank: 8}
  - name: two
tags: {team: a, cost: b}
"""


def load(folder: Path, text: str, base: str = BASE) -> LoadedSpec:
    (folder / "base.yaml").write_text(base, encoding="utf-8")
    (folder / "spec.yaml").write_text(text, encoding="utf-8")
    return load_spec(folder / "spec.yaml")


def test_mappings_merge_by_key(tmp_path: Path) -> None:
    spec = load(tmp_path, "extends: base.yaml\nenvironment: prod\ntags: {team: z}\n").spec
    assert (spec.name, spec.environment) == ("chat", "prod")
    assert spec.tags == {"team": "z", "cost": "b"}
    assert spec.endpoint.instances.min == 2


def test_named_lists_merge_by_name(tmp_path: Path) -> None:
    text = """\
extends: base.yaml
components:
  - name: three
  - name: one
    accelerators: 2
    adapters:
      - {name: sales, rank: 32}
      - {name: press, artifact: s3://acme/press.tar.gz}
"""
    components = load(tmp_path, text).spec.components
    assert [one.name for one in components] == ["one", "two", "three"]
    assert components[0].accelerators == 2
    adapters = [(one.name, one.artifact, one.rank) for one in components[0].adapters]
    assert adapters == [
        ("legal", "s3://acme/legal.tar.gz", 16),
        ("sales", "s3://acme/sales.tar.gz", 32),
        ("press", "s3://acme/press.tar.gz", 16),
    ]


def test_null_removes(tmp_path: Path) -> None:
    text = "extends: base.yaml\ncomponents: null\ntags: {cost: null}\nengine: {options: {enforce_eager: ~}}\n"
    spec = load(tmp_path, text).spec
    assert spec.components == ()
    assert spec.tags == {"team": "a"}
    assert dict(spec.engine.options) == {"max_num_seqs": 64}
    assert spec.model is not None


def test_other_lists_are_replaced(tmp_path: Path) -> None:
    base = BASE.replace("max_num_seqs: 64", "served_model_name: [a, b]")
    spec = load(
        tmp_path, "extends: base.yaml\nengine: {options: {served_model_name: [c]}}\ncomponents: null\n", base
    ).spec
    assert spec.engine.options["served_model_name"] == ("c",)


def test_components_inherit_and_override(tmp_path: Path) -> None:
    text = """\
extends: base.yaml
components:
  - name: two
    model: {max_model_len: 4096}
    engine: {options: {max_num_seqs: 8}}
"""
    spec = load(tmp_path, text).spec
    assert spec.model is None  # moved into the components
    one, two = spec.components
    assert (one.model.max_model_len, two.model.max_model_len) == (8192, 4096)
    assert dict(two.engine.options) == {"max_num_seqs": 8, "enforce_eager": True}
    assert two.model.weights.s3 == "s3://acme/qwen/"


def test_a_chain_of_files(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "middle.yaml").write_text("extends: ../base.yaml\nenvironment: stage\n", encoding="utf-8")
    spec = load(tmp_path, "extends: sub/middle.yaml\nname: other\n").spec
    assert (spec.name, spec.environment, spec.endpoint.instance_type) == ("other", "stage", "ml.g5.12xlarge")


def test_too_long_a_chain(tmp_path: Path) -> None:
    for index in range(20):
        (tmp_path / f"f{index}.yaml").write_text(f"extends: f{index + 1}.yaml\n", encoding="utf-8")
    with pytest.raises(SpecError, match="more than 16 files deep"):
        load_spec(tmp_path / "f0.yaml")


def test_config_is_relative_to_the_file_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    config = (
        '{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 4,'
    )
    config += (
        '"num_attention_heads": 8, "intermediate_size": 2048, "vocab_size": 32000, "max_position_embeddings": 4096}'
    )
    (tmp_path / "models" / "own.json").write_text(config, encoding="utf-8")
    (tmp_path / "models" / "base.yaml").write_text(
        "name: own\nmodel: {id: acme/own, config: own.json}\nendpoint: {instance_type: ml.g5.xlarge}\n",
        encoding="utf-8",
    )
    (tmp_path / "spec.yaml").write_text("extends: models/base.yaml\n", encoding="utf-8")
    loaded = load_spec(tmp_path / "spec.yaml")
    shape = loaded.shapes["model",]
    assert (shape.id, shape.num_layers, shape.head_dim) == ("acme/own", 4, 128)


def test_a_value_keeps_the_place_it_was_written_in(tmp_path: Path) -> None:
    loaded = load(tmp_path, "extends: base.yaml\nendpoint:\n  instances: {max: 3}\n")
    base = loaded.mark(("endpoint", "instance_type"))
    own = loaded.mark(("endpoint", "instances", "max"))
    assert (Path(base.file).name, base.line) == ("base.yaml", 7)
    assert (Path(own.file).name, own.line, own.column) == ("spec.yaml", 3, 20)
    missing = loaded.mark(("endpoint", "routing", "prefix_length"))
    assert (Path(missing.file).name, missing.line) == ("spec.yaml", 2)
