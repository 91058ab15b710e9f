"""What a request asks for and the local AWS does not do is refused, and what the CDK CLI sends by default is taken."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.unit.local.aws.running import Running
from tests.unit.local.aws.templates import parameter, text
from warmstack.local.aws.cloudformation import understood
from warmstack.local.own_session import service_model

ONE = text({"One": parameter("1")})
ALARM = {"Arn": "arn:aws:cloudwatch:us-west-2:111122223333:alarm:x", "Type": "AWS::CloudWatch::Alarm"}


@pytest.mark.parametrize(
    ("operation", "members", "said"),
    [
        ("create_stack", {"TimeoutInMinutes": 1}, "TimeoutInMinutes: a creation goes on until it ends"),
        ("create_stack", {"StackPolicyBody": "{}"}, "StackPolicyBody: stack policies are not followed"),
        ("create_stack", {"StackPolicyURL": "https://x"}, "CreateStack asks for with StackPolicyURL$"),
        ("create_stack", {"RollbackConfiguration": {"RollbackTriggers": [ALARM]}}, "leave RollbackTriggers out"),
        ("create_stack", {"ResourceTypes": ["AWS::S3::*"]}, "ResourceTypes: types are not restricted"),
        ("create_stack", {"RetainExceptOnCreate": True}, "RetainExceptOnCreate in the template"),
        ("create_stack", {"DeploymentConfig": {"Mode": "EXPRESS"}}, "leave out --express"),
        ("create_stack", {"DeploymentConfig": {"DisableRollback": True}}, "the mode STANDARD"),
        ("update_stack", {"StackPolicyDuringUpdateBody": "{}"}, "with StackPolicyDuringUpdateBody$"),
        ("create_change_set", {"DeploymentMode": "REVERT_DRIFT"}, "leave out --revert-drift"),
        ("execute_change_set", {"RetainExceptOnCreate": True}, "RetainExceptOnCreate in the template"),
        ("delete_stack", {"DeletionMode": "FORCE_DELETE_STACK"}, "RetainResources leaves alone"),
        ("delete_stack", {"DeploymentConfig": {"Mode": "EXPRESS"}}, "leave out --express"),
        ("continue_update_rollback", {"ForceRollback": True}, "name the resources in ResourcesToSkip"),
    ],
)
def test_what_would_be_ignored_is_refused(aws: Running, operation: str, members: dict[str, Any], said: str) -> None:
    given = {"StackName": "demo", **members}
    if operation in ("create_stack", "update_stack", "create_change_set"):
        given["TemplateBody"] = ONE
    if "change_set" in operation:
        given["ChangeSetName"] = "set"
    with pytest.raises(ClientError, match=said):
        getattr(aws.cloudformation, operation)(**given)
    assert aws.cloudformation.describe_stacks()["Stacks"] == []


def test_what_asks_for_nothing_is_taken(aws: Running) -> None:
    nothing: dict[str, Any] = {
        "DeploymentConfig": {"Mode": "STANDARD"},
        "NotificationARNs": [],
        "RollbackConfiguration": {"MonitoringTimeInMinutes": 0},
    }
    aws.create(ONE, **nothing, ResourceTypes=[], RetainExceptOnCreate=False)
    aws.cloudformation.create_change_set(
        StackName="demo",
        ChangeSetName="set",
        TemplateBody=text({"One": parameter("2")}),
        ImportExistingResources=True,
        IncludeNestedStacks=True,
        **nothing,
    )
    aws.cloudformation.execute_change_set(StackName="demo", ChangeSetName="set")
    assert aws.settled()["StackStatus"] == "UPDATE_COMPLETE"
    # One that is there is not imported, and that is no secret.
    aws.client("ssm").put_parameter(Name="/there", Value="x", Type="String")
    aws.cloudformation.create_change_set(
        StackName="demo",
        ChangeSetName="set",
        TemplateBody=text({"One": parameter("2"), "There": {**parameter("x", "/there"), "DeletionPolicy": "Retain"}}),
        ImportExistingResources=True,
    )
    aws.cloudformation.execute_change_set(StackName="demo", ChangeSetName="set")
    assert aws.settled()["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert "already exists" in aws.failed()["There CREATE_FAILED"]
    assert aws.delete(DeletionMode="STANDARD")["StackStatus"] == "DELETE_COMPLETE"


def test_every_operation_says_what_it_understands(aws: Running) -> None:
    with pytest.raises(ClientError) as caught:
        aws.cloudformation.list_types()
    served = caught.value.response["Error"]["Message"].rpartition("it serves ")[2]
    assert served.split(", ") == sorted(understood._UNDERSTOOD)


@pytest.mark.parametrize("operation", sorted(understood._UNDERSTOOD))
def test_what_is_understood_is_a_member(operation: str) -> None:
    members = service_model("cloudformation").operation_model(operation).input_shape.members
    assert understood._UNDERSTOOD[operation] <= members.keys()


def test_what_is_not_understood_is_a_member_of_something() -> None:
    model = service_model("cloudformation")
    members = {one for name in understood._UNDERSTOOD for one in model.operation_model(name).input_shape.members}
    assert understood._ASKS_NOTHING.keys() | understood._INSTEAD.keys() <= members


def test_a_rollback_can_remove_what_a_policy_would_leave(aws: Running) -> None:
    def group(name: str, **more: Any) -> dict[str, Any]:
        return {
            "Type": "AWS::Logs::LogGroup",
            "Properties": {"LogGroupName": name},
            "DeletionPolicy": "Retain",
            **more,
        }

    wrong = {"Type": "AWS::SSM::Parameter", "DependsOn": "New", "Properties": {"Type": "Wrong", "Value": "x"}}
    bad = text({"Old": group("old"), "New": group("new"), "Bad": wrong})
    aws.create(text({"Old": group("old")}))
    aws.update(bad, DisableRollback=True)
    aws.cloudformation.rollback_stack(StackName="demo", RetainExceptOnCreate=True)
    assert aws.settled()["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert "New DELETE_COMPLETE" in aws.events()
    aws.delete()
    assert aws.create(text({"Old": group("old")}))["StackStatus"] == "ROLLBACK_COMPLETE"
    # Of a creation, too: and without it what the policy says.
    for name, given, status in (("a", {"RetainExceptOnCreate": True}, "DELETE_COMPLETE"), ("b", {}, "DELETE_SKIPPED")):
        aws.create(text({"New": group(name), "Bad": wrong}), name, DisableRollback=True)
        aws.cloudformation.rollback_stack(StackName=name, **given)
        aws.settled(name)
        assert f"New {status}" in aws.events(name)
