"""Which endpoint is meant, and where its definition is looked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.operate.fakes import Scripted, refused
from tests.unit.operate.test_verify_states import TEMPLATE, cloudformation
from warmstack.client import NotConfigured
from warmstack.operate import Named, OperateError, Place, find_place
from warmstack.operate.asking import RefusedError
from warmstack.operate.verification.live import LiveEndpoint

LIVE = LiveEndpoint(
    name="demo",
    arn="arn:aws:sagemaker:us-west-2:111122223333:endpoint/demo",
    status="InService",
    failure=None,
    config_name="demo-config",
    variants=(),
)
STACKLESS = "port 8787 serves a local endpoint, which has no stacks"
OUTPUTS = [{"OutputKey": key, "OutputValue": value} for key, value in (("EndpointName", "demo"), ("Dialect", "vllm"))]


NO_ENDPOINT = "the stack has no output EndpointName; it is not a Warmstack endpoint stack"


def find(
    target: str | None = None,
    *,
    stack: str | None = None,
    assembly: Path | None = None,
    stackless: str = "",
    client: Scripted | None = None,
) -> Place:
    named = Named(target=target, stack=stack, assembly=assembly, stackless=stackless, region="us-west-2")

    def made() -> Any:
        assert client is not None, "CloudFormation is not to be asked"
        return client

    return find_place(named, made)


def publishing() -> Scripted:
    stacks = cloudformation().describe_stacks()
    stacks["Stacks"][0]["Outputs"] = OUTPUTS
    return cloudformation(describe_stacks=stacks)


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    path = tmp_path / "cdk-outputs.json"
    path.write_text(json.dumps({"demo-prod": {"EndpointName": "demo", "Dialect": "vllm"}}), encoding="utf-8")
    return path


@pytest.fixture
def assembly(tmp_path: Path) -> Path:
    template = json.loads(json.dumps(TEMPLATE))
    template["Parameters"]["Length"]["Default"] = "2048"
    path = tmp_path / "demo.template.json"
    path.write_text(json.dumps(template), encoding="utf-8")
    return path


def test_a_name_alone_has_no_definition() -> None:
    place = find("demo")
    assert (place.endpoint, place.outputs, place.expected_of(LIVE)) == ("demo", None, None)
    assert place.nothing == "no --assembly and no --stack is named"
    assert find("demo", stackless=STACKLESS).nothing == f"no --assembly is named, and {STACKLESS}"


def test_a_deployed_stack_is_both() -> None:
    place = find(stack="demo-prod", client=publishing())
    expected = place.expected_of(LIVE)
    assert expected is not None
    assert (place.endpoint, expected.source) == ("demo", "stack demo-prod")
    assert expected.configurations == frozenset({"demo-config"})


def test_a_stack_is_judged_when_its_endpoint_has_come_to_rest() -> None:
    client = publishing()
    place = find(stack="demo-prod", client=client)
    (stack,) = client.describe_stacks()["Stacks"]
    stack["StackStatus"] = "UPDATE_ROLLBACK_COMPLETE"
    expected = place.expected_of(LIVE)
    assert expected is not None
    assert expected.stack_status == "UPDATE_ROLLBACK_COMPLETE"


@pytest.mark.parametrize("target", [None, "demo"])
def test_a_stack_that_nobody_can_be_asked_for_is_an_error_with_the_way_out(target: str | None) -> None:
    with pytest.raises(OperateError) as caught:
        find(target, stack="demo-prod", stackless=STACKLESS)
    assert str(caught.value) == (
        f"--stack is 'demo-prod', and {STACKLESS}; add --assembly cdk.out, or deploy the stack to "
        "`warmstack local aws up`"
    )


def test_a_stack_that_is_not_there_or_publishes_nothing_is_an_error_with_the_way_out() -> None:
    missing = refused("DescribeStacks", "ValidationError", "Stack with id demo-prod does not exist")
    with pytest.raises(OperateError, match="there is no such stack in us-west-2; look at its name, the Region"):
        find(stack="demo-prod", client=cloudformation(describe_stacks=missing))
    denied = refused("DescribeStacks", "AccessDenied")
    with pytest.raises(RefusedError, match="cloudformation:DescribeStacks: AccessDenied"):
        find(stack="demo-prod", client=cloudformation(describe_stacks=denied))
    stacks = cloudformation().describe_stacks()
    for status, way_out in (
        ("ROLLBACK_COMPLETE", "it publishes no endpoint; read its first failed event, mend it, and deploy again"),
        ("CREATE_COMPLETE", f"{NO_ENDPOINT}; give the endpoint's name besides --stack"),
    ):
        stacks["Stacks"][0] |= {"StackStatus": status, "Outputs": []}
        with pytest.raises(OperateError) as caught:
            find(stack="demo-prod", client=cloudformation(describe_stacks=stacks))
        assert str(caught.value) == f"--stack is 'demo-prod', whose status is {status}: {way_out}"


def test_a_file_of_outputs_names_the_stack_to_ask(outputs: Path) -> None:
    expected = find(str(outputs), client=publishing()).expected_of(LIVE)
    assert expected is not None
    assert expected.source == "stack demo-prod"
    assert find(str(outputs), stackless=STACKLESS).expected_of(LIVE) is None
    with pytest.raises(NotConfigured, match="has no stack 'other'"):
        find(str(outputs), stack="other")


def test_an_assembly_goes_before_the_stack(outputs: Path, assembly: Path) -> None:
    for place in (find(str(outputs), assembly=assembly), find(assembly=assembly), find("demo", assembly=assembly)):
        expected = place.expected_of(LIVE)
        assert expected is not None
        assert expected.source == str(assembly)
        assert expected.definition.variants[0].routing.prefix_length == 2048


def test_of_an_assembly_with_several_stacks_the_one_that_is_named_counts(tmp_path: Path) -> None:
    """An app of two Regions has an endpoint of the same name in each."""
    artifacts = {}
    for name, region, length in (("west", "us-west-2", "1024"), ("east", "us-east-1", "2048")):
        template = json.loads(json.dumps(TEMPLATE))
        template["Parameters"]["Length"]["Default"] = length
        (tmp_path / f"{name}.template.json").write_text(json.dumps(template), encoding="utf-8")
        artifacts[name] = {
            "type": "aws:cloudformation:stack",
            "environment": f"aws://111122223333/{region}",
            "properties": {"templateFile": f"{name}.template.json"},
            "displayName": name,
        }
    manifest = {"version": "48.0.0", "artifacts": artifacts}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    for name, length in (("west", 1024), ("east", 2048)):
        expected = find("demo", assembly=tmp_path, stack=name).expected_of(LIVE)
        assert expected is not None
        assert expected.definition.variants[0].routing.prefix_length == length


def test_nothing_named_is_an_error() -> None:
    with pytest.raises(OperateError, match="no endpoint is named"):
        find()


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("UPDATE_IN_PROGRESS", "stack demo-prod is UPDATE_IN_PROGRESS"),
        ("UPDATE_ROLLBACK_IN_PROGRESS", "stack demo-prod is UPDATE_ROLLBACK_IN_PROGRESS"),
        # Nothing that serves changes any more, or not before somebody says so.
        ("UPDATE_COMPLETE_CLEANUP_IN_PROGRESS", ""),
        ("REVIEW_IN_PROGRESS", ""),
        ("UPDATE_COMPLETE", ""),
    ],
)
def test_what_is_being_done_to_the_stack_is_told(status: str, said: str) -> None:
    client = publishing()
    stacks = client.describe_stacks()
    stacks["Stacks"][0] |= {"StackStatus": status, "Outputs": OUTPUTS}
    client = cloudformation(describe_stacks=stacks)
    assert find(stack="demo-prod", client=client).around() == said
    assert find("demo", stack="demo-prod", client=client).around() == said
    assert find("demo").around() == ""


def test_a_stack_that_may_not_be_described_is_not_waited_for() -> None:
    client = cloudformation(describe_stacks=refused("DescribeStacks", "AccessDenied"))
    assert find("demo", stack="demo-prod", client=client).around() == ""
