"""Every resource of every template is a call that the service's model accepts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from botocore.model import ShapeResolver

from tests.infrastructure.api_walker import CALLS, WALKED_SERVICES, Problem, parameters, problems, walk
from tests.infrastructure.synthesis import ALL, Synthesized, of_type, synthesized, template_of

Template = dict[str, Any]


def test_every_call_is_accepted(stack: Synthesized) -> None:
    assert problems(stack.template) == []


def test_every_kind_of_resource_is_walked() -> None:
    walked = {
        resource["Type"]
        for path in ALL
        for resource in synthesized(path).template["Resources"].values()
        if resource["Type"].startswith(WALKED_SERVICES)
    }
    assert walked == set(CALLS)


def test_the_members_that_the_extra_specs_are_for_are_walked() -> None:
    """What the cases claim to cover is in their templates."""
    isolated, hub, kv_aware = template_of("isolated"), template_of("hub"), template_of("kv-aware")
    for kind in ("SageMaker::Model", "SageMaker::EndpointConfig"):
        (resource,) = of_type(isolated, kind).values()
        assert resource["Properties"]["EnableNetworkIsolation"] is True
    (config,) = of_type(isolated, "SageMaker::EndpointConfig").values()
    assert config["Properties"]["MetricsConfig"] == {
        "EnableEnhancedMetrics": True,
        "MetricPublishFrequencyInSeconds": 10,
    }
    (model,) = of_type(hub, "SageMaker::Model").values()
    assert "ModelDataSource" not in model["Properties"]["PrimaryContainer"]
    (config,) = of_type(kv_aware, "SageMaker::EndpointConfig").values()
    assert config["Properties"]["ProductionVariants"][0]["RoutingConfig"] == {"RoutingStrategy": "KV_AWARE"}


def _config(template: Template) -> Any:
    (resource,) = of_type(template, "SageMaker::EndpointConfig").values()
    return resource["Properties"]


def _variant(template: Template) -> Any:
    return _config(template)["ProductionVariants"][0]


def _base(template: Template) -> Any:
    """The properties of component chat of two-models."""
    return template["Resources"]["Componentschat8DE96166"]["Properties"]


def _policy(template: Template) -> Any:
    return template["Resources"]["ComponentschatScalingPolicyBEA07807"]["Properties"]


CONFIG = "EndpointConfig24AD0A28:CreateEndpointConfig"
VARIANT = f"{CONFIG}.ProductionVariants[0]"
BASE = "Componentschat8DE96166:CreateInferenceComponent"
POLICY = "ComponentschatScalingPolicyBEA07807:PutScalingPolicy"


def _set(find: Callable[[Template], Any], *path: str, to: Any) -> Callable[[Template], None]:
    def change(template: Template) -> None:
        place = find(template)
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = to

    return change


def _without(find: Callable[[Template], Any], *path: str) -> Callable[[Template], None]:
    def change(template: Template) -> None:
        place = find(template)
        for key in path[:-1]:
            place = place[key]
        del place[path[-1]]

    return change


BROKEN = {
    "a number below its minimum": (
        _set(_variant, "RoutingConfig", "PrefixAwareRoutingConfig", "PrefixLength", to=512),
        f"{VARIANT}.RoutingConfig.PrefixAwareRoutingConfig.PrefixLength",
        "minimum",
        "512 is below 1024",
    ),
    "a number above its maximum": (
        _set(_variant, "RoutingConfig", "PrefixAwareRoutingConfig", "ConcurrencyThreshold", to=1025),
        f"{VARIANT}.RoutingConfig.PrefixAwareRoutingConfig.ConcurrencyThreshold",
        "maximum",
        "1025 is above 1024",
    ),
    "a typing error in an enum": (
        _set(_variant, "RoutingConfig", "RoutingStrategy", to="PREFIX_AVARE"),
        f"{VARIANT}.RoutingConfig.RoutingStrategy",
        "enum",
        "'PREFIX_AVARE' is not in RoutingStrategy",
    ),
    "a name of 64 characters": (
        _set(_base, "InferenceComponentName", to="a" * 64),
        f"{BASE}.InferenceComponentName",
        "length",
        "length 64 is not in 0..63",
    ),
    "a name with an underscore": (
        _set(_variant, "VariantName", to="all_traffic"),
        f"{VARIANT}.VariantName",
        "pattern",
        "'all_traffic' does not match [a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}",
    ),
    "a property that does not exist": (
        _set(_base, "Specification", "SchedulingConfig", "Strategy", to="SPREAD"),
        f"{BASE}.Specification.SchedulingConfig.Strategy",
        "unknown",
        "InferenceComponentSchedulingConfig has no Strategy",
    ),
    "a property that only CloudFormation could know": (
        _set(_config, "RetainAllVariantProperties", to=True),
        f"{CONFIG}.RetainAllVariantProperties",
        "unknown",
        "CreateEndpointConfigInput has no RetainAllVariantProperties",
    ),
    "a required member that is missing": (
        _without(_variant, "VariantName"),
        f"{VARIANT}.VariantName",
        "required",
        "ProductionVariant needs VariantName",
    ),
    "a required member deep inside": (
        _without(_policy, "TargetTrackingScalingPolicyConfiguration", "TargetValue"),
        f"{POLICY}.TargetTrackingScalingPolicyConfiguration.TargetValue",
        "required",
        "TargetTrackingScalingPolicyConfiguration needs TargetValue",
    ),
    "a number as text": (
        _set(_base, "RuntimeConfig", "CopyCount", to="2"),
        f"{BASE}.RuntimeConfig.CopyCount",
        "type",
        "'2' is not a integer",
    ),
    "a boolean as a number": (
        _set(_base, "RuntimeConfig", "CopyCount", to=True),
        f"{BASE}.RuntimeConfig.CopyCount",
        "type",
        "True is not a integer",
    ),
    "a metric that Application Auto Scaling does not have": (
        _set(
            _policy,
            "TargetTrackingScalingPolicyConfiguration",
            "PredefinedMetricSpecification",
            "PredefinedMetricType",
            to="SageMakerInferenceComponentConcurrency",
        ),
        f"{POLICY}.TargetTrackingScalingPolicyConfiguration.PredefinedMetricSpecification.PredefinedMetricType",
        "enum",
        "'SageMakerInferenceComponentConcurrency' is not in MetricType",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_one_broken_rule_is_that_one_problem(name: str) -> None:
    change, where, rule, message = BROKEN[name]
    template = template_of("two-models")
    change(template)
    assert problems(template) == [Problem(where=where, rule=rule, message=message)]


def test_an_endpoint_is_a_create_and_an_update() -> None:
    template = template_of("two-models")
    (endpoint,) = of_type(template, "SageMaker::Endpoint").values()
    endpoint["Properties"]["ExcludeRetainedVariantProperties"] = [{"VariantPropertyType": "InstanceCount"}]
    assert [(one.where, one.rule) for one in problems(template)] == [
        (
            "EndpointEEF1FD8F:UpdateEndpoint.ExcludeRetainedVariantProperties[0].VariantPropertyType",
            "enum",
        )
    ]


def test_a_map_is_walked_in_keys_and_values() -> None:
    template = template_of("two-models")
    model = next(iter(of_type(template, "SageMaker::Model").values()))
    model["Properties"]["PrimaryContainer"]["Environment"] |= {"1ST": "a", "LONG": "x" * 1025}
    assert [(one.where.rpartition(".")[2], one.rule) for one in problems(template)] == [
        ("1ST (key)", "pattern"),
        ("LONG", "length"),
    ]


def test_too_many_entries_of_a_map() -> None:
    template = template_of("two-models")
    model = next(iter(of_type(template, "SageMaker::Model").values()))
    model["Properties"]["PrimaryContainer"]["Environment"] = {f"K{number}": "1" for number in range(101)}
    assert [(one.rule, one.message) for one in problems(template)] == [("length", "length 101 is not in 0..100")]


@pytest.mark.parametrize(("value", "found"), [({}, 1), ({"One": "a"}, 0), ({"One": "a", "Two": "b"}, 1)])
def test_a_union_takes_exactly_one_member(value: Template, found: int) -> None:
    shapes = {
        "Choice": {
            "type": "structure",
            "union": True,
            "members": {"One": {"shape": "Text"}, "Two": {"shape": "Text"}},
        },
        "Text": {"type": "string"},
    }
    shape = ShapeResolver(shapes).get_shape_by_name("Choice")
    assert [one.rule for one in walk(value, shape, "x")] == ["union"] * found


def test_names_that_cloudformation_makes_fit_the_api(stack: Synthesized) -> None:
    (call,) = CALLS["AWS::SageMaker::Model"]
    for logical_id in stack.of_type("SageMaker::Model"):
        name = parameters(stack.template, logical_id, call)["ModelName"]
        assert len(name) <= 63
        assert name.startswith("Models")
