"""Whatever a spec says, the answer is a plan or messages: mutations of the shipped specs, never an exception."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import EXAMPLES
from warmstack.cli.load import plan_file
from warmstack.plan import plan_document
from warmstack.spec import render

TREES = [yaml.safe_load(path.read_text(encoding="utf-8")) for path in EXAMPLES if "summarizer" not in path.name]
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**18) + 1, 10**18 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=30),
    st.sampled_from(
        ["1%", "100%", "99999999TiB", "1B", "0s", "3600s", "lmi", "vllm", "sglang", "ml.g5.xlarge", "ml.p5.48xlarge",
         "s3://a-b/", "openai/gpt-oss-20b", "Qwen/Qwen3.5-27B", "deepseek-ai/DeepSeek-V3", "KV_AWARE", "a" * 40]
    ),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=2),
)  # fmt: skip


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in items:
        yield (*path, key)
        yield from _paths(one, (*path, key))


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    tree = copy.deepcopy(draw(st.sampled_from(TREES)))
    for _ in range(draw(st.integers(1, 3))):
        places = list(_paths(tree))
        *above, last = draw(st.sampled_from(places))
        node = tree
        for key in above:
            node = node[key]
        if draw(st.booleans()):
            node[last] = draw(VALUES)
        elif isinstance(node, dict):
            node[draw(st.text(min_size=1, max_size=8))] = node[last]
        else:
            node.append(copy.deepcopy(node[last]))
    return dict(tree)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(tree=mutated())
def test_mutated_specs(tree: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spec.yaml"
        path.write_text(yaml.safe_dump(tree, allow_unicode=True), encoding="utf-8")
        outcome = plan_file(path)
    assert outcome.plan is not None or outcome.diagnostics
    for form in ("text", "json", "github"):
        render(outcome.diagnostics, outcome.lines, form)  # type: ignore[arg-type]
    if outcome.plan is not None:
        plan_document(outcome.plan)
        assert all(isinstance(value, str) for one in outcome.plan.models for value in one.environment.values())


@pytest.mark.parametrize(
    "text",
    [
        'extends: "a\\0b"\n',
        'extends: "\\ud800"\n',
        f"extends: {'x' * 5000}\n",
        "extends: .\n",
        "extends: /\n",
        'name: "\\ud800"\nmodel: {id: x}\nendpoint: {instance_type: ml.g5.xlarge}\n',
        'name: a\nmodel: {id: x, config: "a\\0b"}\nendpoint: {instance_type: ml.g5.xlarge}\n',
        "name: a\nmodel: {id: x, config: .}\nendpoint: {instance_type: ml.g5.xlarge}\n",
        "? [a, b]\n: c\n",
        "? {a: b}\n: c\n",
        "[a, b]: c\n",
        "*a : b\n",
        "%TAG ! tag:x,2000:\n---\nname: a\n",
        "name: a\n...\n",
        "--- |\n text\n",
        "\x85",
        "a: 'b\n",
        "a: {{ env }}\n",
    ],
)
def test_odd_texts(text: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(text, encoding="utf-8")
    outcome = plan_file(path)
    assert outcome.errors
    render(outcome.diagnostics, outcome.lines)


def test_a_loop_of_links(tmp_path: Path) -> None:
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    assert len(plan_file(tmp_path / "loop.yaml").errors) == 1
    (tmp_path / "spec.yaml").write_text("extends: loop.yaml\nname: a\n", encoding="utf-8")
    assert len(plan_file(tmp_path / "spec.yaml").errors) == 1


def test_a_pipe_as_config_does_not_wait(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "config.json")
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        "name: a\nmodel: {id: x, config: config.json}\nendpoint: {instance_type: ml.g5.xlarge}\n", encoding="utf-8"
    )
    assert len(plan_file(spec).errors) == 1
