"""The JSON Schema for editors: a valid draft 2020-12 schema that takes the examples and refuses what is no key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from tests.examples import BASES, EXAMPLES

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "schemas/deployment.schema.json"
SPECS = (*EXAMPLES, *BASES)


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    return Draft202012Validator(schema)


def read(path: Path) -> dict[str, Any]:
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(document, dict)
    return document


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.name)
def test_examples_are_valid(validator: Draft202012Validator, path: Path) -> None:
    assert [error.message for error in validator.iter_errors(read(path))] == []


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.name)
def test_examples_name_the_schema(path: Path) -> None:
    first, _, name = path.read_text(encoding="utf-8").splitlines()[0].partition("$schema=")
    assert first == "# yaml-language-server: "
    assert (path.parent / name).resolve() == SCHEMA


@pytest.mark.parametrize(
    "place",
    [
        (),
        ("model",),
        ("model", "weights"),
        ("engine",),
        ("cache", "tiers", "disk"),
        ("endpoint",),
        ("endpoint", "routing"),
    ],
    ids=".".join,
)
def test_unknown_keys_are_refused(validator: Draft202012Validator, place: tuple[str, ...]) -> None:
    document = read(ROOT / "specs/tiered-cache.yaml")
    mapping = document
    for key in place:
        mapping = mapping[key]
    mapping["prefix_lenght"] = 4096
    assert not validator.is_valid(document)


def test_an_unknown_key_is_named_and_not_a_union(validator: Draft202012Validator) -> None:
    document = read(ROOT / "specs/tiered-cache.yaml")
    document["endpoint"]["routing"]["prefix_lenght"] = 4096
    (error,) = validator.iter_errors(document)
    assert list(error.path) == ["endpoint", "routing"]
    assert "prefix_lenght" in error.message


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("endpoint", "routing", "prefix_length"), 512),
        (("endpoint", "routing", "strategy"), "prefix_aware"),
        (("cache", "tiers", "cpu"), "400"),
        (("model", "weights", "s3"), "s3://acme-models/no-slash"),
        (("endpoint", "instances", "min"), 0),
        (("components",), [None]),
        (("tags",), {"no;name": "x"}),
        (("acknowledge",), {"WS1": "measured, accepted"}),
    ],
    ids=lambda one: ".".join(one) if isinstance(one, tuple) else str(one),
)
def test_values_outside_the_language_are_refused(
    validator: Draft202012Validator, place: tuple[str, ...], value: object
) -> None:
    document = read(ROOT / "specs/tiered-cache.yaml")
    mapping = document
    for key in place[:-1]:
        mapping = mapping[key]
    mapping[place[-1]] = value
    assert not validator.is_valid(document)


@pytest.mark.parametrize(
    "place",
    [
        ("environment",),
        ("model", "dtype"),
        ("model", "max_model_len"),
        ("cache",),
        ("cache", "tiers", "disk"),
        ("endpoint", "sessions"),
        ("endpoint", "routing", "strategy"),
        ("components",),
        ("tags",),
        ("tags", "team"),
        ("acknowledge",),
    ],
    ids=".".join,
)
def test_null_removes_a_key(validator: Draft202012Validator, place: tuple[str, ...]) -> None:
    document = read(ROOT / "specs/tiered-cache.yaml")
    mapping = document
    for key in place[:-1]:
        mapping = mapping[key]
    mapping[place[-1]] = None
    assert [error.message for error in validator.iter_errors(document)] == []


def test_a_file_that_extends_may_leave_out_what_the_base_says(validator: Draft202012Validator) -> None:
    assert validator.is_valid({"extends": "base.yaml", "environment": "prod"})
    assert not validator.is_valid({"environment": "prod"})
