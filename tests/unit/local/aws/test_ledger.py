"""What a stack has made is removed once, as it is, and by nobody else's name."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.unit.local.aws.fake_sagemaker import OTHER_ACCOUNT
from tests.unit.local.aws.running import CAPABILITIES, Running, running
from tests.unit.local.aws.templates import components, config, endpoint, parameter, text, variant, variant_text
from warmstack.local.aws.resources.registry import HANDLERS
from warmstack.local.aws.stacks.removal import Removal

BAD = config("RANDOM", "gone")
"""Fails: no such model is there."""


def bucket(name: str | None = None) -> dict[str, Any]:
    return {"Type": "AWS::S3::Bucket", "Properties": {} if name is None else {"BucketName": name}}


def fill(aws: Running, name: str) -> None:
    """Put something into a bucket: so it cannot be removed."""
    aws.client("s3").put_object(Bucket=name, Key="x", Body=b"x")


def empty(aws: Running, name: str) -> None:
    aws.client("s3").delete_object(Bucket=name, Key="x")


def test_what_shares_an_id_with_something_that_stays_is_removed_all_the_same(aws: Running) -> None:
    """A bucket's policy has the bucket's name for an id."""
    everybody = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "*"}
    allow = {"Version": "2012-10-17", "Statement": [everybody]}
    policy = {"Type": "AWS::S3::BucketPolicy", "Properties": {"Bucket": {"Ref": "Kept"}, "PolicyDocument": allow}}
    aws.create(text({"Kept": bucket("kept-bucket")}))
    stack = aws.update(text({"Kept": bucket("kept-bucket"), "Policy": policy, "Bad": {**BAD, "DependsOn": "Policy"}}))
    assert stack["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert "Policy DELETE_COMPLETE" in aws.events()
    stack = aws.update(text({"Kept": bucket("kept-bucket"), "Policy": policy}))
    assert stack["StackStatus"] == "UPDATE_COMPLETE", aws.failed()


def test_what_a_failed_update_made_and_another_one_changed_is_removed_as_it_is(aws: Running) -> None:
    """A policy that was made for one role and moved to another is taken from the second one."""
    role = variant()["Role"]
    allow = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}]}

    def policy(logical_id: str) -> dict[str, Any]:
        properties = {"PolicyName": "moved", "PolicyDocument": allow, "Roles": [{"Ref": logical_id}]}
        return {"Type": "AWS::IAM::Policy", "Properties": properties}

    roles = {"One": role, "Two": role}
    aws.create(text(roles))
    for logical_id in roles:
        failing = {**roles, "Policy": policy(logical_id), "Bad": {**BAD, "DependsOn": "Policy"}}
        assert aws.update(text(failing), DisableRollback=True)["StackStatus"] == "UPDATE_FAILED"
    aws.cloudformation.rollback_stack(StackName="demo")
    assert aws.settled()["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    names = [one["PhysicalResourceId"] for one in aws.resources().values()]
    held = [aws.client("iam").list_role_policies(RoleName=one)["PolicyNames"] for one in names]
    assert held == [["StartModels"], ["StartModels"]]


def test_what_is_gone_is_not_deleted_again(aws: Running) -> None:
    """Another stack may have made something of that name since."""
    bad = {**BAD, "DependsOn": ["Full", "Named"]}
    resources = {"Full": bucket(), "Named": parameter("1", "/shared/name"), "Bad": bad}
    assert aws.create(text(resources), DisableRollback=True)["StackStatus"] == "CREATE_FAILED"
    name = aws.resources()["Full"]["PhysicalResourceId"]
    fill(aws, name)
    assert aws.delete()["StackStatus"] == "DELETE_FAILED"
    aws.create(text({"Named": parameter("other", "/shared/name")}), name="second")
    empty(aws, name)
    stack_id = aws.stack()["StackId"]
    assert aws.delete()["StackStatus"] == "DELETE_COMPLETE"
    assert aws.events(stack_id).count("Named DELETE_COMPLETE") == 1
    assert aws.client("ssm").get_parameter(Name="/shared/name")["Parameter"]["Value"] == "other"


def test_what_cannot_be_deleted_is_shown_with_its_status(aws: Running) -> None:
    """Also where what it replaced is gone: scripts read there what to retain."""
    aws.create(text({"Full": bucket("first-bucket")}))
    failing = {"Full": bucket("second-bucket"), "Bad": {**BAD, "DependsOn": "Full"}}
    assert aws.update(text(failing), DisableRollback=True)["StackStatus"] == "UPDATE_FAILED"
    fill(aws, "second-bucket")
    assert aws.delete()["StackStatus"] == "DELETE_FAILED"
    (shown,) = aws.resources().values()
    assert (shown["PhysicalResourceId"], shown["ResourceStatus"]) == ("second-bucket", "DELETE_FAILED")
    assert "not empty" in shown["ResourceStatusReason"]
    empty(aws, "second-bucket")
    assert aws.delete()["StackStatus"] == "DELETE_COMPLETE"


def test_a_creation_that_failed_at_its_endpoint_is_resumed(aws: Running) -> None:
    """SageMaker updates no endpoint that has failed: it is made anew."""
    aws.sagemaker.failures["Endpoint demo"] = "no capacity"
    assert aws.create(variant_text(), DisableRollback=True)["StackStatus"] == "CREATE_FAILED"
    aws.sagemaker.failures.clear()
    aws.sagemaker.calls.clear()
    stack = aws.update(variant_text())
    assert stack["StackStatus"] == "UPDATE_COMPLETE", aws.failed()
    assert aws.sagemaker.operations() == ["DeleteEndpoint", "CreateEndpoint"]
    assert aws.outputs() == {"EndpointName": "demo"}


def test_after_a_replacement_that_failed_half_way_what_was_there_is_what_changes(aws: Running) -> None:
    aws.create(variant_text())
    aws.sagemaker.failures["Endpoint other"] = "no capacity"
    renamed = text({**variant(), "Endpoint": endpoint("other")})
    assert aws.update(renamed, DisableRollback=True)["StackStatus"] == "UPDATE_FAILED"
    assert sorted(aws.sagemaker.names("Endpoint")) == ["demo", "other"]
    aws.sagemaker.calls.clear()
    assert aws.update(variant_text(), DisableRollback=True)["StackStatus"] == "UPDATE_COMPLETE", aws.failed()
    assert aws.sagemaker.operations() == ["DeleteEndpoint"]
    assert aws.sagemaker.names("Endpoint") == ["demo"]


def test_what_changes_while_a_failed_resource_is_removed_is_not_lost() -> None:
    def resources(value: str) -> str:
        many = {f"P{number}": parameter(value, f"/p{number}") for number in range(12)}
        outputs = {"Out": {"Value": {"Fn::GetAtt": ["P11", "Value"]}}}
        return text({**json.loads(components())["Resources"], **many}, Outputs=outputs)

    with running(account=OTHER_ACCOUNT, linger_seconds=0.01, pace=0.01) as aws:
        aws.sagemaker.failures["InferenceComponent chat"] = "no capacity"
        assert aws.create(resources("old"), DisableRollback=True)["StackStatus"] == "CREATE_FAILED"
        aws.sagemaker.failures.clear()
        assert aws.update(resources("new"))["StackStatus"] == "UPDATE_COMPLETE", aws.failed()
        assert aws.outputs() == {"Out": "new"}
        shown = {one["ResourceStatus"] for name, one in aws.resources().items() if name.startswith("P")}
        assert shown == {"UPDATE_COMPLETE"}
        assert aws.update(resources("old"))["StackStatus"] == "UPDATE_COMPLETE"
        assert aws.client("ssm").get_parameter(Name="/p3")["Parameter"]["Value"] == "old"


def test_what_a_stack_that_is_being_made_imports_stays() -> None:
    exports = {"Out": {"Value": "one", "Export": {"Name": "shared"}}}
    taken = {**parameter({"Fn::ImportValue": "shared"}, "/late"), "DependsOn": "Endpoint"}  # type: ignore[arg-type]
    with running(account=OTHER_ACCOUNT, polls=10_000, linger_seconds=0.01) as aws:
        aws.create(text({"Own": parameter("x", "/exporter")}, Outputs=exports), "exporter")
        aws.cloudformation.create_stack(
            StackName="importer", TemplateBody=text({**variant(), "Taken": taken}), Capabilities=CAPABILITIES
        )
        with pytest.raises(ClientError, match="Export shared cannot be deleted as it is in use by importer"):
            aws.cloudformation.delete_stack(StackName="exporter")


def test_what_is_on_its_way_out_exports_nothing() -> None:
    exports = {"Out": {"Value": "one", "Export": {"Name": "shared"}}}
    with running(account=OTHER_ACCOUNT, linger_seconds=0.01) as aws:
        aws.create(text(variant(), Outputs=exports), "exporter")
        aws.sagemaker.polls = 10_000
        aws.cloudformation.delete_stack(StackName="exporter")
        with pytest.raises(ClientError, match="No export named shared found"):
            aws.create(text({"Taken": parameter({"Fn::ImportValue": "shared"})}), "importer")  # type: ignore[arg-type]


def test_an_update_is_cancelled() -> None:
    with running(account=OTHER_ACCOUNT, linger_seconds=0.01) as aws:
        aws.create(variant_text())
        with pytest.raises(ClientError, match="cannot be called from current stack status CREATE_COMPLETE"):
            aws.cloudformation.cancel_update_stack(StackName="demo")
        aws.sagemaker.polls = 10_000
        aws.cloudformation.update_stack(
            StackName="demo", TemplateBody=variant_text(image="image:2"), Capabilities=CAPABILITIES
        )
        while "UpdateEndpoint" not in aws.sagemaker.operations():
            time.sleep(0.01)
        aws.cloudformation.cancel_update_stack(StackName="demo")
        aws.be_quick()
        assert aws.settled()["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
        assert aws.reasons()["Endpoint UPDATE_FAILED"] == "Resource update cancelled"
        (model,) = (one for (kind, _), one in aws.sagemaker.things.items() if kind == "Model")
        assert model.members["PrimaryContainer"]["Image"] == "image:1"
        assert aws.update(variant_text(image="image:2"))["StackStatus"] == "UPDATE_COMPLETE"


@pytest.mark.parametrize("word", ["CREATE", "UPDATE", "DELETE"])
def test_a_defect_ends_with_a_status(aws: Running, monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    """Whoever waits for the stack is told."""
    if word != "CREATE":
        aws.create(text({"One": parameter("1")}))

    def broken(*_: object) -> None:
        raise ZeroDivisionError("a defect")

    with monkeypatch.context() as patched:
        if word == "DELETE":
            patched.setattr(Removal, "run", broken)
            stack = aws.delete()
        else:
            patched.setattr("warmstack.local.aws.stacks.rollout.Rollout.run", broken)
            do = aws.create if word == "CREATE" else aws.update
            stack = do(text({"One": parameter("2")}))
    assert stack["StackStatus"] == f"{word}_FAILED"
    assert "a defect of the local AWS, whose log says where: ZeroDivisionError: a defect" in stack["StackStatusReason"]
    assert aws.delete()["StackStatus"] == "DELETE_COMPLETE"


def test_a_defect_of_one_step_ends_the_others(aws: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise KeyError("a defect")

    monkeypatch.setattr(type(HANDLERS["AWS::SageMaker::Model"]), "create", broken)
    stack = aws.create(text({**variant(), "One": parameter("1")}))
    assert stack["StackStatus"] == "ROLLBACK_COMPLETE"
    assert "KeyError" in aws.reasons()["Model CREATE_FAILED"]


def test_when_it_is_closed_no_step_runs_on() -> None:
    with running(account=OTHER_ACCOUNT, polls=10_000, linger_seconds=0.01) as aws:
        aws.cloudformation.create_stack(StackName="demo", TemplateBody=variant_text(), Capabilities=CAPABILITIES)
        while "CreateEndpoint" not in aws.sagemaker.operations():
            time.sleep(0.01)

        async def left() -> list[str]:
            await aws.aws.close()
            return [name for one in asyncio.all_tasks() if "Rollout." in (name := repr(one.get_coro()))]

        assert asyncio.run_coroutine_threadsafe(left(), aws.loop).result(30) == []


def test_the_events_of_a_resumed_creation_say_what_happened(aws: Running) -> None:
    aws.sagemaker.failures["Endpoint demo"] = "no capacity"
    aws.create(variant_text(), DisableRollback=True)
    aws.sagemaker.failures.clear()
    mark = len(aws.events())
    aws.update(variant_text())
    found = [one for one in aws.events()[mark:] if one.startswith("Endpoint ")]
    assert found == [
        "Endpoint DELETE_IN_PROGRESS",
        "Endpoint DELETE_COMPLETE",
        "Endpoint CREATE_IN_PROGRESS",
        "Endpoint CREATE_IN_PROGRESS",
        "Endpoint CREATE_COMPLETE",
    ]
    assert json.loads(json.dumps(aws.resources()["Endpoint"]["ResourceStatus"])) == "CREATE_COMPLETE"
