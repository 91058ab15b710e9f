"""`verify` where SageMaker and CloudFormation say what the local endpoint never does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.local.definitions import PREFIX_AWARE, endpoint, model, variant
from tests.unit.local.running import Local, running
from tests.unit.operate.fakes import Scripted, refused
from tests.unit.operate.verifying import Time, look, of, one, outcomes, wrong
from warmstack.operate import Expected, OperateError, describe_stack, of_assembly, of_stack
from warmstack.operate.asking import RefusedError

ARN = "arn:aws:sagemaker:us-west-2:111122223333:endpoint/demo"
DEMO = endpoint(variants=(variant(routing=PREFIX_AWARE, model=model(environment={"SM_VLLM_MAX_MODEL_LEN": "4096"})),))
CONFIG = {
    "ProductionVariants": [
        {
            "VariantName": "primary",
            "ModelName": "model",
            "InstanceType": "ml.g5.12xlarge",
            "InitialInstanceCount": 2,
            "RoutingConfig": {
                "RoutingStrategy": "PREFIX_AWARE",
                "PrefixAwareRoutingConfig": {"PrefixLength": 1024, "ConcurrencyThreshold": 4},
            },
        }
    ]
}
CONTAINER = {"Image": "vllm:0.30.0", "Environment": {"SM_VLLM_MAX_MODEL_LEN": "4096"}}


def described(status: str = "InService", *, current: int = 2, **more: Any) -> dict[str, Any]:
    variants = [{"VariantName": "primary", "CurrentInstanceCount": current, "DesiredInstanceCount": 2}]
    return {
        "EndpointName": "demo",
        "EndpointArn": ARN,
        "EndpointStatus": status,
        "EndpointConfigName": "demo-config",
        "ProductionVariants": variants,
    } | more


def sagemaker(**answers: Any) -> Scripted:
    usual = {
        "describe_endpoint": described(),
        "describe_endpoint_config": CONFIG,
        "describe_model": {"PrimaryContainer": CONTAINER},
        "list_inference_components": {"InferenceComponents": []},
    }
    return Scripted(**(usual | answers))


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    with running(DEMO, folder=tmp_path_factory.mktemp("local")) as local:
        yield local


def test_everything_that_aws_can_say_is_compared(local: Local) -> None:
    report = look(local, defined=DEMO, sagemaker=sagemaker())
    assert wrong(report) == []
    assert one(report, "active-model").seen == "it is that of cdk.out: image, weights and environment"


def test_it_waits_while_the_endpoint_is_being_created(local: Local) -> None:
    time = Time()
    states = [described("Creating", current=0), described("Creating", current=0), described()]
    report = look(local, time=time, sagemaker=sagemaker(describe_endpoint=states))
    assert one(report, "endpoint-in-service").seen == "it is InService after 3 s"
    assert time.told == ["demo is Creating; variant primary has 0 of 2 instances (0 s)"]


def test_it_waits_while_the_stack_is_being_worked_on(local: Local) -> None:
    time, states = Time(), iter(["stack demo-prod is UPDATE_IN_PROGRESS", ""])
    report = look(local, time=time, sagemaker=sagemaker(), around=lambda: next(states))
    assert one(report, "endpoint-in-service").seen == "it is InService after 1 s"
    assert time.told == ["stack demo-prod is UPDATE_IN_PROGRESS (0 s)"]


def test_it_does_not_wait_for_ever(local: Local) -> None:
    report = look(local, sagemaker=sagemaker(describe_endpoint=described("Creating")), timeout_seconds=10)
    result = one(report, "endpoint-in-service")
    assert (result.outcome, result.fix) == ("fail", "wait longer with --timeout")
    assert result.seen == "it is Creating after 10 s, and the time is over"
    assert outcomes(report)["canary", "demo"] == "skipped"


@pytest.mark.parametrize("timeout_seconds", [0, 1, 3, 25, 45])
def test_it_looks_for_the_last_time_when_the_time_is_over(local: Local, timeout_seconds: float) -> None:
    time = Time()

    def state(**_: str) -> dict[str, Any]:
        return described("InService" if time.now >= timeout_seconds else "Creating")

    report = look(
        local, canary=False, time=time, sagemaker=sagemaker(describe_endpoint=state), timeout_seconds=timeout_seconds
    )
    assert one(report, "endpoint-in-service").outcome == "pass"
    assert time.now == timeout_seconds


def test_a_failed_endpoint_tells_its_reason_at_once(local: Local) -> None:
    time = Time()
    failed = described("Failed", current=0, FailureReason="The primary container did not pass the ping health check.")
    report = look(local, time=time, sagemaker=sagemaker(describe_endpoint=failed))
    assert one(report, "endpoint-in-service").seen == (
        "it is Failed; FailureReason: The primary container did not pass the ping health check."
    )
    assert time.now == 0


def test_an_update_that_rolls_back_meanwhile_is_a_failure(local: Local) -> None:
    states = [described("Updating"), described("RollingBack"), described()]
    report = look(local, sagemaker=sagemaker(describe_endpoint=states))
    assert "an update was rolled back while this waited" in one(report, "endpoint-in-service").seen
    assert report.failed()


def test_a_reason_beside_in_service_is_a_warning(local: Local) -> None:
    report = look(local, sagemaker=sagemaker(describe_endpoint=described(FailureReason="Update failed.")))
    assert one(report, "endpoint-in-service").outcome == "warning"
    assert not report.failed()
    assert report.failed(strict=True)


def test_a_model_of_before_is_told_by_its_settings(local: Local) -> None:
    before = {
        "Image": "vllm:0.29.0",
        "Environment": {"SM_VLLM_MAX_MODEL_LEN": "2048", "HF_TOKEN": "hf_abcdef", "OLD": "1"},
        "ModelDataSource": {"S3DataSource": {"S3Uri": "s3://acme/old/"}},
    }
    told = endpoint(variants=(variant(model=model(environment={"SM_VLLM_MAX_MODEL_LEN": "4096", "HF_TOKEN": "new"})),))
    result = one(
        look(local, defined=told, sagemaker=sagemaker(describe_model={"Containers": [before]})), "active-model"
    )
    assert result.outcome == "fail"
    assert result.seen == (
        "it is not that of cdk.out: the image is vllm:0.29.0, defined is vllm:0.30.0; HF_TOKEN differs; "
        "SM_VLLM_MAX_MODEL_LEN is 2048, defined is 4096; OLD is set, and not defined; "
        "the weights is s3://acme/old/, defined is nothing"
    )


def test_what_only_a_deployment_knows_is_not_compared(local: Local) -> None:
    open_ones = model(image="${Image}", environment={"A": "${B}"}, model_data="s3://${Bucket}/x/")
    expected = of(endpoint(variants=(variant(model=open_ones, routing=PREFIX_AWARE),)), unclear=frozenset({"Model"}))
    assert one(look(local, defined=expected, sagemaker=sagemaker()), "active-model").outcome == "pass"


def test_a_model_is_known_by_the_name_that_cloudformation_tells(local: Local) -> None:
    named = of(DEMO, deployed={"Model": "model-2"}, configurations=frozenset({"demo-config"}), source="stack demo")
    denied = refused("DescribeModel", "AccessDeniedException")
    report = look(local, defined=named, sagemaker=sagemaker(describe_model=denied))
    assert one(report, "active-model").seen == "the endpoint still runs model model; that of stack demo is model-2"
    assert one(report, "active-configuration").seen == "it is that of stack demo, by name and values"
    same = of(DEMO, deployed={"Model": "model"}, configurations=frozenset({"demo-config"}), source="stack demo")
    report = look(local, defined=same, sagemaker=sagemaker(describe_model=denied))
    assert one(report, "active-model").seen == "it is that of stack demo, by name"


def test_what_is_denied_names_the_permission_and_the_canary_goes_on(local: Local) -> None:
    denied = refused("DescribeEndpoint", "AccessDeniedException", "not authorized to perform")
    report = look(local, sagemaker=sagemaker(describe_endpoint=denied))
    result = one(report, "endpoint-in-service")
    assert (result.outcome, result.fix) == ("unseen", "allow sagemaker:DescribeEndpoint to whoever runs this")
    assert outcomes(report)["canary", "demo"] == "pass"
    assert not report.failed()
    assert look(local, canary=False, sagemaker=sagemaker(describe_endpoint=denied)).results[0].outcome == "unseen"


def test_expired_credentials_are_a_failure(local: Local) -> None:
    expired = refused("DescribeEndpoint", "ExpiredTokenException", "The security token is expired")
    report = look(local, sagemaker=sagemaker(describe_endpoint=expired))
    assert wrong(report) == [
        "endpoint-in-service: it could not be asked for: ExpiredTokenException: The security token is expired"
    ]


def test_parts_that_are_denied_are_unseen(local: Local) -> None:
    denied = refused("X", "AccessDenied")
    report = look(
        local, defined=DEMO, sagemaker=sagemaker(describe_endpoint_config=denied, list_inference_components=denied)
    )
    assert one(report, "active-configuration").outcome == "unseen"
    assert one(report, "component-in-service").outcome == "unseen"
    assert one(report, "canary").outcome == "pass"


def test_a_failed_component_tells_its_reason(local: Local) -> None:
    listed = {"InferenceComponents": [{"InferenceComponentName": "chat", "InferenceComponentStatus": "Failed"}]}
    chat = {
        "InferenceComponentName": "chat",
        "InferenceComponentStatus": "Failed",
        "FailureReason": "no capacity",
        "Specifications": [{"ModelName": "model"}],
        "RuntimeConfig": {"CurrentCopyCount": 0, "DesiredCopyCount": 2},
    }
    report = look(local, sagemaker=sagemaker(list_inference_components=listed, describe_inference_component=chat))
    assert one(report, "component-in-service").seen == "the component is Failed; FailureReason: no capacity"
    assert one(report, "component-copies").outcome == "fail"
    assert one(report, "canary").outcome == "skipped"


def test_waiting_ends_when_the_copies_are_there(local: Local) -> None:
    def listed(status: str) -> dict[str, Any]:
        return {"InferenceComponents": [{"InferenceComponentName": "chat", "InferenceComponentStatus": status}]}

    def chat(status: str, current: int) -> dict[str, Any]:
        runtime = {"CurrentCopyCount": current, "DesiredCopyCount": 2}
        specification = {"ModelName": "model"}
        return {
            "InferenceComponentName": "chat",
            "InferenceComponentStatus": status,
            "Specification": specification,
            "RuntimeConfig": runtime,
        }

    client = sagemaker(
        list_inference_components=[listed("Updating"), listed("InService"), listed("InService")],
        describe_inference_component=[chat("Updating", 0), chat("InService", 1), chat("InService", 2)],
    )
    time = Time()
    report = look(local, canary=False, time=time, sagemaker=client)
    assert wrong(report) == []
    assert time.now == 3
    assert time.told == [
        "chat is Updating with 0 of 2 copies (0 s)",
        "chat is InService with 1 of 2 copies (1 s)",
    ]


TEMPLATE = {
    "Parameters": {"Length": {"Type": "String"}},
    "Resources": {
        "Model": {
            "Type": "AWS::SageMaker::Model",
            "Properties": {
                "ExecutionRoleArn": "arn:aws:iam::111122223333:role/demo",
                "PrimaryContainer": {"Image": "vllm:0.30.0", "Environment": {"SM_VLLM_MAX_MODEL_LEN": "4096"}},
            },
        },
        "Config": {
            "Type": "AWS::SageMaker::EndpointConfig",
            "Properties": {
                "ProductionVariants": [
                    {
                        "VariantName": "primary",
                        "ModelName": {"Fn::GetAtt": ["Model", "ModelName"]},
                        "InstanceType": "ml.g5.12xlarge",
                        "InitialInstanceCount": 2,
                        "RoutingConfig": {
                            "RoutingStrategy": "PREFIX_AWARE",
                            "PrefixAwareRoutingConfig": {"PrefixLength": {"Ref": "Length"}, "ConcurrencyThreshold": 4},
                        },
                    }
                ]
            },
        },
        "Endpoint": {
            "Type": "AWS::SageMaker::Endpoint",
            "Properties": {
                "EndpointName": "demo",
                "EndpointConfigName": {"Fn::GetAtt": ["Config", "EndpointConfigName"]},
            },
        },
    },
}


def cloudformation(status: str = "UPDATE_COMPLETE", **changes: Any) -> Scripted:
    stack = {
        "StackName": "demo-prod",
        "StackStatus": status,
        "Outputs": [{"OutputKey": "EndpointName", "OutputValue": "demo"}],
        "Parameters": [{"ParameterKey": "Length", "ParameterValue": "1024"}],
    }
    arn = "arn:aws:sagemaker:us-west-2:111122223333:endpoint-config/demo-config"
    resources = [
        {"LogicalResourceId": "Config", "ResourceType": "AWS::SageMaker::EndpointConfig", "PhysicalResourceId": arn},
        {"LogicalResourceId": "Model", "ResourceType": "AWS::SageMaker::Model", "PhysicalResourceId": "model"},
        {"LogicalResourceId": "Role", "ResourceType": "AWS::IAM::Role", "PhysicalResourceId": "role"},
    ]
    answers = {
        "describe_stacks": {"Stacks": [stack]},
        "get_template": {"TemplateBody": TEMPLATE},
        "list_stack_resources": {"StackResourceSummaries": resources},
    }
    return Scripted(**(answers | changes))


def stack_of(client: Scripted, name: str = "demo") -> Any:
    deployed = describe_stack(client, "demo-prod")
    return of_stack(client, deployed, endpoint=name, account="111122223333", region="us-west-2")


@pytest.mark.parametrize("body", [TEMPLATE, json.dumps(TEMPLATE)], ids=["parsed", "text"])
def test_a_deployed_stack_says_what_the_endpoint_is_to_be(local: Local, body: object) -> None:
    expected = stack_of(cloudformation(get_template={"TemplateBody": body}))
    report = look(local, defined=expected, sagemaker=sagemaker())
    assert wrong(report) == []
    assert one(report, "stack-complete", "demo-prod").seen == "UPDATE_COMPLETE"
    assert one(report, "active-configuration").seen == "it is that of stack demo-prod, by name and values"


def test_a_stack_that_was_rolled_back_is_a_failure(local: Local) -> None:
    report = look(local, defined=stack_of(cloudformation("UPDATE_ROLLBACK_COMPLETE")), sagemaker=sagemaker())
    assert wrong(report) == ["stack-complete: its status is UPDATE_ROLLBACK_COMPLETE"]


def test_a_definition_that_cannot_be_read_is_a_failure_and_one_that_may_not_be_is_unseen(local: Local) -> None:
    def cannot(_: object) -> Expected:
        raise OperateError("stack demo-prod does not define it")

    def may_not(_: object) -> Expected:
        raise RefusedError("cloudformation:GetTemplate", kind="denied", code="AccessDenied", said="no")

    broken = look(local, sagemaker=sagemaker(), expected_of=cannot)
    assert wrong(broken) == [
        "active-configuration: there is nothing to compare it with: stack demo-prod does not define it"
    ]
    assert one(broken, "active-configuration").fix == "name what it is to be: --assembly cdk.out"
    denied = look(local, sagemaker=sagemaker(), expected_of=may_not)
    assert one(denied, "active-configuration").outcome == "unseen"
    assert (denied.failed(), denied.failed(strict=True)) == (False, True)


def test_a_stack_that_is_not_there_or_not_it() -> None:
    gone = refused("DescribeStacks", "ValidationError", "Stack with id demo-prod does not exist")
    with pytest.raises(RefusedError) as missing:
        stack_of(cloudformation(describe_stacks=gone))
    assert missing.value.kind == "missing"
    with pytest.raises(OperateError, match="the template of stack demo-prod does not define the endpoint 'other'"):
        stack_of(cloudformation(), "other")


def test_an_assembly_with_several_endpoints_needs_a_name(tmp_path: Path) -> None:
    several = json.loads(json.dumps(TEMPLATE))
    several["Parameters"]["Length"]["Default"] = "1024"
    several["Resources"]["Second"] = json.loads(json.dumps(several["Resources"]["Endpoint"]))
    several["Resources"]["Second"]["Properties"]["EndpointName"] = "second"
    path = tmp_path / "two.template.json"
    path.write_text(json.dumps(several), encoding="utf-8")
    common: dict[str, Any] = {"stack": None, "account": None, "region": None}
    with pytest.raises(OperateError, match=r"defines several endpoints \(demo, second\); name one"):
        of_assembly(path, endpoint=None, **common)
    assert of_assembly(path, endpoint="second", **common).definition.name == "second"
    with pytest.raises(OperateError, match="is not there"):
        of_assembly(tmp_path / "nowhere", endpoint=None, **common)
