"""`verify` of a model whose image is in a repository that its own stack makes: CloudFormation gives it its name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.local.running import Local, running
from tests.unit.operate.fakes import Scripted
from tests.unit.operate.test_verify_states import DEMO, TEMPLATE, cloudformation, sagemaker, stack_of
from tests.unit.operate.verifying import look, one
from warmstack.operate import of_assembly

URI = "111122223333.dkr.ecr.us-west-2.amazonaws.com/demo-prod-repository-ylcqrm7v4xir"
ENVIRONMENT = {"SM_VLLM_MAX_MODEL_LEN": "4096"}
PHYSICAL = {
    "Config": ("AWS::SageMaker::EndpointConfig", "demo-config"),
    "Model": ("AWS::SageMaker::Model", "model"),
    "Bucket": ("AWS::S3::Bucket", "demo-prod-bucket-x1"),
    "Repository": ("AWS::ECR::Repository", "demo-prod-repository-ylcqrm7v4xir"),
}
LISTED = [
    {"LogicalResourceId": name, "ResourceType": kind, "PhysicalResourceId": physical}
    for name, (kind, physical) in PHYSICAL.items()
]
# Its creation failed.
LISTED.append({"LogicalResourceId": "Role", "ResourceType": "AWS::IAM::Role"})


def template() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(TEMPLATE))
    found["Parameters"]["Length"]["Default"] = "1024"
    found["Resources"] |= {
        "Repository": {"Type": "AWS::ECR::Repository"},
        "Bucket": {"Type": "AWS::S3::Bucket"},
        "Role": {"Type": "AWS::IAM::Role"},
    }
    properties = found["Resources"]["Model"]["Properties"]
    properties["ExecutionRoleArn"] = {"Fn::GetAtt": ["Role", "Arn"]}
    container = properties["PrimaryContainer"]
    container["Image"] = {"Fn::Join": ["", [{"Fn::GetAtt": ["Repository", "RepositoryUri"]}, ":37185ab"]]}
    container["ModelDataUrl"] = {"Fn::Sub": "s3://${Bucket}/model.tar.gz"}
    return found


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with running(DEMO, folder=tmp_path_factory.mktemp("local")) as local:
        yield local


@pytest.fixture
def assembly(tmp_path: Path) -> Any:
    path = tmp_path / "demo.template.json"
    path.write_text(json.dumps(template()), encoding="utf-8")
    return of_assembly(path, endpoint="demo", stack=None, account="111122223333", region="us-west-2")


def live(image: str, data: str = "s3://demo-prod-bucket-x1/model.tar.gz", **more: str) -> Scripted:
    container = {"Image": image, "Environment": ENVIRONMENT | more, "ModelDataUrl": data}
    return sagemaker(describe_model={"PrimaryContainer": container})


def test_the_names_that_cloudformation_gave_are_taken(local: Local) -> None:
    client = cloudformation(
        get_template={"TemplateBody": template()}, list_stack_resources={"StackResourceSummaries": LISTED}
    )
    expected = stack_of(client)
    result = one(look(local, defined=expected, sagemaker=live(f"{URI}:37185ab"), canary=False), "active-model")
    assert (result.outcome, result.seen) == ("pass", "it is that of stack demo-prod: image, weights and environment")
    other = live(f"{URI}:older", "s3://theirs/model.tar.gz")
    result = one(look(local, defined=expected, sagemaker=other, canary=False), "active-model")
    assert result.seen == (
        f"it is not that of stack demo-prod: the image is {URI}:older, defined is {URI}:37185ab; the weights is "
        "s3://theirs/model.tar.gz, defined is s3://demo-prod-bucket-x1/model.tar.gz"
    )


def test_without_a_stack_the_tag_of_the_image_is_compared(local: Local, assembly: Any) -> None:
    result = one(look(local, defined=assembly, sagemaker=live(f"{URI}:37185ab"), canary=False), "active-model")
    assert result.outcome == "pass"
    assert result.seen == (
        f"it is that of {assembly.source}: image, weights and environment; the image but for its tag and the weights "
        "cannot be known from the template"
    )
    result = one(look(local, defined=assembly, sagemaker=live(f"{URI}:older"), canary=False), "active-model")
    assert result.seen == (
        f"it is not that of {assembly.source}: the image is {URI}:older, the tag that is defined is 37185ab"
    )


def test_that_a_role_is_not_known_hides_no_variable(local: Local, assembly: Any) -> None:
    result = one(look(local, defined=assembly, sagemaker=live(f"{URI}:37185ab", OLD="1"), canary=False), "active-model")
    assert result.seen == f"it is not that of {assembly.source}: OLD is set, and not defined"
