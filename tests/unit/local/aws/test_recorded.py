"""Types that are recorded only: they do nothing, and yet there is one of a name at a time, as on AWS."""

from __future__ import annotations

from typing import Any

from tests.unit.local.aws.running import Running
from tests.unit.local.aws.templates import parameter, text

TARGET = {
    "Type": "AWS::ApplicationAutoScaling::ScalableTarget",
    "Properties": {"ResourceId": "endpoint/x", "ScalableDimension": "y", "ServiceNamespace": "sagemaker"},
}


def group(name: str, **more: Any) -> dict[str, Any]:
    return {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": name}, **more}


def exists(name: str, kind: str = "AWS::Logs::LogGroup") -> str:
    return f"Resource of type '{kind}' with identifier '{name}' already exists."


def test_a_name_is_there_once(aws: Running) -> None:
    twice = text({"One": group("same"), "Two": group("same", DependsOn="One")})
    assert aws.create(twice)["StackStatus"] == "ROLLBACK_COMPLETE"
    assert aws.failed()["Two CREATE_FAILED"] == exists("same")
    # What was rolled back has freed it, and a stack that goes frees it again.
    assert aws.create(text({"One": group("same")}), "first")["StackStatus"] == "CREATE_COMPLETE"
    assert aws.create(text({"One": group("same")}), "second")["StackStatus"] == "ROLLBACK_COMPLETE"
    assert aws.failed("second")["One CREATE_FAILED"] == exists("same")
    aws.delete("first")
    assert aws.create(text({"One": group("same")}), "third")["StackStatus"] == "CREATE_COMPLETE"


def test_an_id_of_several_properties_is_one_too(aws: Running) -> None:
    aws.create(text({"One": TARGET, "Two": {**TARGET, "DependsOn": "One"}}))
    assert aws.failed()["Two CREATE_FAILED"] == exists("endpoint/x|y|sagemaker", TARGET["Type"])  # type: ignore[arg-type]


def test_another_type_or_region_may_have_it(aws: Running) -> None:
    alarm = {"Type": "AWS::CloudWatch::Alarm", "Properties": {"AlarmName": "same"}}
    assert aws.create(text({"One": group("same"), "Two": alarm}))["StackStatus"] == "CREATE_COMPLETE"
    elsewhere = aws.client("cloudformation", "eu-west-1")
    elsewhere.create_stack(StackName="demo", TemplateBody=text({"One": group("same")}))
    elsewhere.get_waiter("stack_create_complete").wait(StackName="demo", WaiterConfig={"Delay": 1})


def test_another_logical_id_cannot_take_a_name_over(aws: Running) -> None:
    aws.create(text({"One": group("same")}))
    assert aws.update(text({"Two": group("same")}))["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert aws.failed()["Two CREATE_FAILED"] == exists("same")
    assert aws.resources()["One"]["PhysicalResourceId"] == "same"
    # It is there, as before.
    assert aws.create(text({"One": group("same")}), "other")["StackStatus"] == "ROLLBACK_COMPLETE"


def test_a_replacement_frees_the_name_at_the_end_and_its_rollback_does_not(aws: Running) -> None:
    aws.create(text({"One": group("a")}))
    late = {**parameter("x"), "DependsOn": "One", "Properties": {"Type": "Wrong", "Value": "x"}}
    assert aws.update(text({"One": group("b"), "Late": late}))["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert aws.create(text({"One": group("a")}), "second")["StackStatus"] == "ROLLBACK_COMPLETE"
    assert aws.create(text({"One": group("b")}), "third")["StackStatus"] == "CREATE_COMPLETE"
    assert aws.update(text({"One": group("c")}))["StackStatus"] == "UPDATE_COMPLETE"
    assert aws.create(text({"One": group("a")}), "fourth")["StackStatus"] == "CREATE_COMPLETE"


def test_what_a_stack_leaves_behind_is_still_there(aws: Running) -> None:
    aws.create(text({"One": group("retained", DeletionPolicy="Retain")}))
    assert aws.delete()["StackStatus"] == "DELETE_COMPLETE"
    assert aws.create(text({"One": group("retained")}))["StackStatus"] == "ROLLBACK_COMPLETE"
    assert aws.failed()["One CREATE_FAILED"] == exists("retained")
