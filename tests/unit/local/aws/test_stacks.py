"""Stacks by a real boto3: created in the order of dependencies, updated, replaced, rolled back, deleted."""

from __future__ import annotations

import json
import time

import pytest
from botocore.exceptions import ClientError

from tests.unit.local.aws.fake_sagemaker import OTHER_ACCOUNT
from tests.unit.local.aws.running import CAPABILITIES, Running, running
from tests.unit.local.aws.templates import (
    OUTPUTS,
    component,
    components,
    config,
    endpoint,
    parameter,
    text,
    variant,
    variant_text,
)


def settled(events: list[str]) -> list[str]:
    return [one for one in events if one.split()[1] not in ("CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS")]


def test_a_stack_is_created_in_the_order_of_its_dependencies(aws: Running) -> None:
    stack = aws.create(variant_text())
    assert stack["StackStatus"] == "CREATE_COMPLETE", aws.failed()
    assert settled(aws.events()) == [
        "Role CREATE_COMPLETE",
        "Model CREATE_COMPLETE",
        "Config CREATE_COMPLETE",
        "Endpoint CREATE_COMPLETE",
        "demo CREATE_COMPLETE",
    ]
    assert aws.outputs() == {"EndpointName": "demo"}
    called = dict(aws.sagemaker.calls)
    assert called["CreateModel"]["ExecutionRoleArn"] == aws.client("iam").list_roles()["Roles"][0]["Arn"]
    (one,) = called["CreateEndpointConfig"]["ProductionVariants"]
    assert one["ModelName"] == called["CreateModel"]["ModelName"]
    assert one["InitialInstanceCount"] == 2
    assert "RetainAllVariantProperties" not in called["CreateEndpoint"]
    assert aws.client("sagemaker").describe_endpoint(EndpointName="demo")["EndpointStatus"] == "InService"


def test_a_physical_id_is_what_ref_answers(aws: Running) -> None:
    aws.create(text(variant(), Outputs={"Arn": {"Value": {"Ref": "Endpoint"}}}))
    assert aws.outputs() == {"Arn": "arn:aws:sagemaker:us-west-2:111122223333:endpoint/demo"}
    assert aws.resources()["Endpoint"]["PhysicalResourceId"] == aws.outputs()["Arn"]


def test_the_same_template_again_is_no_update(aws: Running) -> None:
    aws.create(variant_text())
    with pytest.raises(ClientError, match=r"No updates are to be performed\."):
        aws.update(variant_text())


def test_a_replaced_configuration_is_created_first_and_deleted_last(aws: Running) -> None:
    aws.create(variant_text())
    mark = len(aws.events())
    before = aws.resources()["Config"]["PhysicalResourceId"]
    aws.sagemaker.calls.clear()
    assert aws.update(variant_text(strategy="LEAST_OUTSTANDING_REQUESTS"))["StackStatus"] == "UPDATE_COMPLETE"
    assert aws.sagemaker.operations() == ["CreateEndpointConfig", "UpdateEndpoint", "DeleteEndpointConfig"]
    assert aws.events()[mark:] == [
        "demo UPDATE_IN_PROGRESS",
        "Config UPDATE_IN_PROGRESS",
        "Config UPDATE_IN_PROGRESS",
        "Config UPDATE_COMPLETE",
        "Endpoint UPDATE_IN_PROGRESS",
        "Endpoint UPDATE_COMPLETE",
        "demo UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
        "Config DELETE_IN_PROGRESS",
        "Config DELETE_COMPLETE",
        "demo UPDATE_COMPLETE",
    ]
    after = aws.resources()["Config"]["PhysicalResourceId"]
    assert after != before
    assert len(aws.sagemaker.names("EndpointConfig")) == 1
    found = aws.client("sagemaker").describe_endpoint(EndpointName="demo")
    assert found["EndpointConfigName"] == after.rpartition("/")[2]


def test_a_new_model_moves_everything_that_depends_on_it(aws: Running) -> None:
    aws.create(variant_text())
    aws.sagemaker.calls.clear()
    aws.update(variant_text(image="image:2"))
    assert aws.sagemaker.operations() == [
        "CreateModel",
        "CreateEndpointConfig",
        "UpdateEndpoint",
        "DeleteEndpointConfig",
        "DeleteModel",
    ]


def test_a_creation_that_fails_is_rolled_back_with_its_reason(aws: Running) -> None:
    aws.sagemaker.failures["Endpoint demo"] = "The primary container did not pass the ping health check."
    stack = aws.create(variant_text())
    assert stack["StackStatus"] == "ROLLBACK_COMPLETE"
    assert aws.reasons()["Endpoint CREATE_FAILED"] == "The primary container did not pass the ping health check."
    assert "[Endpoint]" in aws.reasons()["demo ROLLBACK_IN_PROGRESS"]
    assert aws.sagemaker.things == {}
    assert aws.client("iam").list_roles()["Roles"] == []
    ends = [one for one in aws.events() if one.endswith("DELETE_COMPLETE")]
    assert ends == [f"{one} DELETE_COMPLETE" for one in ("Endpoint", "Config", "Model", "Role")]


def test_an_update_that_fails_is_rolled_back_to_what_was(aws: Running) -> None:
    aws.create(variant_text())
    before = aws.resources()
    mark = len(aws.events())
    aws.sagemaker.failures["Endpoint demo demo-Config"] = "no capacity for ml.g5.12xlarge"
    aws.sagemaker.calls.clear()
    stack = aws.update(text({**variant(strategy="LEAST_OUTSTANDING_REQUESTS"), "Note": parameter("new")}))
    assert stack["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert "no capacity for ml.g5.12xlarge" in aws.reasons()["Endpoint UPDATE_FAILED"]
    assert {name: one["PhysicalResourceId"] for name, one in aws.resources().items()} == {
        name: one["PhysicalResourceId"] for name, one in before.items()
    }
    assert aws.outputs() == {"EndpointName": "demo"}
    assert aws.events()[mark:][-6:] == [
        "demo UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS",
        *aws.events()[mark:][-5:-1],
        "demo UPDATE_ROLLBACK_COMPLETE",
    ]
    assert sorted(aws.events()[-5:-1]) == sorted(
        f"{name} {status}" for name in ("Config", "Note") for status in ("DELETE_IN_PROGRESS", "DELETE_COMPLETE")
    )
    # What the stack says of itself is the former template again: the same update can be tried a second time.
    aws.sagemaker.failures.clear()
    aws.update(variant_text(strategy="LEAST_OUTSTANDING_REQUESTS"))
    assert aws.stack()["StackStatus"] == "UPDATE_COMPLETE"


def test_what_was_changed_in_place_is_changed_back(aws: Running) -> None:
    aws.create(text({"One": parameter("old"), "Role": variant()["Role"]}))
    bad = {**component("chat"), "DependsOn": "One", "Properties": {"EndpointName": "absent", "Specification": {}}}
    stack = aws.update(text({"One": parameter("new"), "Role": variant()["Role"], "Two": bad}))
    assert stack["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert "Could not find endpoint" in aws.reasons()["Two CREATE_FAILED"]
    assert aws.client("ssm").get_parameter(Name="/demo/value")["Parameter"]["Value"] == "old"


def test_a_deletion_goes_backwards_and_leaves_nothing(aws: Running) -> None:
    aws.create(components(adapters=("legal",)))
    aws.sagemaker.calls.clear()
    assert aws.delete()["StackStatus"] == "DELETE_COMPLETE"
    called = aws.sagemaker.operations()
    # The model and the configuration need nothing of one another.
    assert (called[:3], sorted(called[3:])) == (
        ["DeleteInferenceComponent", "DeleteInferenceComponent", "DeleteEndpoint"],
        ["DeleteEndpointConfig", "DeleteModel"],
    )
    assert aws.sagemaker.things == {}
    assert aws.client("iam").list_roles()["Roles"] == []
    with pytest.raises(ClientError, match="Stack with id demo does not exist"):
        aws.stack()
    with pytest.raises(ClientError, match="does not exist"):
        aws.cloudformation.describe_stack_events(StackName="demo")


def test_an_adapter_comes_and_goes_alone(aws: Running) -> None:
    aws.create(components())
    mark = len(aws.events())
    aws.update(components(adapters=("legal",)))
    assert aws.events()[mark:] == [
        "demo UPDATE_IN_PROGRESS",
        "Adapterlegal CREATE_IN_PROGRESS",
        "Adapterlegal CREATE_IN_PROGRESS",
        "Adapterlegal CREATE_COMPLETE",
        "demo UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
        "demo UPDATE_COMPLETE",
    ]
    mark = len(aws.events())
    aws.update(components())
    assert aws.events()[mark:] == [
        "demo UPDATE_IN_PROGRESS",
        "demo UPDATE_COMPLETE_CLEANUP_IN_PROGRESS",
        "Adapterlegal DELETE_IN_PROGRESS",
        "Adapterlegal DELETE_COMPLETE",
        "demo UPDATE_COMPLETE",
    ]


def test_more_copies_are_an_update_of_them_alone_and_another_model_is_one_of_all(aws: Running) -> None:
    aws.create(components())
    aws.sagemaker.calls.clear()
    aws.update(components(copies=3))
    (made,) = [members for name, members in aws.sagemaker.calls if name.startswith("Update")]
    assert made == {"InferenceComponentName": "chat", "RuntimeConfig": {"CopyCount": 3}}
    assert aws.sagemaker.operations() == ["UpdateInferenceComponent"]
    aws.sagemaker.calls.clear()
    aws.update(components(copies=3, image="image:2"))
    assert aws.sagemaker.operations() == ["CreateModel", "UpdateInferenceComponent", "DeleteModel"]


def test_a_component_that_goes_back_to_its_former_model_fails_the_update(aws: Running) -> None:
    aws.create(components())
    models = aws.sagemaker.names("Model")
    aws.sagemaker.failures["InferenceComponent chat"] = "i-1/chat-3 did not start"
    mark = len(aws.events())
    assert aws.update(components(image="image:2"))["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE", aws.since(mark)
    assert aws.reasons()["Chat UPDATE_FAILED"] == (
        "the update of inference component chat was rolled back by SageMaker: i-1/chat-3 did not start"
    )
    assert aws.sagemaker.names("Model") == models, "the model that still serves is there, and no other"


def test_a_component_with_fewer_copies_than_asked_for_is_no_failure(aws: Running) -> None:
    aws.create(components())
    aws.sagemaker.failures["InferenceComponent chat"] = "3 of 8 copies start"
    assert aws.update(components(copies=8))["StackStatus"] == "UPDATE_COMPLETE"


def test_a_component_keeps_its_name(aws: Running) -> None:
    aws.create(components())
    other = json.loads(components())
    other["Resources"]["Chat"]["Properties"]["InferenceComponentName"] = "talk"
    assert aws.update(json.dumps(other))["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert "UpdateInferenceComponent cannot change it" in aws.reasons()["Chat UPDATE_FAILED"]


def test_a_fixed_name_cannot_be_replaced(aws: Running) -> None:
    named = config()
    named["Properties"]["EndpointConfigName"] = "mine"
    aws.create(text({**variant(), "Config": named}))
    other = config("LEAST_OUTSTANDING_REQUESTS")
    other["Properties"]["EndpointConfigName"] = "mine"
    assert aws.update(text({**variant(), "Config": other}))["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert "Rename mine and update the stack again" in aws.reasons()["Config UPDATE_FAILED"]


def test_a_fixed_name_is_replaced_when_it_changes(aws: Running) -> None:
    aws.create(variant_text())
    renamed = endpoint("other")
    aws.sagemaker.calls.clear()
    aws.update(text({**variant(), "Endpoint": renamed}, Outputs=OUTPUTS))
    assert aws.sagemaker.operations() == ["CreateEndpoint", "DeleteEndpoint"]
    assert aws.outputs() == {"EndpointName": "other"}


def test_what_is_retained_stays(aws: Running) -> None:
    kept = {**parameter("1"), "DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
    aws.create(text({"Kept": kept, "Other": parameter("2", "/demo/other")}))
    aws.update(text({"Kept": {**kept, "Properties": parameter("1", "/demo/second")["Properties"]},
                     "Other": parameter("2", "/demo/other")}))  # fmt: skip
    assert "Kept DELETE_SKIPPED" in aws.events()
    stack_id = aws.stack()["StackId"]
    aws.delete()
    assert aws.events(stack_id).count("Kept DELETE_SKIPPED") == 2
    names = [one["Name"] for one in aws.client("ssm").describe_parameters()["Parameters"]]
    assert sorted(names) == ["/demo/second", "/demo/value"]


def test_what_is_retained_except_on_create(aws: Running) -> None:
    kept = {**parameter("1"), "DeletionPolicy": "RetainExceptOnCreate"}
    wrong = {**parameter("x", "/demo/wrong"), "DependsOn": "Kept"}
    wrong["Properties"] = {"Type": "Wrong", "Value": "x"}
    assert aws.create(text({"Kept": kept, "Wrong": wrong}))["StackStatus"] == "ROLLBACK_COMPLETE"
    assert aws.client("ssm").describe_parameters()["Parameters"] == []
    aws.delete()
    aws.create(text({"Kept": kept}))
    aws.delete()
    assert [one["Name"] for one in aws.client("ssm").describe_parameters()["Parameters"]] == ["/demo/value"]


def test_a_type_without_a_handler_fails_before_anything_is_created(aws: Running) -> None:
    with pytest.raises(ClientError, match=r"cannot make AWS::SQS::Queue \(Queue\); nothing was created"):
        aws.create(text({**variant(), "Queue": {"Type": "AWS::SQS::Queue"}}))
    with pytest.raises(ClientError, match="does not exist"):
        aws.stack()
    assert aws.sagemaker.things == {}


def test_recorded_types_say_so(aws: Running) -> None:
    aws.create(components())
    assert aws.reasons()["Target CREATE_COMPLETE"] == "recorded only: nothing scales in the local AWS"
    found = aws.cloudformation.describe_stack_resource(StackName="demo", LogicalResourceId="Target")
    physical = "inference-component/chat|sagemaker:inference-component:DesiredCopyCount|sagemaker"
    assert found["StackResourceDetail"]["PhysicalResourceId"] == physical


def test_a_stack_that_is_worked_on_is_left_alone() -> None:
    with running(account=OTHER_ACCOUNT, polls=10_000, linger_seconds=0.01, pace=0.1) as aws:
        aws.cloudformation.create_stack(StackName="demo", TemplateBody=variant_text(), Capabilities=CAPABILITIES)
        with pytest.raises(ClientError, match="is in CREATE_IN_PROGRESS state and can not be updated"):
            aws.cloudformation.update_stack(
                StackName="demo", TemplateBody=variant_text(image="image:2"), Capabilities=CAPABILITIES
            )
        with pytest.raises(ClientError, match=r"Stack \[demo\] already exists"):
            aws.cloudformation.create_stack(StackName="demo", TemplateBody=variant_text(), Capabilities=CAPABILITIES)


def test_a_creation_is_given_up_when_its_stack_is_deleted() -> None:
    with running(account=OTHER_ACCOUNT, polls=10_000, linger_seconds=0.01, pace=0.01) as aws:
        created = aws.cloudformation.create_stack(
            StackName="demo", TemplateBody=components(), Capabilities=CAPABILITIES, ClientRequestToken="one"
        )
        while not aws.sagemaker.names("Endpoint"):
            time.sleep(0.01)
        aws.cloudformation.delete_stack(StackName="demo")
        aws.be_quick()
        assert aws.settled(created["StackId"])["StackStatus"] == "DELETE_COMPLETE"
        assert aws.sagemaker.things == {}
        events = aws.events(created["StackId"])
        assert "demo CREATE_COMPLETE" not in events
        assert [one for one in events if one.startswith("Chat")] == []
        # It can be made again, by the same request, too.
        again = aws.create(components(), ClientRequestToken="one")
        assert again["StackStatus"] == "CREATE_COMPLETE"
        assert again["StackId"] != created["StackId"]


def test_a_stack_that_is_updated_cannot_be_deleted() -> None:
    with running(account=OTHER_ACCOUNT, linger_seconds=0.01, pace=0.1) as aws:
        aws.create(variant_text())
        aws.sagemaker.polls = 10_000
        aws.cloudformation.update_stack(
            StackName="demo", TemplateBody=variant_text(image="image:2"), Capabilities=CAPABILITIES
        )
        with pytest.raises(ClientError, match="cannot be deleted while in status UPDATE_IN_PROGRESS"):
            aws.cloudformation.delete_stack(StackName="demo")


def test_when_one_fails_what_is_still_being_made_is_cancelled() -> None:
    with running(account=OTHER_ACCOUNT, polls=12, pace=0.05) as aws:
        aws.sagemaker.failures["InferenceComponent"] = "never"
        bad = {"Type": "AWS::SageMaker::Model", "DependsOn": "Role",
               "Properties": {"ExecutionRoleArn": "x", "PrimaryContainer": {"Imag": "image:1"}}}  # fmt: skip
        late = {f"Wait{index}": parameter("x", f"/w/{index}") for index in range(2)}
        stack = aws.create(text({**variant(), **late, "Bad": {**bad, "DependsOn": "Config"}}))
        assert stack["StackStatus"] == "ROLLBACK_COMPLETE"
        failed = aws.failed()
        assert failed.keys() == {"Bad CREATE_FAILED", "Endpoint CREATE_FAILED"}, failed
        assert failed["Endpoint CREATE_FAILED"] == "Resource creation cancelled"
        assert "extraneous key [Imag] is not permitted in PrimaryContainer" in failed["Bad CREATE_FAILED"]
        assert aws.sagemaker.things == {}


def test_a_failed_update_can_be_kept_and_rolled_back_later(aws: Running) -> None:
    aws.create(variant_text())
    aws.sagemaker.failures["Endpoint demo demo-Config"] = "no capacity"
    stack = aws.update(variant_text(strategy="LEAST_OUTSTANDING_REQUESTS"), DisableRollback=True)
    assert stack["StackStatus"] == "UPDATE_FAILED"
    aws.sagemaker.failures.clear()
    aws.cloudformation.rollback_stack(StackName="demo")
    assert aws.settled()["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert len(aws.sagemaker.names("EndpointConfig")) == 1


def test_a_failed_update_that_was_kept_can_be_tried_again(aws: Running) -> None:
    aws.create(variant_text())
    aws.sagemaker.failures["Endpoint demo demo-Config"] = "no capacity"
    aws.update(variant_text(strategy="LEAST_OUTSTANDING_REQUESTS"), DisableRollback=True)
    aws.sagemaker.failures.clear()
    stack = aws.update(variant_text(strategy="LEAST_OUTSTANDING_REQUESTS"), DisableRollback=True)
    assert stack["StackStatus"] == "UPDATE_COMPLETE"
    assert len(aws.sagemaker.names("EndpointConfig")) == 1


def test_a_failed_creation_can_be_kept(aws: Running) -> None:
    aws.sagemaker.failures["Endpoint demo"] = "no capacity"
    assert aws.create(variant_text(), OnFailure="DO_NOTHING")["StackStatus"] == "CREATE_FAILED"
    assert aws.resources()["Endpoint"]["ResourceStatus"] == "CREATE_FAILED"
    aws.delete()
    assert aws.sagemaker.things == {}


def test_termination_protection_protects(aws: Running) -> None:
    aws.create(text({"One": parameter("1")}), EnableTerminationProtection=True)
    with pytest.raises(ClientError, match="TerminationProtection is enabled"):
        aws.cloudformation.delete_stack(StackName="demo")
    aws.cloudformation.update_termination_protection(StackName="demo", EnableTerminationProtection=False)
    aws.delete()


def test_a_stack_in_another_region_has_no_sagemaker(aws: Running) -> None:
    client = aws.client("cloudformation", "eu-west-1")
    client.create_stack(StackName="far", TemplateBody=variant_text(), Capabilities=CAPABILITIES)
    assert aws.settled("far", "eu-west-1")["StackStatus"] == "ROLLBACK_COMPLETE"
    events = client.describe_stack_events(StackName="far")["StackEvents"]
    reasons = [one.get("ResourceStatusReason", "") for one in events if one["ResourceStatus"] == "CREATE_FAILED"]
    assert "start the local AWS with --region eu-west-1" in reasons[0]
