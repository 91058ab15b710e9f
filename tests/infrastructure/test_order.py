"""What CloudFormation creates after what, and so deletes before what."""

from __future__ import annotations

import graphlib
import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.infrastructure.intrinsics import resolve
from tests.infrastructure.synthesis import Synthesized, path_of, synthesized

Graph = dict[str, set[str]]

# The stages of a deployment; SageMaker needs each to exist before the next, and gone after it.
STAGES = ("build", "role", "model", "config", "endpoint", "base", "adapter")
NEEDS = {
    "model": {"role"},
    "config": {"role", "model"},
    "endpoint": {"config"},
    "base": {"endpoint", "model"},
    "adapter": {"base", "endpoint", "role"},
}


def dependencies(template: dict[str, Any]) -> Graph:
    """Return what each resource of a template waits for, as CloudFormation reads it."""
    resources = template["Resources"]
    return {
        logical_id: {
            one
            for one in itertools.chain(_mentions(resource["Properties"]), _names(resource.get("DependsOn", [])))
            if one in resources
        }
        for logical_id, resource in resources.items()
    }


def _names(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _mentions(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for one in value:
            yield from _mentions(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            if key == "Ref":
                yield one
            elif key == "Fn::GetAtt":
                yield one[0]
            elif key == "Fn::Sub":
                text = one if isinstance(one, str) else one[0]
                yield from (name.split(".")[0] for name in re.findall(r"\$\{([^!}]+)\}", text))
                yield from _mentions([] if isinstance(one, str) else one[1])
            else:
                yield from _mentions(one)


def ancestors(graph: Graph, logical_id: str) -> set[str]:
    """Return everything that is created before a resource."""
    found: set[str] = set()
    waiting = [logical_id]
    while waiting:
        new = graph[waiting.pop()] - found
        found |= new
        waiting += new
    return found


def stages_of(stack: Synthesized) -> dict[str, str | None]:
    """Return the stage of each resource, or None for what is beside them; what builds images comes first."""
    role, _ = stack.execution_role
    return {
        key: "role" if key == role else "build" if key.startswith("Images") else stage(one)
        for key, one in stack.template["Resources"].items()
    }


def stage(resource: dict[str, Any]) -> str | None:
    """Return the stage of a resource of SageMaker, or None for any other."""
    match resource["Type"]:
        case "AWS::SageMaker::Model":
            return "model"
        case "AWS::SageMaker::EndpointConfig":
            return "config"
        case "AWS::SageMaker::Endpoint":
            return "endpoint"
        case "AWS::SageMaker::InferenceComponent":
            adapter = "BaseInferenceComponentName" in resource["Properties"]["Specification"]
            return "adapter" if adapter else "base"
        case _:
            return None


def test_every_stage_waits_for_the_ones_it_needs(stack: Synthesized) -> None:
    graph = dependencies(stack.template)
    stages = stages_of(stack)
    for logical_id, own in stages.items():
        if own in (None, "build"):
            continue
        before = {stages[one] for one in ancestors(graph, logical_id)}
        wanted = NEEDS.get(str(own), set())
        if own == "config" and stack.plan.endpoint.uses_components:
            wanted = wanted - {"model"}  # Its variant has no model; the components bring theirs.
        assert before >= wanted, logical_id


def test_creation_has_an_order_and_deletion_the_reverse(stack: Synthesized) -> None:
    """CloudFormation deletes a resource after everything that depends on it: no later stage is still there."""
    graph = dependencies(stack.template)
    created = list(graphlib.TopologicalSorter(graph).static_order())  # a cycle raises here
    stages = stages_of(stack)
    for logical_id in created:
        own = stages[logical_id]
        for other in ancestors(graph, logical_id):
            if own not in (None, "build"):
                assert STAGES.index(stages[other] or "role") < STAGES.index(str(own)), (other, logical_id)
    gone: set[str] = set()
    for logical_id in reversed(created):
        users = {one for one, before in graph.items() if logical_id in before}
        assert users <= gone
        gone.add(logical_id)


def test_an_adapter_waits_for_its_own_base_and_for_the_role_itself(stack: Synthesized) -> None:
    """Its archive is read with the role, which an adapter from a new folder widens in the same update."""
    graph = dependencies(stack.template)
    role, _ = stack.execution_role
    components = stack.of_type("SageMaker::InferenceComponent")
    by_name = {one["Properties"]["InferenceComponentName"]: key for key, one in components.items()}
    for logical_id, one in components.items():
        base = one["Properties"]["Specification"].get("BaseInferenceComponentName")
        if base is not None:
            assert {by_name[base], role} <= graph[logical_id]


def test_scaling_waits_for_its_component(stack: Synthesized) -> None:
    graph = dependencies(stack.template)
    components = stack.of_type("SageMaker::InferenceComponent")
    by_name = {one["Properties"]["InferenceComponentName"]: key for key, one in components.items()}
    targets = stack.of_type("ApplicationAutoScaling::ScalableTarget")
    for logical_id, one in targets.items():
        assert by_name[one["Properties"]["ResourceId"].partition("/")[2]] in graph[logical_id]
    for logical_id in stack.of_type("ApplicationAutoScaling::ScalingPolicy"):
        assert graph[logical_id] & set(targets)


def test_everything_of_sagemaker_waits_for_the_role(stack: Synthesized) -> None:
    graph = dependencies(stack.template)
    role, _ = stack.execution_role
    for logical_id, one in stack.template["Resources"].items():
        if one["Type"].startswith("AWS::SageMaker::"):
            assert role in ancestors(graph, logical_id), logical_id


@pytest.mark.parametrize(
    "value",
    [
        {"Ref": "A"},
        {"Fn::GetAtt": ["A", "Arn"]},
        {"Fn::Sub": "x-${A}"},
        {"Fn::Sub": "x-${A.Arn}"},
        {"Fn::Sub": ["${B}", {"B": {"Ref": "A"}}]},
        {"Fn::Join": ["-", ["x", {"Ref": "A"}]]},
    ],
)
def test_every_kind_of_reference_is_read(value: object) -> None:
    resources = {"A": {"Properties": {}}, "C": {"Properties": {"Deep": [{"Value": value}]}}}
    assert dependencies({"Resources": resources}) == {"A": set(), "C": {"A"}}


def test_a_reference_that_is_no_reference_is_not_read() -> None:
    resources = {"A": {"Properties": {}}, "C": {"Properties": {"Text": {"Fn::Sub": "${!A} ${AWS::Region}"}}}}
    assert dependencies({"Resources": resources})["C"] == set()


def test_a_model_waits_until_its_image_is_built() -> None:
    stack = synthesized(path_of("built-components"))
    graph = dependencies(stack.template)
    ready = {key for key, one in stack.template["Resources"].items() if one["Type"] == "Custom::WarmstackImage"}
    assert len(ready) == 2
    for logical_id, model in stack.of_type("SageMaker::Model").items():
        image = resolve(model["Properties"]["PrimaryContainer"]["Image"], stack.template)
        tags = {key: stack.template["Resources"][key]["Properties"]["Tag"] for key in ready & graph[logical_id]}
        assert [image.endswith(f":{tag}") for tag in tags.values()] == [True]
