"""Updates that failed, were kept and followed by others: what is replaced and what replaces it are there together."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.local.aws.running import Running
from tests.unit.local.aws.templates import components, config, parameter, text


def group(name: str, after: str | None = None) -> dict[str, Any]:
    more = {} if after is None else {"DependsOn": after}
    return {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": name}, **more}


BAD = {**config("RANDOM", "gone"), "DependsOn": ["One", "Two"]}
"""Fails after the others: no such model is there."""


def kept(aws: Running, resources: dict[str, Any]) -> None:
    """Update to something that fails, and leave it at that."""
    assert aws.update(text({**resources, "Bad": BAD}), DisableRollback=True)["StackStatus"] == "UPDATE_FAILED"


def test_a_stack_whose_dependency_was_turned_round_is_deleted(aws: Running) -> None:
    aws.create(text({"One": group("a1", "Two"), "Two": group("b1")}))
    kept(aws, {"One": group("a2"), "Two": group("b2", "One")})
    stack_id = aws.stack()["StackId"]
    assert aws.delete()["StackStatus"] == "DELETE_COMPLETE"
    gone = [one for one in aws.events(stack_id) if one.endswith("DELETE_COMPLETE")]
    # Of each generation the one that needs the other goes first.
    assert sorted(gone[:-1]) == ["One DELETE_COMPLETE"] * 2 + ["Two DELETE_COMPLETE"] * 2


@pytest.mark.parametrize("back", [True, False])
def test_a_dependency_that_was_turned_round_twice_comes_to_an_end(aws: Running, back: bool) -> None:
    aws.create(text({"One": group("a1"), "Two": group("b1")}))
    kept(aws, {"One": group("a2"), "Two": group("b2", "One")})
    if back:
        kept(aws, {"One": group("a3", "Two"), "Two": group("b3")})
        aws.cloudformation.rollback_stack(StackName="demo")
        assert aws.settled()["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    else:
        after = text({"One": group("a3", "Two"), "Two": group("b3")})
        assert aws.update(after)["StackStatus"] == "UPDATE_COMPLETE"
    found = {name: one["PhysicalResourceId"] for name, one in aws.resources().items()}
    assert found == ({"One": "a1", "Two": "b1"} if back else {"One": "a3", "Two": "b3"})


def test_what_was_made_and_replaced_by_failed_updates_is_deleted_once(aws: Running) -> None:
    aws.create(text({"One": group("a1"), "Two": group("b1")}))
    kept(aws, {"One": group("a2"), "Two": group("b1")})
    kept(aws, {"One": group("a3"), "Two": group("b1")})
    stack_id = aws.stack()["StackId"]
    aws.delete()
    assert aws.events(stack_id).count("One DELETE_COMPLETE") == 3


def test_what_was_changed_and_then_replaced_is_changed_back(aws: Running) -> None:
    ssm = aws.client("ssm")
    two = group("b1")
    aws.create(text({"One": parameter("v1", "/a"), "Two": two}))
    kept(aws, {"One": parameter("v2", "/a"), "Two": two})
    kept(aws, {"One": parameter("v3", "/b"), "Two": two})
    aws.cloudformation.rollback_stack(StackName="demo")
    assert aws.settled()["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert ssm.get_parameter(Name="/a")["Parameter"]["Value"] == "v1"
    assert [one["Name"] for one in ssm.describe_parameters()["Parameters"]] == ["/a"]


def test_a_component_goes_before_the_endpoint_that_it_did_not_leave(aws: Running) -> None:
    aws.create(components())
    document = json.loads(components())
    document["Resources"]["Endpoint"]["Properties"]["EndpointName"] = "other"
    stack = aws.update(json.dumps(document), DisableRollback=True)
    assert stack["StackStatus"] == "UPDATE_FAILED"
    assert sorted(aws.sagemaker.names("Endpoint")) == ["demo", "other"]
    assert aws.delete()["StackStatus"] == "DELETE_COMPLETE"
    assert aws.sagemaker.things == {}


@pytest.mark.parametrize("keep", [True, False])
def test_a_stack_that_was_never_whole_goes_back_to_nothing(aws: Running, keep: bool) -> None:
    bad = {**config("RANDOM", "gone"), "DependsOn": "One"}
    stack = aws.create(text({"One": parameter("v1", "/a"), "Bad": bad}), DisableRollback=True)
    assert stack["StackStatus"] == "CREATE_FAILED"
    stack = aws.update(text({"One": parameter("v2", "/b"), "Bad": bad}), DisableRollback=keep)
    if keep:
        assert stack["StackStatus"] == "UPDATE_FAILED"
        aws.cloudformation.rollback_stack(StackName="demo")
        stack = aws.settled()
    assert stack["StackStatus"] == "ROLLBACK_COMPLETE"
    assert aws.client("ssm").describe_parameters()["Parameters"] == []


def test_resources_are_retained_by_a_deletion_that_failed_before(aws: Running) -> None:
    aws.create(text({"One": group("a1")}))
    with pytest.raises(Exception, match="RetainResources is for stacks in DELETE_FAILED, and this one is in CREATE"):
        aws.cloudformation.delete_stack(StackName="demo", RetainResources=["One"])
