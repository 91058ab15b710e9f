"""A template of someone else: parameters, conditions, mappings, two endpoints."""

from __future__ import annotations

import pytest

from tests.unit.assembly.templates import FOREIGN
from warmstack.assembly import AssemblyError, EndpointDefinition, ModelDefinition, RoutingDefinition, read_assembly


def test_the_defaults_have_one_endpoint() -> None:
    assembly = read_assembly(FOREIGN, parameters={"Owner": "search"}, region="us-west-2")
    (endpoint,) = assembly.endpoints
    assert (endpoint.logical_id, endpoint.stack, endpoint.name) == ("ChatEndpoint", "foreign", "chat-dev")
    assert (endpoint.account, endpoint.region, endpoint.config_name) == (
        "111122223333",
        "us-west-2",
        "foreign-ChatConfig",
    )
    assert endpoint.components == ()
    blue, green = endpoint.variants
    assert blue.model == ModelDefinition(
        name="chat-dev-model",
        logical_id="ChatModel",
        image="763104351884.dkr.ecr.us-west-2.amazonaws.com/vllm:0.30.0-gpu-py312-cu130-ubuntu24.04-sagemaker",
        environment={
            "SM_VLLM_MAX_NUM_SEQS": "64",
            "SM_VLLM_ENABLE_PREFIX_CACHING": "true",
            "SM_VLLM_MAX_MODEL_LEN": "8192",
            "RELEASE_DATE": "2026-11-30",
            "LITERAL": "${NotAVariable} of search",
            "FIRST_LETTERS": "abc",
            "ON": "1",
        },
        server="vllm",
        model_data="s3://acme-dev-models/chat/",
        staged=None,
        execution_role="arn:aws:iam::111122223333:role/dev-sagemaker",
    )
    assert green.model is blue.model
    assert (blue.name, blue.instance_type, blue.initial_instance_count, blue.weight) == (
        "blue",
        "ml.g5.2xlarge",
        1,
        0.75,
    )
    assert blue.routing == RoutingDefinition(strategy="PREFIX_AWARE", prefix_length=4096, concurrency_threshold=4)
    assert (green.instance_type, green.weight, green.routing) == ("ml.g5.xlarge", 0.25, RoutingDefinition())


def test_what_is_not_served_or_not_known_is_named() -> None:
    assembly = read_assembly(FOREIGN, parameters={"Owner": "search"})
    container = "foreign: ChatModel: PrimaryContainer.Environment"
    stored = "parameter Token is read from the Parameter Store while a stack deploys"
    assert [str(one) for one in assembly.notices] == [
        "foreign: ChatConfig: DataCaptureConfig: requests are not captured here",
        f"{container}.HUB_TOKEN: {stored}; give it: Token=VALUE; it is left out",
        f"{container}.SECRET: a dynamic reference is read while a stack deploys; it is left out",
        "foreign: Nested: AWS::CloudFormation::Stack: nested stacks are not read here",
    ]


def _production() -> tuple[EndpointDefinition, EndpointDefinition]:
    parameters = {"Owner": "search", "Stage": "prod", "InstanceCount": "3", "Token": "given"}
    chat, tenants = read_assembly(FOREIGN, parameters=parameters).endpoints
    return chat, tenants


def test_parameters_change_conditions_and_values() -> None:
    chat, _ = _production()
    blue = chat.variants[0]
    assert (chat.name, blue.instance_type, blue.initial_instance_count) == ("chat-prod", "ml.g6e.12xlarge", 3)
    assert blue.routing.concurrency_threshold == 16
    assert blue.model is not None
    assert blue.model.model_data == "s3://acme-prod-models/chat/"
    assert blue.model.environment["SM_VLLM_SPECULATIVE_CONFIG"] == '{"method": "eagle3"}'
    assert blue.model.environment["SM_VLLM_MAX_MODEL_LEN"] == "32768"
    assert blue.model.environment["HUB_TOKEN"] == "given"


def test_an_endpoint_with_components() -> None:
    _, tenants = _production()
    assert (tenants.name, tenants.config_name) == ("foreign-TenantsEndpoint", "tenants-config")
    (variant,) = tenants.variants
    assert (variant.model, variant.min_instance_count, variant.max_instance_count) == (None, 0, 4)
    base, own, legal = tenants.components
    assert (base.name, base.variant_name, base.copy_count, base.base) == ("base", "all", 3, None)
    assert (base.accelerators, base.cpu_cores, base.min_memory_mib, base.placement) == (1, 2.5, 16384, "BINPACK")
    assert base.model.name == "chat-prod-model"
    assert (own.name, own.variant_name, own.copy_count) == ("foreign-Own", "all", 0)
    assert (own.model.logical_id, own.model.server) == ("Own", "lmi")
    assert own.artifact_url == own.model.model_data == "s3://acme/own.tar.gz"
    assert (legal.base, legal.variant_name, legal.copy_count) == ("base", "all", 0)
    assert legal.model is base.model
    assert legal.artifact_url == "s3://acme-adapters-search/legal.tar.gz"


def test_what_no_endpoint_needs_is_no_problem_and_the_rest_is_said_at_once() -> None:
    with pytest.raises(AssemblyError) as caught:
        read_assembly(FOREIGN, parameters={"Stage": "test", "Color": "red"})
    assert caught.value.problems == (
        "there is no parameter 'Color'; the template has Buckets, InstanceCount, Owner, Stage, Token",
        "Parameter 'Stage' must be one of AllowedValues: [dev, prod]",
        "parameter Owner has no default; give it: Owner=VALUE",
    )
