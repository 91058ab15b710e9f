"""Whatever a template holds, reading it ends with endpoints or with an AssemblyError."""

from __future__ import annotations

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.unit.assembly.templates import FOREIGN, with_components
from warmstack.assembly import Assembly, AssemblyError, read_assembly
from warmstack.assembly.documents import read_document

TEMPLATES = [
    with_components(),
    dict(read_document(FOREIGN)),
    json.loads((ROOT / "tests/golden/stacks/sglang-sessions/template.json").read_text(encoding="utf-8")),
    json.loads((ROOT / "tests/golden/stacks/two-models/template.json").read_text(encoding="utf-8")),
]
FUNCTIONS = [
    "Ref", "Condition", "Fn::And", "Fn::Base64", "Fn::Equals", "Fn::FindInMap", "Fn::GetAtt", "Fn::GetAZs", "Fn::If",
    "Fn::ImportValue", "Fn::Join", "Fn::Length", "Fn::Not", "Fn::Or", "Fn::Select", "Fn::Split", "Fn::Sub",
    "Fn::ToJsonString", "Fn::Nope",
]  # fmt: skip
names = st.sampled_from(
    ["Stage", "IsProd", "HasMany", "ChatModel", "ChatEndpoint", "Base", "Model", "Config", "Endpoint", "Role", "Sizes",
     "AWS::NoValue", "AWS::Region", "${Stage}", "${Base.X}", "{{resolve:x}}", "a.b", "", "chat", "primary"]
)  # fmt: skip
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
leaves = st.none() | st.booleans() | numbers | names | st.text()
sections = st.sampled_from(["Resources", "Parameters", "Conditions", "Outputs", "Mappings"])
marks = st.sampled_from(["!Ref ", "&a ", "*a", "<<: ", "- ", ": ", "!!set ", "\t"])
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(names, inner, max_size=3)
        | st.tuples(st.sampled_from(FUNCTIONS), inner).map(lambda pair: {pair[0]: pair[1]})
    ),
    max_leaves=8,
)


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    pairs = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in pairs:
        found += places(child, (*path, key))
    return found


RELEVANT = [
    [path for path in places(one) if path[0] in ("Parameters", "Conditions") or len(path) < 3
     or (path[0] == "Resources" and "SageMaker" in str(one["Resources"][path[1]].get("Type")))]
    for one in TEMPLATES
]  # fmt: skip


def outcome(path: Path, parameters: dict[str, str]) -> Assembly | tuple[str, ...]:
    """What was read, or the problems; of either there is at least one."""
    try:
        assembly = read_assembly(path, parameters=parameters)
    except AssemblyError as error:
        return _some(error.problems)
    return assembly if _some(assembly.endpoints) else ()


def _some(found: tuple[Any, ...]) -> tuple[Any, ...]:
    assert found
    return found


def read(document: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "app.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        parameters = {"Stage": "prod"} if "Stage" in json.dumps(document) else {}
        assembly = outcome(path, parameters)
    assert isinstance(assembly, tuple) or all(one.name and one.variants for one in assembly.endpoints)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_changed_templates(data: st.DataObject) -> None:
    index = data.draw(st.integers(0, len(TEMPLATES) - 1))
    document = copy.deepcopy(TEMPLATES[index])
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(RELEVANT[index]))
        node: Any = document
        for key in path[:-1]:
            if not isinstance(node, dict | list) or (isinstance(node, dict) and key not in node):
                break
            if isinstance(node, list) and not (isinstance(key, int) and key < len(node)):
                break
            node = node[key]
        else:
            if isinstance(node, dict):
                if data.draw(st.booleans()):
                    node[path[-1]] = data.draw(values)
                else:
                    node.pop(path[-1], None)
            elif isinstance(node, list) and isinstance(path[-1], int) and path[-1] < len(node):
                node[path[-1]] = data.draw(values)
    read(document)


@settings(deadline=None)
@given(document=st.dictionaries(sections, values))
def test_any_document(document: Any) -> None:
    read(document)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_changed_yaml(data: st.DataObject) -> None:
    text = FOREIGN.read_text(encoding="utf-8")
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 12))
        put = data.draw(st.text(max_size=6) | marks)
        text = text[:at] + put + text[at + cut :]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "app.yaml"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        assert outcome(path, {"Owner": "x", "Stage": "prod"})
