"""Members that SageMaker does not take, as no client of AWS would send them: refused by their places, and no defect."""

from __future__ import annotations

import http.client
import json
import logging
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.unit.local.clients import control
from tests.unit.local.running import Local, running
from warmstack.local.hosting.constraints import check_members
from warmstack.local.wire.errors import ApiError

IMAGE = {"Image": "763104351884.dkr.ecr.us-west-2.amazonaws.com/vllm:0.30.0-gpu-py312"}
ARN = "arn:aws:sagemaker:us-west-2:111122223333:model/m"
FAILED = "failed to satisfy constraint: Member must"
PATTERN = "satisfy regular expression pattern"
VARIANT = {"VariantName": "v", "ModelName": "m", "InstanceType": "ml.g5.xlarge", "InitialInstanceCount": 1}


def config(**variant: Any) -> dict[str, Any]:
    return {"EndpointConfigName": "x", "ProductionVariants": [{**VARIANT, **variant}]}


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    with running(folder=tmp_path_factory.mktemp("local"), hosting=True) as local:
        control(local.url).create_model(ModelName="m", PrimaryContainer=IMAGE)
        control(local.url).create_endpoint_config(EndpointConfigName="c", ProductionVariants=[VARIANT])
        yield local


@pytest.fixture(autouse=True)
def _nothing_is_told_as_a_defect(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.ERROR):
        yield
    assert caplog.records == []


def ask(local: Local, operation: str, members: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection(urlsplit(local.url).netloc, timeout=30)
    try:
        headers = {"Authorization": "AWS4-HMAC-SHA256 x", "X-Amz-Target": f"SageMaker.{operation}"}
        connection.request("POST", "/", json.dumps(members), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("operation", "members", "said"),
    [
        ("CreateModel", {"ModelName": "x", "Tags": [1]}, "Value '1' at 'tags.1.member'"),
        ("CreateModel", {"ModelName": "x", "Tags": [{"Key": "a"}]}, "Value null at 'tags.1.member.value'"),
        ("CreateModel", {"ModelName": 7}, f"Value '7' at 'modelName' {FAILED} be a text"),
        ("CreateModel", {}, f"Value null at 'modelName' {FAILED} not be null"),
        ("CreateModel", {"ModelName": "a_b"}, f"Value 'a_b' at 'modelName' {FAILED} {PATTERN}"),
        ("CreateModel", {"ModelName": "a" * 64}, "have length less than or equal to 63"),
        (
            "CreateModel",
            {"ModelName": "x", "PrimaryContainer": {"Environment": {"A": 1}}},
            "'primaryContainer.environment.A.value'",
        ),
        ("AddTags", {"ResourceArn": ARN, "Tags": [{"Key": "a"}]}, "'tags.1.member.value'"),
        ("CreateEndpointConfig", config(ModelName=7), "'productionVariants.1.member.modelName'"),
        ("CreateEndpointConfig", config(ModelName=["m"]), "'productionVariants.1.member.modelName'"),
        ("CreateEndpointConfig", config(InitialInstanceCount=True), "be a whole number"),
        ("CreateEndpointConfig", config(InitialInstanceCount=0), "have value greater than or equal to 1"),
        ("CreateEndpointConfig", config() | {"ProductionVariants": []}, "have length greater than or equal to 1"),
        ("CreateEndpointConfig", config() | {"EndpointConfigName": "x.y"}, PATTERN),
        ("CreateEndpoint", {"EndpointName": "-x", "EndpointConfigName": "c"}, PATTERN),
        ("CreateEndpoint", {"EndpointName": "x", "EndpointConfigName": "c", "Tags": {}}, f"'tags' {FAILED} be a list"),
        ("CreateInferenceComponent", {"InferenceComponentName": "x-", "EndpointName": "x"}, PATTERN),
        (
            "CreateInferenceComponent",
            {"InferenceComponentName": "x", "EndpointName": "x", "Specification": {"Container": {"ArtifactUrl": "/x"}}},
            "'specification.container.artifactUrl'",
        ),
        ("DescribeEndpoint", {"EndpointName": {}}, "Value '{}' at 'endpointName'"),
    ],
)
def test_each_place_is_named(local: Local, operation: str, members: dict[str, Any], said: str) -> None:
    status, answer = ask(local, operation, members)
    assert (status, answer["__type"]) == (400, "ValidationException")
    assert said in answer["message"]


def test_what_is_refused_is_not_there(local: Local) -> None:
    ask(local, "CreateEndpoint", {"EndpointName": "x", "EndpointConfigName": "c", "Tags": [{"Key": "a"}]})
    assert local.platform.endpoints == {}
    assert ask(local, "CreateModel", {"ModelName": "x", "Tags": [1]})[0] == 400
    assert ask(local, "DescribeModel", {"ModelName": "x"})[0] == 400


def test_everything_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(
        ApiError, match=r"^3 validation errors detected: Value null at 'endpointName' .*; Value 'c_1' at"
    ):
        check_members("CreateEndpoint", {"EndpointConfigName": "c_1", "Tags": [None]})


def test_what_the_model_does_not_have_is_left_alone() -> None:
    check_members("CreateModel", {"ModelName": "x", "Newer": 1})
    check_members("Newer", {"Any": 1})
    variant = {**VARIANT, "InstanceType": "ml.newer.xlarge"}
    check_members("CreateEndpointConfig", {"EndpointConfigName": "x", "ProductionVariants": [variant]})
    # Its pattern is Java's.
    check_members("CreateModel", {"ModelName": "x", "Tags": [{"Key": "é", "Value": ""}]})


def test_a_long_value_is_cut() -> None:
    with pytest.raises(ApiError) as raised:
        check_members("CreateModel", {"ModelName": "a" * 5000})
    assert len(raised.value.message) < 400
