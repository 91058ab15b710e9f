"""What stacks take of one another, and outputs that change without a resource."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.unit.local.aws.running import Running
from tests.unit.local.aws.templates import config, parameter, text

BAD = config("RANDOM", "gone")
"""A resource that cannot be made: no such model is there."""


def exporter(value: Any = "one", export: str = "shared") -> str:
    outputs = {"Out": {"Value": value, "Export": {"Name": export}}}
    return text({"Own": parameter("x", "/exporter")}, Outputs=outputs)


def importer(value: Any = None, **more: Any) -> str:
    taken = {"Fn::ImportValue": "shared"} if value is None else value
    return text({"Taken": parameter(taken, "/importer"), **more})


def importers(aws: Running) -> list[str]:
    return list(aws.cloudformation.list_imports(ExportName="shared")["Imports"])


def nobody(aws: Running) -> bool:
    with pytest.raises(ClientError, match="Export 'shared' is not imported by any stack"):
        importers(aws)
    return True


def test_what_is_imported_no_more_is_free(aws: Running) -> None:
    aws.create(exporter(), "exporter")
    aws.create(importer(), "importer")
    assert importers(aws) == ["importer"]
    aws.update(importer("plain"), "importer")
    assert nobody(aws)
    assert aws.delete("exporter")["StackStatus"] == "DELETE_COMPLETE"


def test_a_change_set_takes_nothing(aws: Running) -> None:
    aws.create(exporter(), "exporter")
    aws.create(importer("plain"), "importer")
    aws.cloudformation.create_change_set(StackName="importer", ChangeSetName="one", TemplateBody=importer())
    assert nobody(aws)


def test_a_creation_that_was_rolled_back_takes_nothing(aws: Running) -> None:
    aws.create(exporter(), "exporter")
    stack = aws.create(importer(Bad={**BAD, "DependsOn": "Taken"}), "importer")
    assert stack["StackStatus"] == "ROLLBACK_COMPLETE"
    assert nobody(aws)


def test_an_update_that_was_rolled_back_takes_what_it_took(aws: Running) -> None:
    aws.create(exporter(), "exporter")
    aws.create(importer(), "importer")
    stack = aws.update(importer("plain", Bad={**BAD, "DependsOn": "Taken"}), "importer")
    assert stack["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert importers(aws) == ["importer"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (exporter("two"), "Export shared cannot be updated as it is in use by importer"),
        (exporter("one", "other"), "Export shared cannot be deleted as it is in use by importer"),
    ],
)
def test_an_export_in_use_stays_as_it_is(aws: Running, changed: str, said: str) -> None:
    aws.create(exporter(), "exporter")
    aws.create(importer(), "importer")
    stack = aws.update(changed, "exporter")
    assert stack["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert any(said in one for one in aws.reasons("exporter").values())
    assert [(one["Name"], one["Value"]) for one in aws.cloudformation.list_exports()["Exports"]] == [("shared", "one")]
    aws.update(importer("plain"), "importer")
    assert aws.update(changed, "exporter")["StackStatus"] == "UPDATE_COMPLETE"


def test_a_name_is_exported_once(aws: Running) -> None:
    twice = {name: {"Value": name, "Export": {"Name": "shared"}} for name in ("One", "Two")}
    stack = aws.create(text({"Own": parameter("x")}, Outputs=twice))
    assert stack["StackStatus"] == "ROLLBACK_COMPLETE"
    assert any("Outputs One and Two both export shared" in one for one in aws.reasons().values())
    assert aws.cloudformation.list_exports()["Exports"] == []


MAPPED = {"Fn::FindInMap": ["Sizes", "here", "size"]}
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "a parameter": (
        {"Parameters": {"Size": {"Type": "String", "Default": "one"}}, "Outputs": {"Out": {"Value": {"Ref": "Size"}}}},
        {"Parameters": {"Size": {"Type": "String", "Default": "two"}}, "Outputs": {"Out": {"Value": {"Ref": "Size"}}}},
        {"Out": "two"},
    ),
    "a mapping": (
        {"Mappings": {"Sizes": {"here": {"size": "one"}}}, "Outputs": {"Out": {"Value": MAPPED}}},
        {"Mappings": {"Sizes": {"here": {"size": "two"}}}, "Outputs": {"Out": {"Value": MAPPED}}},
        {"Out": "two"},
    ),
    "a condition": (
        {"Conditions": {"Big": {"Fn::Equals": ["1", "2"]}}, "Outputs": {"Out": {"Value": "x", "Condition": "Big"}}},
        {"Conditions": {"Big": {"Fn::Equals": ["1", "1"]}}, "Outputs": {"Out": {"Value": "x", "Condition": "Big"}}},
        {"Out": "x"},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_output_that_gets_another_value_is_an_update(aws: Running, name: str) -> None:
    before, after, outputs = CASES[name]
    aws.create(text({"Own": parameter("x")}, **before))
    assert aws.outputs() != outputs
    change_set = aws.cloudformation.create_change_set(
        StackName="demo", ChangeSetName="one", TemplateBody=text({"Own": parameter("x")}, **after)
    )
    assert aws.cloudformation.describe_change_set(ChangeSetName=change_set["Id"])["Status"] == "CREATE_COMPLETE"
    assert aws.update(text({"Own": parameter("x")}, **after))["StackStatus"] == "UPDATE_COMPLETE"
    assert aws.outputs() == outputs
    with pytest.raises(ClientError, match=r"No updates are to be performed\."):
        aws.update(text({"Own": parameter("x")}, **after))
