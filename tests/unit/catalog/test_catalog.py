"""The catalog's look-ups, and the rules that every data file keeps."""

from __future__ import annotations

import dataclasses
import importlib.resources
import json
import re
from pathlib import Path

import pytest

from warmstack.catalog import load_catalog
from warmstack.catalog._data import read_json
from warmstack.errors import CatalogError

DATA = importlib.resources.files("warmstack.catalog") / "data"
FILES = sorted(entry.name for entry in DATA.iterdir() if entry.name.endswith(".json"))
CATALOG = load_catalog()


def test_the_catalog_is_read_once() -> None:
    assert load_catalog() is CATALOG


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("ml.p4de.48xlarge", "ml.p4de.24xlarge"),
        ("g6e.12xlarge", "ml.g6e.12xlarge"),
        ("ml.G6E.12xlarge", "ml.g6e.12xlarge"),
    ],
)
def test_an_unknown_instance_names_the_nearest(asked: str, meant: str) -> None:
    with pytest.raises(CatalogError, match=rf"{re.escape(asked)}.*did you mean {re.escape(meant)}"):
        CATALOG.instance(asked)


def test_an_instance_like_none_has_no_suggestion() -> None:
    with pytest.raises(CatalogError) as caught:
        CATALOG.instance("zebra")
    assert str(caught.value) == "instance type 'zebra' is not in the catalog"


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("Qwen/Qwen2.5-72b-instruct", "Qwen/Qwen2.5-72B-Instruct"),
        ("Qwen2.5-72B-Instruct", "Qwen/Qwen2.5-72B-Instruct"),
        ("meta-llama/Llama-3.1-8B-Instuct", "meta-llama/Llama-3.1-8B-Instruct"),
    ],
)
def test_an_unknown_model_names_the_nearest_and_the_way_out(asked: str, meant: str) -> None:
    with pytest.raises(CatalogError, match=rf"did you mean {re.escape(meant)}.*path of its config.json"):
        CATALOG.model(asked)


@pytest.mark.parametrize(
    ("alias", "same_as"),
    [
        ("meta-llama/Llama-3.3-70B-Instruct", "meta-llama/Meta-Llama-3.1-70B"),
        ("meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Meta-Llama-3.1-8B"),
        ("meta-llama/Llama-3.1-405B", "meta-llama/Meta-Llama-3.1-405B"),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", "mistralai/Mixtral-8x7B-v0.1"),
        ("deepseek-ai/DeepSeek-V3-0324", "deepseek-ai/DeepSeek-V3"),
        ("deepseek-ai/DeepSeek-R1-0528", "deepseek-ai/DeepSeek-R1"),
    ],
)
def test_an_alias_has_the_shape_of_its_model_and_its_own_id(alias: str, same_as: str) -> None:
    shape = CATALOG.model(alias)
    assert shape.id == alias
    assert dataclasses.replace(shape, id=same_as) == CATALOG.model(same_as)


def test_an_alias_does_not_claim_a_length_that_differs_and_is_not_known() -> None:
    assert CATALOG.model("Qwen/Qwen2.5-7B-Instruct").max_position_embeddings == 32768
    assert CATALOG.model("Qwen/Qwen2.5-7B").max_position_embeddings is None


def test_every_model_is_found_under_its_own_id() -> None:
    assert len(CATALOG.models) > 110
    for model_id, shape in CATALOG.models.items():
        assert (shape.id, shape.source) == (model_id, "catalog")


def test_extra_models_win_and_leave_the_catalog_as_it_was() -> None:
    mine = dataclasses.replace(CATALOG.model("Qwen/Qwen3-8B"), num_layers=1, source="mine/config.json")
    extended = CATALOG.with_models({"Qwen/Qwen3-8B": mine, "acme/new": mine})
    assert extended.model("Qwen/Qwen3-8B").num_layers == 1
    assert extended.model("acme/new") is mine
    assert CATALOG.model("Qwen/Qwen3-8B").num_layers == 36
    assert extended.instances is CATALOG.instances


def test_the_data_files_are_those_that_the_reader_knows() -> None:
    assert FILES == [
        "aliases.json",
        "flags_lmi.json",
        "flags_sglang.json",
        "flags_vllm.json",
        "images.json",
        "instances.json",
        "models.json",
        "servers.json",
    ]


@pytest.mark.parametrize("name", FILES)
def test_a_data_file_states_its_source_and_date(name: str) -> None:
    document = json.loads((DATA / name).read_text(encoding="utf-8"))
    assert len(document["source"]) > 20
    assert re.fullmatch(r"2[0-9]{3}-[0-9]{2}-[0-9]{2}", document["as_of"])


@pytest.mark.parametrize("name", FILES)
def test_a_data_file_names_no_path_of_the_machine_that_made_it(name: str) -> None:
    text = (DATA / name).read_text(encoding="utf-8")
    assert not re.search(r"/(work|home|root|tmp|opt)/", text.replace("/opt/ml", ""))


def test_an_instance_is_found_by_its_name() -> None:
    assert CATALOG.instance("ml.p4de.24xlarge").gpu_count == 8


@pytest.mark.parametrize("text", ["[]", '{"as_of": "2026-01-01"}', '{"source": "somewhere"}'])
def test_a_data_file_without_source_and_date_is_not_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "facts.json").write_text(text, encoding="utf-8")
    with pytest.raises(CatalogError, match=r"facts\.json states no source and as_of"):
        read_json("facts.json", tmp_path)


def test_a_data_file_that_was_not_installed_is_named() -> None:
    with pytest.raises(CatalogError, match=r"data file gone\.json is not in this installation"):
        read_json("gone.json")
