"""An edit of a spec changes what it speaks of, and nothing else; what stays the same stays the same byte for byte."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from check_templates import validate_templates
from tests.infrastructure.synthesis import (
    EXAMPLES,
    ROOT,
    Synthesized,
    document_of,
    path_of,
    synthesize,
    synthesize_document,
    synthesized,
)

Document = dict[str, Any]

# CloudFormation's limits (user guide, "Understand CloudFormation quotas"), and SSM's for a standard parameter.
MOST_RESOURCES = 500
MOST_OUTPUTS = 200
MOST_TEMPLATE_BYTES = 1_000_000
MOST_PARAMETER_CHARACTERS = 4096


def changes(before: Synthesized, after: Synthesized) -> tuple[set[str], set[str], set[str]]:
    """Return the logical ids of the resources that are added, removed and changed."""
    old, new = before.template["Resources"], after.template["Resources"]
    changed = {key for key in set(old) & set(new) if old[key] != new[key]}
    return set(new) - set(old), set(old) - set(new), changed


def _adapters(document: Document) -> list[Document]:
    found: list[Document] = document["components"][0]["adapters"]
    return found


def _adapter(name: str, folder: str = "tenants/") -> Document:
    return {"name": name, "artifact": f"s3://acme-adapters/{folder}{name}-v1.tar.gz", "rank": 16}


def _index_ids(stack: Synthesized) -> set[str]:
    return set(stack.of_type("SSM::Parameter"))


def test_an_added_adapter_is_one_resource_and_a_line_in_the_list(tmp_path: Path) -> None:
    document = document_of("lora-tenants")
    before = synthesize_document(tmp_path, document)
    _adapters(document).insert(10, _adapter("grading"))
    after = synthesize_document(tmp_path, document)
    added, removed, changed = changes(before, after)
    assert [after.template["Resources"][one]["Type"] for one in added] == ["AWS::SageMaker::InferenceComponent"]
    assert removed == set()
    assert changed == _index_ids(before)
    assert after.template["Outputs"] == before.template["Outputs"]


def test_a_removed_adapter_takes_one_resource_with_it(tmp_path: Path) -> None:
    document = document_of("lora-tenants")
    before = synthesize_document(tmp_path, document)
    del _adapters(document)[10]
    added, removed, changed = changes(before, synthesize_document(tmp_path, document))
    assert added == set()
    assert [before.template["Resources"][one]["Type"] for one in removed] == ["AWS::SageMaker::InferenceComponent"]
    assert changed == _index_ids(before)


def test_a_second_adapter_leaves_the_model_as_it_is(tmp_path: Path) -> None:
    """A changed Model is a new Model, and every copy of the base starts again: minutes, for one adapter."""
    document = document_of("lora-tenants")
    del _adapters(document)[1:]
    before = synthesize_document(tmp_path, document)
    _adapters(document).append(_adapter("grading"))
    assert changes(before, synthesize_document(tmp_path, document))[2] == _index_ids(before)


def test_an_adapter_from_a_new_folder_widens_the_role_too(tmp_path: Path) -> None:
    document = document_of("lora-tenants")
    before = synthesize_document(tmp_path, document)
    _adapters(document).insert(10, _adapter("grading", "new-team/"))
    added, removed, changed = changes(before, synthesize_document(tmp_path, document))
    assert (len(added), removed) == (1, set())
    assert changed == _index_ids(before) | set(before.of_type("IAM::Role"))


def test_a_renewed_archive_changes_its_adapter_only(tmp_path: Path) -> None:
    document = document_of("lora-tenants")
    before = synthesize_document(tmp_path, document)
    _adapters(document)[10]["artifact"] = "s3://acme-adapters/tenants/renewed.tar.gz"
    added, removed, changed = changes(before, synthesize_document(tmp_path, document))
    assert (added, removed) == (set(), set())
    assert [before.template["Resources"][one]["Type"] for one in changed] == ["AWS::SageMaker::InferenceComponent"]


def test_an_added_component_changes_no_other(tmp_path: Path) -> None:
    document = document_of("two-models")
    before = synthesize_document(tmp_path, document)
    third = copy.deepcopy(document["components"][1])
    document["components"].insert(1, third | {"name": "classify", "copies": {"min": 2}})
    added, removed, changed = changes(before, synthesize_document(tmp_path, document))
    assert removed == set()
    assert {one[:-8] for one in added} == {"Modelsclassify", "Componentsclassify"}
    # Its log group is the role's business.
    assert changed == set(before.of_type("IAM::Role"))


def test_the_order_of_components_and_adapters_is_nothing(tmp_path: Path) -> None:
    document = document_of("lora-tenants")
    second = copy.deepcopy(document["components"][0]) | {"name": "second", "copies": {"min": 1}}
    document["components"].append(second)
    document["endpoint"]["instances"] = {"min": 2, "max": 4}
    before = synthesize_document(tmp_path, document)
    document["components"].reverse()
    for component in document["components"]:
        component["adapters"].reverse()
    assert synthesize_document(tmp_path, document).template == before.template


@pytest.fixture(scope="module")
def hundreds(tmp_path_factory: pytest.TempPathFactory) -> Synthesized:
    """Two hundred adapters with names as long as the language allows."""
    document = document_of("lora-tenants")
    document["components"][0]["adapters"] = [
        _adapter(f"adapter-{number:03}-with-a-name-of-forty-letters") for number in range(200)
    ]
    return synthesize_document(tmp_path_factory.mktemp("hundreds"), document)


def test_two_hundred_adapters_fit_cloudformation(hundreds: Synthesized) -> None:
    assert len(hundreds.template["Resources"]) > 200
    assert len(hundreds.template["Resources"]) <= MOST_RESOURCES
    assert len(hundreds.template["Outputs"]) <= MOST_OUTPUTS
    assert len(hundreds.text.encode()) < MOST_TEMPLATE_BYTES


def test_two_hundred_adapters_are_valid(hundreds: Synthesized, tmp_path: Path) -> None:
    path = tmp_path / "template.json"
    path.write_text(hundreds.text, encoding="utf-8")
    assert [str(one) for one in validate_templates([path])] == []


def test_the_lists_of_two_hundred_adapters_fit_their_parameters(hundreds: Synthesized) -> None:
    values = [one["Properties"]["Value"] for one in hundreds.of_type("SSM::Parameter").values()]
    assert len(values) == 3
    assert all(len(one) <= MOST_PARAMETER_CHARACTERS for one in values)
    names = [name for value in values for name in value.split(",")]
    assert sorted(names) == sorted(one.name for one in hundreds.plan.models[0].adapters)


def test_the_same_specs_give_the_same_bytes() -> None:
    again = synthesize(EXAMPLES)
    assert [one.text for one in again] == [synthesized(path).text for path in EXAMPLES]


def test_every_spec_gives_the_same_alone_as_among_others() -> None:
    for path in (path_of("summarizer-prod"), path_of("long-names")):
        (alone,) = synthesize([path])
        assert alone.text == synthesized(path).text


def test_hash_seeds_do_not_reach_the_templates(tmp_path: Path) -> None:
    """Sets and dictionaries keyed by text iterate by a seed that differs in every process."""
    running = []
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "CDK_OUTDIR": str(tmp_path / seed)}
        running.append(
            subprocess.Popen(
                [sys.executable, "app.py"],
                cwd=ROOT,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
    outputs = [one.communicate()[0] for one in running]
    assert [one.returncode for one in running] == [0, 0], outputs
    for path in EXAMPLES:
        expected = synthesized(path)
        for seed in ("1", "2"):
            file = tmp_path / seed / f"{expected.plan.stack_name}.template.json"
            assert file.read_text(encoding="utf-8") == expected.text
