"""What every template promises: names, routing, updates, registries, images, environment, adapters."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.infrastructure.intrinsics import resolve
from tests.infrastructure.synthesis import ALL, Synthesized, of_type, synthesized, template_of
from warmstack.plan import physical_name

Properties = dict[str, Any]

# GitHub's and AWS's own patterns for their tokens, the hub's, and private keys.
SECRETS = re.compile(
    r"\bhf_[A-Za-z0-9]{20,}|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36}|-----BEGIN [A-Z ]*PRIVATE KEY"
)
REPLACED = ("SageMaker::Model", "SageMaker::EndpointConfig")


def test_what_is_replaced_has_no_fixed_name(stack: Synthesized) -> None:
    """CloudFormation refuses to replace a resource that has a name of its own."""
    for kind, name in zip(REPLACED, ("ModelName", "EndpointConfigName"), strict=True):
        resources = stack.of_type(kind)
        assert resources
        assert [one["Properties"].get(name) for one in resources.values()] == [None] * len(resources)


def test_the_endpoint_has_its_physical_name(stack: Synthesized) -> None:
    plan = stack.plan
    assert stack.only("SageMaker::Endpoint")["EndpointName"] == physical_name(plan.name, plan.environment)


def test_components_and_adapters_have_their_physical_names(stack: Synthesized) -> None:
    plan = stack.plan
    bases = {
        physical_name(plan.name, plan.environment, one.component) for one in plan.models if one.component is not None
    }
    adapters = {
        physical_name(plan.name, plan.environment, str(one.component), adapter.name)
        for one in plan.models
        for adapter in one.adapters
    }
    names = [
        one["Properties"]["InferenceComponentName"] for one in stack.of_type("SageMaker::InferenceComponent").values()
    ]
    assert sorted(names) == sorted(bases | adapters)


def test_adapters_name_their_base_and_the_endpoint(stack: Synthesized) -> None:
    bases = {str(one.physical_name) for one in stack.plan.models}
    for one in _adapters(stack):
        assert one["Specification"]["BaseInferenceComponentName"] in bases
        assert resolve(one["EndpointName"], stack.template) == stack.plan.endpoint.name


def test_scaling_names_its_component(stack: Synthesized) -> None:
    scaled = [
        one["Properties"]["ResourceId"] for one in stack.of_type("ApplicationAutoScaling::ScalableTarget").values()
    ]
    assert scaled == [
        f"inference-component/{one.physical_name}"
        for one in stack.plan.models
        if one.component is not None and one.copies_max > one.copies_min
    ]


def _routing(stack: Synthesized) -> Properties:
    (variant,) = stack.only("SageMaker::EndpointConfig")["ProductionVariants"]
    routing: Properties = variant["RoutingConfig"]
    return routing


def test_prefix_aware_has_both_numbers_and_others_none(stack: Synthesized) -> None:
    """The API requires both with PREFIX_AWARE and takes neither without; no shape states it."""
    planned, routing = stack.plan.endpoint.routing, _routing(stack)
    assert routing["RoutingStrategy"] == planned.strategy
    expected = None
    if planned.strategy == "PREFIX_AWARE":
        expected = {
            "PrefixLength": planned.prefix_length,
            "ConcurrencyThreshold": planned.concurrency_threshold,
        }
        assert None not in expected.values()
    assert routing.get("PrefixAwareRoutingConfig") == expected


def test_every_strategy_is_among_the_cases() -> None:
    assert {synthesized(path).plan.routing_strategy for path in ALL} == {
        "KV_AWARE",
        "LEAST_OUTSTANDING_REQUESTS",
        "PREFIX_AWARE",
        "RANDOM",
    }


def test_copies_are_spread_with_prefix_aware_only(stack: Synthesized) -> None:
    """Copies on one instance would leave the prefix nothing to choose from."""
    expected = "SPREAD" if stack.plan.routing_strategy == "PREFIX_AWARE" else None
    for one in stack.of_type("SageMaker::InferenceComponent").values():
        specification = one["Properties"]["Specification"]
        if "BaseInferenceComponentName" in specification:
            assert "SchedulingConfig" not in specification
        else:
            assert specification.get("SchedulingConfig", {}).get("PlacementStrategy") == expected


def test_updates_keep_what_scaling_has_chosen(stack: Synthesized) -> None:
    assert stack.only("SageMaker::Endpoint")["RetainAllVariantProperties"] is True


def test_the_instance_count_is_let_through_where_nothing_scales(stack: Synthesized) -> None:
    """Else an edit of instances.min is ignored: the retained count wins over the new configuration's."""
    plan = stack.plan.endpoint
    endpoint = stack.only("SageMaker::Endpoint")
    (variant,) = stack.only("SageMaker::EndpointConfig")["ProductionVariants"]
    scales = plan.instances_max > plan.instances_min
    assert ("ManagedInstanceScaling" in variant) is scales
    assert endpoint.get("ExcludeRetainedVariantProperties") == (
        None if scales else [{"VariantPropertyType": "DesiredInstanceCount"}]
    )


def test_without_a_target_the_registry_is_a_mapping(stack: Synthesized) -> None:
    plan = stack.plan
    mappings = list(stack.template.get("Mappings", {}).values())
    if plan.region is None:
        assert mappings == [{region: {"account": one} for region, one in plan.registries.items()}]
    else:
        assert mappings == []


def test_with_a_target_the_registry_is_a_literal() -> None:
    (model,) = of_type(template_of("summarizer-prod"), "SageMaker::Model").values()
    assert model["Properties"]["PrimaryContainer"]["Image"] == {
        "Fn::Sub": [
            "${Registry}.dkr.ecr.${AWS::Region}.${AWS::URLSuffix}/djl-inference:0.38.0-lmi29.0.0-cu130",
            {"Registry": "763104351884"},
        ]
    }


def test_a_mirrored_image_is_a_plain_text(stack: Synthesized) -> None:
    for served, model in zip(stack.plan.models, _models(stack), strict=True):
        image = model["PrimaryContainer"]["Image"]
        assert isinstance(image, str) is ("${" not in served.image.uri)


def test_the_role_may_pull_exactly_the_images_of_the_models(stack: Synthesized) -> None:
    pulled = set()
    for model in _models(stack):
        image = resolve(model["PrimaryContainer"]["Image"], stack.template)
        match = re.fullmatch(r"(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com/([^:@]+)[:@].+", image)
        assert match is not None, image
        pulled.add(f"arn:aws:ecr:{match[2]}:{match[1]}:repository/{match[3]}")
    (policy,) = stack.execution_role[1]["Policies"]
    (statement,) = (one for one in policy["PolicyDocument"]["Statement"] if one["Sid"] == "PullImage")
    resources = resolve(statement["Resource"], stack.template)
    assert set(resources if isinstance(resources, list) else [resources]) == pulled


def test_the_environment_is_the_plans(stack: Synthesized) -> None:
    for served, model in zip(stack.plan.models, _models(stack), strict=True):
        assert served.environment
        assert model["PrimaryContainer"]["Environment"] == dict(served.environment)


def test_the_environment_fits_the_service(stack: Synthesized) -> None:
    """At most 32 KB in all: a limit that the API reference has in words and no shape states."""
    for model in _models(stack):
        assert len("".join(f"{key}{one}" for key, one in model["PrimaryContainer"]["Environment"].items())) < 32768


def test_adapters_leave_resources_and_copies_to_their_base(stack: Synthesized) -> None:
    for one in _adapters(stack):
        assert set(one["Specification"]) == {"BaseInferenceComponentName", "Container"}
        assert "RuntimeConfig" not in one


def test_adapters_are_among_the_cases() -> None:
    assert sum(len(_adapters(synthesized(path))) for path in ALL) > 20


def test_tags_are_on_everything_that_takes_them() -> None:
    for logical_id, resource in template_of("isolated")["Resources"].items():
        tags = resource["Properties"].get("Tags")
        if resource["Type"] == "AWS::SSM::Parameter":
            assert tags == {"team": "search"}, logical_id
        elif resource["Type"] != "AWS::ApplicationAutoScaling::ScalingPolicy":
            assert tags == [{"Key": "team", "Value": "search"}], logical_id


def test_no_template_holds_a_secret(stack: Synthesized) -> None:
    assert SECRETS.findall(stack.text) == []


@pytest.mark.parametrize(
    "planted",
    ["hf_" + "aB3" * 11, "AKIA" + "ABCDEFGHIJ234567", "ghp_" + "a1" * 18, "-----BEGIN RSA " + "PRIVATE KEY-----"],
)
def test_a_secret_would_be_seen(planted: str) -> None:
    assert SECRETS.findall(f'{{"Environment": {{"TOKEN": "{planted}"}}}}')


def _models(stack: Synthesized) -> list[Properties]:
    """The models' properties, in the plan's order."""
    found = stack.of_type("SageMaker::Model")
    names = [one.component or "Variant" for one in stack.plan.models]
    return [
        next(one["Properties"] for key, one in found.items() if key[:-8] == f"Models{name.replace('-', '')}")
        for name in names
    ]


def _adapters(stack: Synthesized) -> list[Properties]:
    return [
        one["Properties"]
        for one in stack.of_type("SageMaker::InferenceComponent").values()
        if "BaseInferenceComponentName" in one["Properties"]["Specification"]
    ]
