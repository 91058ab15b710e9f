"""What the handlers know of each type, held to CloudFormation's own schemas."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER

from tests.examples import NAMES, ROOT
from tests.unit.local.aws.running import CAPABILITIES, Running
from warmstack.local.aws.resources.property_names import PROPERTY_NAMES
from warmstack.local.aws.resources.registry import HANDLERS

KINDS = sorted(HANDLERS.keys() - {"AWS::CloudFormation::CustomResource"})


def schema(kind: str) -> Any:
    return PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", kind).schema


def own(kind: str, member: str) -> set[str]:
    """Return the properties of the resource itself that a member of its schema lists, without those inside of them."""
    paths = [one.split("/")[2:] for one in schema(kind).get(member, [])]
    return {path[0] for path in paths if len(path) == 1}


def test_every_type_has_its_names() -> None:
    assert sorted(PROPERTY_NAMES) == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_the_names_are_those_of_the_schema(kind: str) -> None:
    assert PROPERTY_NAMES[kind] == schema(kind)["properties"].keys() - own(kind, "readOnlyProperties")


@pytest.mark.parametrize("kind", KINDS)
def test_what_replaces_is_what_cannot_be_changed(kind: str) -> None:
    assert HANDLERS[kind].replaces == own(kind, "createOnlyProperties")


def test_the_examples_are_taken(aws: Running) -> None:
    client = aws.cloudformation
    aws.client("ssm").put_parameter(Name="/cdk-bootstrap/hnb659fds/version", Value="30", Type="String")
    for name in NAMES:
        template = json.loads((ROOT / "tests/golden/stacks" / name / "template.json").read_text())
        client.create_change_set(
            StackName=f"example-{name.replace('.', '-')}",
            ChangeSetName="set",
            ChangeSetType="CREATE",
            TemplateBody=json.dumps(template, separators=(",", ":")),
            Capabilities=CAPABILITIES,
        )
