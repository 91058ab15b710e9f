"""Every generated file on disk is what the code generates, and the reference holds everything there is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import docs
from tests.examples import EXAMPLES
from warmstack.catalog import load_catalog
from warmstack.cli.load import plan_file
from warmstack.cli.reference.commands import commands
from warmstack.cli.reference.plan_document import document_keys
from warmstack.cli.reference.spec import key_paths
from warmstack.plan import CHECKS, plan_document
from warmstack.spec import spec_schema

ROOT = Path(__file__).parents[2]
SPECS = EXAMPLES


@pytest.mark.parametrize("name", docs.GENERATED)
def test_the_file_is_what_the_code_generates(name: str) -> None:
    assert docs.current_text(ROOT / name) == docs.GENERATED[name](), f"{name} is out of date; run `make docs`"


def test_every_reference_page_is_generated() -> None:
    assert {f"docs/reference/{path.name}" for path in (ROOT / "docs/reference").glob("*.md")} == {
        name for name in docs.GENERATED if name.startswith("docs/")
    }


def test_the_script_tells_and_repairs_what_is_out_of_date(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(docs, "ROOT", tmp_path)
    monkeypatch.setattr(docs, "GENERATED", {"folder/page.md": lambda: "text\n"})
    monkeypatch.setattr(sys, "argv", ["docs", "--check"])
    assert docs.main() == 1
    assert not (tmp_path / "folder").exists()
    monkeypatch.setattr(sys, "argv", ["docs"])
    assert docs.main() == 0
    assert (tmp_path / "folder/page.md").read_text() == "text\n"
    monkeypatch.setattr(sys, "argv", ["docs", "--check"])
    assert docs.main() == 0
    assert "up to date" in capsys.readouterr().out


def reference(name: str) -> str:
    return (ROOT / "docs/reference" / name).read_text(encoding="utf-8")


def test_every_check_has_a_section() -> None:
    lines = reference("checks.md").splitlines()
    for check in CHECKS.values():
        assert f"### {check.id}" in lines
        assert f"**{check.severity}** · {check.reason}" in lines
        assert f"- Way out: {check.fix}" in lines
        assert f"- Source: {check.source}" in lines


def test_every_key_of_the_spec_is_listed() -> None:
    paths = list(key_paths())
    assert len(paths) == len(set(paths))
    assert {
        "name",
        "model.weights.hub.revision",
        "cache.tiers.disk.direct_io",
        "endpoint.routing.prefix_length",
    } <= set(paths)
    assert {"components[].copies.max", "components[].adapters[].rank"} <= set(paths)
    text = reference("spec.md")
    for path in paths:
        mapping, _, key = path.rpartition(".")
        section = text.split(f"\n## {'`' + mapping + '`' if mapping else 'The root'}\n", 1)[1].split("\n## ", 1)[0]
        assert f"| `{key}` |" in section


def test_null_is_said_once_and_is_no_type() -> None:
    text = reference("spec.md")
    assert [line for line in text.splitlines() if "null" in line] == [
        "- Every key but `extends` may be `null`, which removes it: what a base says of it goes, and its default holds."
    ]
    assert "`None`" not in text


def test_every_definition_of_the_schema_is_reached() -> None:
    mappings = {path.rpartition(".")[0] for path in key_paths()}
    assert len(mappings) == len(spec_schema()["$defs"]) + 1


def test_required_keys_are_those_of_the_language() -> None:
    required = {line.split("`")[1] for line in reference("spec.md").splitlines() if "| required |" in line}
    assert required == {
        "account",
        "artifact",
        "endpoint",
        "id",
        "instance_type",
        "method",
        "model",
        "name",
        "region",
        "url",
    }


def test_every_command_and_option_is_listed() -> None:
    text = reference("cli.md")
    for name, _ in commands():
        assert f"\n## `{name}`\n" in text
        assert options_in_help(name) <= options_on_page(text, name)


def options_in_help(name: str) -> set[str]:
    program = Path(sys.executable).parent / "warmstack"
    shown = subprocess.run(
        [program, *name.split()[1:], "--help"], capture_output=True, text=True, check=True, env={"COLUMNS": "200"}
    ).stdout
    return {word for word in shown.replace("│", " ").split() if word.startswith("--")}


def options_on_page(text: str, name: str) -> set[str]:
    section = text.split(f"\n## `{name}`\n", 1)[1].split("\n## ", 1)[0]
    return {line.split("`")[1].split()[0] for line in section.splitlines() if line.startswith("| `--")}


def test_every_key_of_the_plan_document_is_described() -> None:
    keys = {one.path: one for one in document_keys()}
    assert not [path for path, one in keys.items() if not one.description]
    found: set[str] = set()
    for path in SPECS:
        plan = plan_file(path).plan
        assert plan is not None
        found |= set(paths_of(plan_document(plan), keys))
    assert found - set(keys) == set()
    assert set(keys) - found == set(), "no example has these keys"


def paths_of(value: Mapping[str, Any], known: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the paths of a document's keys; the keys of an open mapping are data, not keys of the document."""
    for key, item in value.items():
        path = f"{prefix}{key}"
        yield path
        if known[path].type.startswith("object of"):
            continue
        if isinstance(item, dict):
            yield from paths_of(item, known, f"{path}.")
        elif isinstance(item, list):
            for one in item:
                if isinstance(one, dict):
                    yield from paths_of(one, known, f"{path}[].")


def test_the_catalog_page_holds_every_row() -> None:
    text = reference("catalog.md")
    catalog = load_catalog()
    names = [*catalog.instances, *(one.version for one in catalog.images), *catalog.models, *catalog.flags]
    assert [name for name in names if f"`{name}`" not in text] == []
