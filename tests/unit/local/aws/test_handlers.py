"""The handlers of what is no endpoint: made, changed in place, replaced and removed in moto, or recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.unit.local.aws.running import Running
from tests.unit.local.aws.templates import components, parameter, text, variant, variant_text
from tests.unit.local.aws.test_handlers_iam import DOCUMENT, role


def test_a_parameter_is_changed_in_place_and_back(aws: Running) -> None:
    ssm = aws.client("ssm")

    def found() -> list[Any]:
        (one,) = ssm.describe_parameters()["Parameters"]
        return [one.get(key) for key in ("Type", "DataType", "Tier", "Description", "AllowedPattern")]

    plain = parameter("a,b")
    given = {"Description": "two", "AllowedPattern": "[a-z,]+", "Tier": "Advanced", "DataType": "aws:ec2:image"}
    aws.create(text({"One": plain}))
    before = found()
    assert before[:3] == ["String", "text", "Standard"]
    bad = {**parameter("x", "/bad", Type="Wrong"), "DependsOn": "One"}
    stack = aws.update(text({"One": parameter("a,b", Type="StringList", **given), "Bad": bad}))
    assert stack["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert "One UPDATE_COMPLETE" in aws.events()
    assert [one or "" for one in found()] == [one or "" for one in before]
    changed = text({"One": parameter("a,b", Type="StringList", **given)})
    assert aws.update(changed)["StackStatus"] == "UPDATE_COMPLETE", aws.failed()
    assert found() == ["StringList", "aws:ec2:image", "Advanced", "two", "[a-z,]+"]
    assert aws.update(text({"One": plain}))["StackStatus"] == "UPDATE_COMPLETE", aws.failed()
    assert [one or "" for one in found()] == [one or "" for one in before]
    aws.update(text({"One": parameter("a", Type="SecureString")}))
    assert "makes parameters of String and StringList" in aws.failed()["One UPDATE_FAILED"]


def test_what_a_template_no_longer_says_is_taken_back(aws: Running) -> None:
    iam, s3 = aws.client("iam"), aws.client("s3")
    rules = [{"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]
    given = {
        "VersioningConfiguration": {"Status": "Enabled"},
        "BucketEncryption": {"ServerSideEncryptionConfiguration": rules},
        "PublicAccessBlockConfiguration": {"BlockPublicAcls": True},
    }

    def template(*, is_more: bool, **more: Any) -> str:
        bucket = {"BucketName": "taken-back", **(given if is_more else {})}
        return text(
            {
                "Bucket": {"Type": "AWS::S3::Bucket", "Properties": bucket},
                "Role": role(**({"MaxSessionDuration": 7200} if is_more else {})),
                **more,
            }
        )

    def state() -> tuple[Any, ...]:
        def has(look: Any) -> bool:
            try:
                look(Bucket="taken-back")
            except ClientError:
                return False
            return True

        return (
            s3.get_bucket_versioning(Bucket="taken-back").get("Status"),
            has(s3.get_bucket_encryption),
            has(s3.get_public_access_block),
            iam.get_role(RoleName="mine")["Role"]["MaxSessionDuration"],
        )

    aws.create(template(is_more=False))
    without = state()
    assert without[0] is None
    bad = {**parameter("x", Type="Wrong"), "DependsOn": ["Bucket", "Role"]}
    assert aws.update(template(is_more=True, Bad=bad))["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert state() == ("Suspended", *without[1:])
    assert aws.update(template(is_more=True))["StackStatus"] == "UPDATE_COMPLETE", aws.failed()
    assert state() == ("Enabled", True, True, 7200)
    assert aws.update(template(is_more=False))["StackStatus"] == "UPDATE_COMPLETE", aws.failed()
    assert state() == ("Suspended", *without[1:])


def test_tags_of_a_parameter_are_changed(aws: Running) -> None:
    ssm = aws.client("ssm")

    def tags() -> dict[str, str]:
        found = ssm.list_tags_for_resource(ResourceType="Parameter", ResourceId="/demo/value")["TagList"]
        return {one["Key"]: one["Value"] for one in found}

    aws.create(text({"One": parameter("1", Tags={"team": "a", "old": 1})}))
    assert tags() == {"team": "a", "old": "1"}
    changed = parameter("1", Tags={"team": "b", "new": "2"})
    assert aws.update(text({"One": changed}))["StackStatus"] == "UPDATE_COMPLETE", aws.failed()
    assert tags() == {"team": "b", "new": "2"}
    assert aws.update(text({"One": parameter("1")}))["StackStatus"] == "UPDATE_COMPLETE", aws.failed()
    assert tags() == {}


def test_a_bucket_and_its_policy(aws: Running) -> None:
    s3 = aws.client("s3")

    def template(status: str) -> str:
        properties = {
            "VersioningConfiguration": {"Status": status},
            "BucketEncryption": {
                "ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}]
            },
            "PublicAccessBlockConfiguration": {"BlockPublicAcls": "true"},
        }
        return text(
            {
                "Bucket": {"Type": "AWS::S3::Bucket", "Properties": properties},
                "Policy": {"Type": "AWS::S3::BucketPolicy",
                           "Properties": {"Bucket": {"Ref": "Bucket"}, "PolicyDocument": DOCUMENT}},
            },
            Outputs={"Host": {"Value": {"Fn::GetAtt": "Bucket.RegionalDomainName"}}},
        )  # fmt: skip

    aws.create(template("Suspended"))
    name = aws.resources()["Bucket"]["PhysicalResourceId"]
    assert name.startswith("demo-bucket-")
    assert name == name.lower()
    assert aws.outputs() == {"Host": f"{name}.s3.us-west-2.amazonaws.com"}
    aws.update(template("Enabled"))
    assert s3.get_bucket_versioning(Bucket=name)["Status"] == "Enabled"
    assert s3.get_public_access_block(Bucket=name)["PublicAccessBlockConfiguration"]["BlockPublicAcls"] is True
    aws.cloudformation.create_stack(StackName="none", TemplateBody=text({"One": parameter("1")}))
    s3.put_object(Bucket=name, Key="x", Body=b"x")
    stack = aws.delete()
    assert stack["StackStatus"] == "DELETE_FAILED"
    assert "not empty" in aws.failed(stack["StackId"])["Bucket DELETE_FAILED"]
    for version in s3.list_object_versions(Bucket=name)["Versions"]:
        s3.delete_object(Bucket=name, Key="x", VersionId=version["VersionId"])
    assert aws.delete(stack["StackId"])["StackStatus"] == "DELETE_COMPLETE"


def test_a_bucket_that_is_there_is_no_stack_s_own(aws: Running) -> None:
    template = text({"Bucket": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "there-already"}}})
    for region in ("us-east-1", "us-west-2"):
        s3, client = aws.client("s3", region), aws.client("cloudformation", region)
        place = {} if region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": region}}
        s3.create_bucket(Bucket="there-already", **place)
        client.create_stack(StackName="demo", TemplateBody=template)
        while client.describe_stacks(StackName="demo")["Stacks"][0]["StackStatus"] != "ROLLBACK_COMPLETE":
            pass
        events = client.describe_stack_events(StackName="demo")["StackEvents"]
        assert [one["ResourceStatusReason"] for one in events if one["ResourceStatus"] == "CREATE_FAILED"] == [
            "there-already already exists"
        ]
        assert [one["Name"] for one in s3.list_buckets()["Buckets"]] == ["there-already"]
        s3.delete_bucket(Bucket="there-already")


def test_a_deletion_that_fails_can_leave_something_there(aws: Running) -> None:
    s3 = aws.client("s3")
    aws.create(text({"Bucket": {"Type": "AWS::S3::Bucket"}, "One": parameter("1")}))
    name = aws.resources()["Bucket"]["PhysicalResourceId"]
    s3.put_object(Bucket=name, Key="x", Body=b"x")
    assert aws.delete()["StackStatus"] == "DELETE_FAILED"
    assert aws.delete(RetainResources=["Bucket"])["StackStatus"] == "DELETE_COMPLETE"
    s3.delete_object(Bucket=name, Key="x")
    s3.delete_bucket(Bucket=name)


def test_a_repository(aws: Running) -> None:
    ecr = aws.client("ecr")

    def template(mutability: str) -> str:
        properties = {"RepositoryName": "images", "ImageTagMutability": mutability, "EmptyOnDelete": True}
        return text(
            {"Repository": {"Type": "AWS::ECR::Repository", "Properties": properties}},
            Outputs={"Uri": {"Value": {"Fn::GetAtt": "Repository.RepositoryUri"}}},
        )

    aws.create(template("MUTABLE"))
    assert aws.outputs() == {"Uri": "111122223333.dkr.ecr.us-west-2.amazonaws.com/images"}
    aws.update(template("IMMUTABLE"))
    assert ecr.describe_repositories()["repositories"][0]["imageTagMutability"] == "IMMUTABLE"
    aws.delete()
    assert ecr.describe_repositories()["repositories"] == []


def test_what_is_gone_already_is_deleted(aws: Running) -> None:
    repository = {"Type": "AWS::ECR::Repository", "Properties": {"RepositoryName": "images"}}
    aws.create(text({**variant(), "Repository": repository, "One": parameter("1"),
                     "Bucket": {"Type": "AWS::S3::Bucket"}}))  # fmt: skip
    physical = {name: one["PhysicalResourceId"] for name, one in aws.resources().items()}
    aws.client("ecr").delete_repository(repositoryName="images")
    aws.client("ssm").delete_parameter(Name="/demo/value")
    aws.client("s3").delete_bucket(Bucket=physical["Bucket"])
    iam = aws.client("iam")
    iam.delete_role_policy(RoleName=physical["Role"], PolicyName="StartModels")
    iam.delete_role(RoleName=physical["Role"])
    aws.sagemaker.things.clear()
    assert aws.delete()["StackStatus"] == "DELETE_COMPLETE", aws.failed()


def test_tags_of_what_cannot_change_are_changed(aws: Running) -> None:
    def template(*keys: str) -> str:
        resources = variant()
        tags = [{"Key": one, "Value": "1"} for one in keys]
        for name in ("Model", "Config", "Endpoint"):
            resources[name]["Properties"]["Tags"] = tags
        return text(resources)

    aws.create(template("a", "b"))
    aws.sagemaker.calls.clear()
    assert aws.update(template("a", "c"))["StackStatus"] == "UPDATE_COMPLETE", aws.failed()
    assert aws.sagemaker.operations() == ["DeleteTags", "AddTags"] * 3
    arn = aws.resources()["Endpoint"]["PhysicalResourceId"]
    assert aws.sagemaker.tags[arn] == {"a": "1", "c": "1"}


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("Model", "PrimaryContainer"), "image", "PrimaryContainer is a single value"),
        (("Config", "ProductionVariants"), {}, "no list"),
        (("Config", "ProductionVariants"), [{"VariantName": "a", "InitialInstanceCount": "two"}], "type integer"),
        (("Config", "ProductionVariants"), [{"VariantNam": "a"}], "did you mean 'VariantName'"),
        (("Config", "ProductionVariants"), [{"VariantName": ["a"]}], "takes a single value"),
        (("Config", "ProductionVariants"), [{"RoutingConfig": {"RoutingStrategy": "NEAREST"}}], "it takes"),
        (("Model", "PrimaryContainer"), {"Environment": "x"}, "names with values"),
        (("Endpoint", "RetainAllVariantProperties"), "maybe", ""),
    ],
)
def test_properties_that_sagemaker_does_not_take(aws: Running, path: tuple[str, str], value: Any, said: str) -> None:
    resources = variant()
    resources[path[0]]["Properties"][path[1]] = value
    stack = aws.create(text(resources))
    if not said:
        # Only an update would use it.
        assert stack["StackStatus"] == "CREATE_COMPLETE"
        return
    assert said in aws.failed()[f"{path[0]} CREATE_FAILED"]


@pytest.mark.parametrize(
    ("resource", "said"),
    [
        (("AWS::SSM::Parameter", {"Type": "String"}), "resource One with message: required key [Value] not found"),
        (("AWS::SSM::Parameter", {"Type": "String", "Value": "v", "Tags": ["a"]}), "[Tags] takes a mapping"),
        (("AWS::IAM::Role", {"AssumeRolePolicyDocument": DOCUMENT, "Policies": "x"}), "[Policies] takes a list"),
        (("AWS::IAM::Policy", {"PolicyName": ["a"], "PolicyDocument": "{}"}), "[PolicyName] takes a single value"),
        (("AWS::ApplicationAutoScaling::ScalableTarget", {}), "required key [ResourceId] not found"),
        (
            ("AWS::IAM::Role", {"AssumeRolePolicyDocument": DOCUMENT, "Policies": [{}]}),
            "required key [PolicyName] not found in Policies[0]",
        ),
        (
            ("AWS::IAM::Role", {"AssumeRolePolicyDocument": DOCUMENT, "Policies": ["x"]}),
            "[Policies[0]] takes a mapping",
        ),
        (
            ("AWS::IAM::Role", {"AssumeRolePolicyDocument": DOCUMENT, "Tags": [{"Key": "a"}]}),
            "required key [Value] not found in Tags[0]",
        ),
        (
            ("AWS::IAM::Role", {"AssumeRolePolicyDocument": DOCUMENT, "MaxSessionDuration": "long"}),
            "[MaxSessionDuration] takes a whole number",
        ),
        (
            ("AWS::IAM::Policy", {"PolicyName": "a", "PolicyDocument": "{}", "Roles": [["a"]]}),
            "[Roles[0]] takes a single value",
        ),
        (("AWS::S3::Bucket", {"VersioningConfiguration": {}}), "[Status] not found in VersioningConfiguration"),
        (
            ("AWS::S3::Bucket", {"BucketEncryption": {"ServerSideEncryptionConfiguration": [5]}}),
            "[BucketEncryption.ServerSideEncryptionConfiguration[0]] takes a mapping",
        ),
        (
            (
                "AWS::S3::Bucket",
                {
                    "BucketEncryption": {
                        "ServerSideEncryptionConfiguration": [{"ServerSideEncryptionByDefault": "AES256"}]
                    }
                },
            ),
            "ServerSideEncryptionConfiguration[0].ServerSideEncryptionByDefault] takes a mapping",
        ),
        (("AWS::SSM::Parameter", {"Type": "String", "Value": "v", "Tags": {"a": []}}), "[Tags.a] takes a single value"),
        (("AWS::SageMaker::Model", {"Tags": [{"Key": "a"}]}), "required key [Value] not found in Tags[0]"),
        (("AWS::ECR::Repository", {"RepositoryName": []}), "[RepositoryName] takes a single value"),
        (("AWS::Logs::LogGroup", {"LogGroupName": {"a": "b"}}), "[LogGroupName] takes a single value"),
    ],
)
def test_properties_that_no_model_checks(aws: Running, resource: tuple[str, dict[str, Any]], said: str) -> None:
    kind, properties = resource
    aws.create(text({"One": {"Type": kind, "Properties": properties}}))
    assert said in aws.failed()["One CREATE_FAILED"]


def test_an_instance_type_may_be_newer_than_the_model_of_the_api(aws: Running) -> None:
    resources = variant()
    (one,) = resources["Config"]["Properties"]["ProductionVariants"]
    resources["Config"]["Properties"]["ProductionVariants"] = [{**one, "InstanceType": "ml.p99.48xlarge"}]
    assert aws.create(text(resources))["StackStatus"] == "CREATE_COMPLETE", aws.failed()


def test_an_endpoint_without_a_configuration(aws: Running) -> None:
    resources = variant()
    del resources["Endpoint"]["Properties"]["EndpointConfigName"]
    aws.create(text(resources))
    assert "EndpointConfigName is missing" in aws.failed()["Endpoint CREATE_FAILED"]


def test_a_component_that_fails_says_why(aws: Running) -> None:
    aws.sagemaker.failures["InferenceComponent chat"] = "no room for another copy"
    aws.create(components())
    assert aws.failed()["Chat CREATE_FAILED"] == "no room for another copy"


def test_a_container_whose_environment_has_a_number_is_updated(aws: Running) -> None:
    """SageMaker describes the number as a text, which is no other value."""

    def template(copies: int) -> str:
        document = json.loads(components(copies=copies))
        container = {"Image": "image:1", "Environment": {"SIZE": 1, "FAST": True}}
        document["Resources"]["Chat"]["Properties"]["Specification"] = {"Container": container}
        return json.dumps(document)

    aws.create(template(2))
    assert aws.update(template(3))["StackStatus"] == "UPDATE_COMPLETE", aws.failed()


def test_a_custom_resource_says_that_nothing_ran(aws: Running) -> None:
    function = {"Type": "AWS::Lambda::Function", "Properties": {"FunctionName": "waiter"}}
    custom = {"Type": "Custom::Image", "Properties": {"ServiceToken": {"Fn::GetAtt": ["Waiter", "Arn"]}}}
    aws.create(text({"Waiter": function, "Image": custom}))
    assert "nothing was built" in aws.reasons()["Image CREATE_COMPLETE"]
    (token,) = (one.properties for one in _resources(aws) if one.logical_id == "Image")
    assert token == {"ServiceToken": "arn:aws:lambda:us-west-2:111122223333:function:waiter"}
    custom["Properties"]["More"] = "1"  # type: ignore[index]
    aws.update(text({"Waiter": function, "Image": custom}))
    assert "nothing was built" in aws.reasons()["Image UPDATE_COMPLETE"]


def _resources(aws: Running) -> list[Any]:
    return list(next(aws.aws.store.there()).resources.values())


def test_a_rollback_that_fails_can_be_continued(aws: Running) -> None:
    aws.create(variant_text())
    sagemaker = aws.sagemaker
    # The former configuration is gone by other hands, so that the endpoint cannot go back to it.
    wrong = {**parameter("x"), "DependsOn": "Endpoint", "Properties": {"Type": "Wrong", "Value": "x"}}
    bad = text({**variant(strategy="LEAST_OUTSTANDING_REQUESTS"), "Late": wrong})
    (former,) = sagemaker.names("EndpointConfig")
    sagemaker.hidden = former
    stack = aws.update(bad)
    assert stack["StackStatus"] == "UPDATE_ROLLBACK_FAILED"
    assert "[Endpoint]" in stack["StackStatusReason"]
    with pytest.raises(ClientError, match="is in UPDATE_ROLLBACK_FAILED state and can not be updated"):
        aws.update(bad)
    sagemaker.hidden = ""
    with pytest.raises(ClientError, match=r"ResourcesToSkip names Model; only resources in UPDATE_FAILED .*: Endpoint"):
        aws.cloudformation.continue_update_rollback(StackName="demo", ResourcesToSkip=["Endpoint", "Model"])
    aws.cloudformation.continue_update_rollback(StackName="demo", ResourcesToSkip=["Endpoint"])
    assert aws.settled()["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    with pytest.raises(ClientError, match="can not continue update rollback"):
        aws.cloudformation.continue_update_rollback(StackName="demo")
    with pytest.raises(ClientError, match="can not be rolled back"):
        aws.cloudformation.rollback_stack(StackName="demo")
