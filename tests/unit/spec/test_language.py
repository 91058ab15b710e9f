"""The language as a whole: documented, reserved, in step with its schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.examples import BASES, EXAMPLES
from tests.unit.plan.specs import loaded
from warmstack.spec import RESERVED_KEYS, SpecError, load_spec, render, schema_text, spec_schema
from warmstack.spec.diagnostics import Diagnostic
from warmstack.spec.explain import near
from warmstack.spec.tree import Mark


def _properties(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, definition in {"": schema, **schema["$defs"]}.items():
        for key, prop in definition.get("properties", {}).items():
            yield f"{name}.{key}", prop


@pytest.mark.parametrize(("name", "prop"), [pytest.param(*one, id=one[0]) for one in _properties(spec_schema())])
def test_every_key_is_documented(name: str, prop: dict[str, Any]) -> None:
    if name.startswith(".TierSize"):
        return
    assert prop.get("description", "").endswith("."), name


def test_the_schema_is_a_schema_and_takes_every_spec() -> None:
    schema = json.loads(schema_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for path in (*EXAMPLES, *BASES):
        assert list(validator.iter_errors(yaml.safe_load(path.read_text(encoding="utf-8")))) == [], path


@pytest.mark.parametrize(
    "wrong",
    [
        {"modle": {}},
        {"endpoint": {"instance_type": "ml.g5.xlarge", "instances": {"mim": 1}}},
        {"engine": {"server": "tgi"}},
        {"cache": {"tiers": {"cpu": "lots"}}},
        {"endpoint": {"routing": {"prefix_length": 512}}},
        {"components": [{"accelerators": 2}]},
    ],
)
def test_the_schema_refuses_what_the_loader_refuses(wrong: dict[str, Any], tmp_path: Path) -> None:
    base = {"name": "chat", "model": {"id": "Qwen/Qwen3-8B"}, "endpoint": {"instance_type": "ml.g5.xlarge"}}
    spec = base | wrong
    assert list(jsonschema.Draft202012Validator(spec_schema()).iter_errors(spec))
    path = tmp_path / "spec.yaml"
    path.write_text(yaml.safe_dump(spec), encoding="utf-8")
    with pytest.raises(SpecError):
        load_spec(path)


def test_the_schema_names_the_unknown_key() -> None:
    spec = {"name": "chat", "endpoint": {"instance_type": "ml.g5.xlarge", "routing": {"prefix_lenght": 4096}}}
    (error,) = jsonschema.Draft202012Validator(spec_schema()).iter_errors(spec)
    assert "prefix_lenght" in error.message
    assert list(error.absolute_path) == ["endpoint", "routing"]


def test_without_extends_the_root_has_required_keys() -> None:
    validator = jsonschema.Draft202012Validator(spec_schema())
    assert list(validator.iter_errors({"name": "chat"}))
    assert not list(validator.iter_errors({"extends": "base.yaml"}))


@pytest.mark.parametrize("key", sorted(RESERVED_KEYS))
@pytest.mark.parametrize("place", ["root", "endpoint"])
def test_reserved_keys_are_refused_by_name(key: str, place: str, tmp_path: Path) -> None:
    spec: dict[str, Any] = {
        "name": "chat",
        "model": {"id": "Qwen/Qwen3-8B"},
        "endpoint": {"instance_type": "ml.g5.xlarge"},
    }
    (spec if place == "root" else spec["endpoint"])[key] = {"anything": 1}
    path = tmp_path / "spec.yaml"
    path.write_text(yaml.safe_dump(spec), encoding="utf-8")
    with pytest.raises(SpecError, match=f"'{key}'.*not supported yet"):
        load_spec(path)


def test_specs_are_frozen(root: Path) -> None:
    spec = load_spec(root / "specs" / "sticky-chat.yaml").spec
    with pytest.raises(ValueError, match="frozen"):
        spec.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("word", "known", "guess"),
    [
        ("prefix_lenght", ("prefix_length", "strategy"), "prefix_length"),
        ("Prefix-Length", ("prefix_length", "strategy"), "prefix_length"),
        ("zzz", ("prefix_length", "strategy"), None),
        ("", ("prefix_length",), None),
    ],
)
def test_near(word: str, known: tuple[str, ...], guess: str | None) -> None:
    assert near(word, known) == guess


MARK = Mark(file="a,b:c.yaml", line=1, column=3, length=4)


def test_github_annotations_escape_what_ends_them() -> None:
    one = Diagnostic(severity="note", message="50% of\nit", mark=MARK, check="WS004", hint="do: this, so")
    assert render([one], {}, "github") == (
        "::notice file=a%2Cb%3Ac.yaml,line=1,col=3,title=Warmstack WS004::50%25 of\\nit%0Ado: this, so\n"
    )


def test_json_messages() -> None:
    one = Diagnostic(severity="error", message="wrong", mark=MARK)
    assert json.loads(render([one], {}, "json")) == [
        {"severity": "error", "check": None, "message": "wrong", "hint": None,
         "file": "a,b:c.yaml", "line": 1, "column": 3, "length": 4}
    ]  # fmt: skip


def test_text_escapes_what_would_drive_a_terminal() -> None:
    one = Diagnostic(severity="error", message="bad \x1b[31m", mark=MARK)
    text = render([one], {MARK.file: ["x \x1b[2J\x07 y"]}, "text")
    assert "\x1b" not in text
    assert "\x07" not in text


def test_a_long_line_is_cut_around_the_caret() -> None:
    line = "k: " + "x" * 400 + "BAD" + "y" * 400
    one = Diagnostic(severity="error", message="bad", mark=Mark(file="f", line=1, column=404, length=3))
    shown = render([one], {"f": [line]}, "text").splitlines()
    caret = shown[2].index("^")
    assert shown[1][caret : caret + 3] == "BAD"
    assert max(len(text) for text in shown) < 140


@pytest.mark.parametrize(
    "base",
    [
        "111122223333.dkr.ecr.eusc-de-east-1.amazonaws.eu/mirror:1",
        "111122223333.dkr.ecr.us-iso-east-1.c2s.ic.gov/mirror:1",
        "111122223333.dkr.ecr.cn-north-1.amazonaws.com.cn/mirror:1",
        "public.ecr.aws/deep-learning-containers/vllm:0.30.0",
    ],
)
def test_bases_lie_in_the_registries_of_every_partition(base: str) -> None:
    assert loaded({"image": {"base": base}}).spec.image.base == base
