"""What the README and the concepts promise in numbers and whole files."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from warmstack.cli.load import plan_file

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_whole_spec_is_the_example_and_valid() -> None:
    shown = re.search(r"^```yaml (specs/sticky-chat\.yaml)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    assert shown is not None
    path = ROOT / shown[1]
    assert shown[2] == path.read_text(encoding="utf-8")
    assert not plan_file(path).failed(strict=True)


def test_the_first_screen_holds_the_commands_and_the_whole_spec() -> None:
    first = "\n".join(README.splitlines()[:50])
    assert "make demo" in first
    assert "make test" in first
    assert "sessions: {ttl: 20m}" in first


def test_the_package_carries_the_readme() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["readme"] == "README.md"


def test_the_markers_in_the_table_are_those_of_pytest() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    markers = {one.partition(":")[0] for one in options["markers"]}
    assert set(re.findall(r"^\| `([a-z]+)` \|", README.split("## Tests", 1)[1], re.MULTILINE)) == markers


@pytest.mark.parametrize(("component", "degree", "published_tokens"), [("small", 1, 2_600_000), ("large", 4, 480_000)])
def test_the_published_figures_are_met_within_five_percent(
    tmp_path: Path, component: str, degree: int, published_tokens: int
) -> None:
    page = (ROOT / "docs/concepts/what-fits.md").read_text(encoding="utf-8")
    shown = re.search(r"^```yaml specs/figures\.yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert shown is not None
    path = tmp_path / "figures.yaml"
    path.write_text(shown[1], encoding="utf-8")
    plan = plan_file(path).plan
    assert plan is not None
    memory = next(one.memory for one in plan.models if one.component == component)
    assert (memory.tensor_parallel_degree, memory.gpu_memory_utilization) == (degree, 0.90)
    assert memory.kv_tokens == pytest.approx(published_tokens, rel=0.05)


def test_no_page_names_a_machine() -> None:
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert re.findall(r"/(?:home|root|work|Users)/\w+", text) == [], page
    json.loads((ROOT / "schemas/deployment.schema.json").read_text(encoding="utf-8"))
