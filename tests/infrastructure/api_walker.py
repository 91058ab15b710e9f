"""Resources as API calls, held to every rule that botocore's service models state.

botocore itself checks types, required members and minimums. The models say more: maximums, lengths, patterns,
enums, unions. The service checks those, minutes into a deploy.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.model import Shape
from botocore.session import get_session

from tests.infrastructure.intrinsics import generated_name, resolve

Properties = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One rule that one value breaks.

    Args:
        where: the logical id, the operation and the member, as in ``Config:CreateEndpointConfig.Tags[0].Key``.
        rule: the trait of the shape: type, required, unknown, minimum, maximum, length, pattern, enum or union.
        message: the value and the rule.
    """

    where: str
    rule: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that CloudFormation makes for a resource type.

    Args:
        service: botocore's name of the service.
        operation: the operation.
        differences: what CloudFormation does between the properties and the call.
    """

    service: str
    operation: str
    differences: tuple[Difference, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One difference between a resource's properties and the call, and its reason.

    Args:
        apply: changes the properties; it is given the logical id too.
        reason: why the difference is CloudFormation's and no defect.
    """

    apply: Callable[[Properties, str], None]
    reason: str


def _named(member: str) -> Callable[[Properties, str], None]:
    return lambda properties, logical_id: properties.update(
        {member: properties.get(member, generated_name(logical_id))}
    )


def _without(*members: str) -> Callable[[Properties, str], None]:
    def drop(properties: Properties, logical_id: str) -> None:
        for member in members:
            properties.pop(member, None)

    return drop


def _of_target(properties: Properties, logical_id: str) -> None:
    target = properties.pop("ScalingTargetId").split("|")
    properties |= dict(zip(("ResourceId", "ScalableDimension", "ServiceNamespace"), target, strict=True))


def _tags_as_map(properties: Properties, logical_id: str) -> None:
    if "Tags" in properties:
        properties["Tags"] = {tag["Key"]: tag["Value"] for tag in properties["Tags"]}


# Everything that is not in this table is the same in both; SageMaker's tags are lists in both, for one.
CALLS: Mapping[str, tuple[Call, ...]] = {
    "AWS::SageMaker::Model": (
        Call(
            service="sagemaker",
            operation="CreateModel",
            differences=(
                Difference(apply=_named("ModelName"), reason="CloudFormation makes the name when there is none"),
            ),
        ),
    ),
    "AWS::SageMaker::EndpointConfig": (
        Call(
            service="sagemaker",
            operation="CreateEndpointConfig",
            differences=(
                Difference(
                    apply=_named("EndpointConfigName"),
                    reason="CloudFormation makes the name when there is none",
                ),
            ),
        ),
    ),
    "AWS::SageMaker::Endpoint": (
        Call(
            service="sagemaker",
            operation="CreateEndpoint",
            differences=(
                Difference(
                    apply=_without("RetainAllVariantProperties", "ExcludeRetainedVariantProperties"),
                    reason="a new endpoint has nothing to retain; only UpdateEndpoint takes them",
                ),
            ),
        ),
        Call(
            service="sagemaker",
            operation="UpdateEndpoint",
            differences=(Difference(apply=_without("Tags"), reason="tags are updated with AddTags"),),
        ),
    ),
    "AWS::SageMaker::InferenceComponent": (Call(service="sagemaker", operation="CreateInferenceComponent"),),
    "AWS::ApplicationAutoScaling::ScalableTarget": (
        Call(
            service="application-autoscaling",
            operation="RegisterScalableTarget",
            differences=(Difference(apply=_tags_as_map, reason="the resource takes a list, the API a map"),),
        ),
    ),
    "AWS::ApplicationAutoScaling::ScalingPolicy": (
        Call(
            service="application-autoscaling",
            operation="PutScalingPolicy",
            differences=(
                Difference(
                    apply=_of_target,
                    reason="the target's id is the three members that the API takes apart",
                ),
            ),
        ),
    ),
}
WALKED_SERVICES = ("AWS::SageMaker::", "AWS::ApplicationAutoScaling::")

# Patterns that Java reads and Python's re does not, by what they mean.
_PATTERNS: Mapping[str, str] = {
    # Letters, separators, digits of any script, and some punctuation.
    r"([\p{L}\p{Z}\p{N}_.:/=+\-@]*)": r"[\w\s.:/=+\-@]*",
    # Java's \p{Print}: visible ASCII and the space.
    r"\p{Print}+": r"[\x20-\x7e]+",
    # XML's characters, written in UTF-16.
    r"[\u0020-\uD7FF\uE000-\uFFFD\uD800\uDC00-\uDBFF\uDFFF\r\n\t]*": (
        "[\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff\r\n\t]*"
    ),
}


def problems(template: Mapping[str, Any]) -> list[Problem]:
    """Return what the service models object to in the walked resources of a template."""
    return [
        problem
        for logical_id, resource in template["Resources"].items()
        if resource["Type"].startswith(WALKED_SERVICES)
        for call in CALLS[resource["Type"]]
        for problem in walk(
            parameters(template, logical_id, call),
            _input_shape(call.service, call.operation),
            f"{logical_id}:{call.operation}",
        )
    ]


def parameters(template: Mapping[str, Any], logical_id: str, call: Call) -> Properties:
    """Return what CloudFormation passes to a call for a resource."""
    properties: Properties = resolve(template["Resources"][logical_id]["Properties"], template)
    for difference in call.differences:
        difference.apply(properties, logical_id)
    return properties


@functools.cache
def _input_shape(service: str, operation: str) -> Shape:
    shape = get_session().get_service_model(service).operation_model(operation).input_shape
    assert shape is not None
    return shape


def walk(value: Any, shape: Shape, where: str) -> Iterator[Problem]:
    """Yield every rule of a shape that a value breaks.

    Args:
        value: what would be sent.
        shape: botocore's shape of it.
        where: how to name the value.
    """
    if not _is_a(value, _TYPES[shape.type_name]):
        yield Problem(where=where, rule="type", message=f"{value!r} is not a {shape.type_name}")
        return
    match shape.type_name:
        case "structure":
            yield from _structure(value, shape, where)
        case "list":
            yield from _length(value, shape, where)
            for index, item in enumerate(value):
                yield from walk(item, shape.member, f"{where}[{index}]")
        case "map":
            yield from _length(value, shape, where)
            for key, item in value.items():
                yield from walk(key, shape.key, f"{where}.{key} (key)")
                yield from walk(item, shape.value, f"{where}.{key}")
        case "string":
            yield from _length(value, shape, where)
            yield from _text(value, shape, where)
        case "boolean":
            pass
        case _:
            yield from _number(value, shape, where)


# A shape of another type (a blob, a timestamp) is a KeyError: no template has one.
_TYPES: Mapping[str, tuple[type, ...]] = {
    "structure": (dict,),
    "list": (list,),
    "map": (dict,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "long": (int,),
    "float": (int, float),
    "double": (int, float),
}


def _is_a(value: Any, types: tuple[type, ...]) -> bool:
    # Guard: Python's booleans are integers.
    return isinstance(value, types) and (bool in types or not isinstance(value, bool))


def _structure(value: Properties, shape: Shape, where: str) -> Iterator[Problem]:
    for name in shape.required_members:
        if name not in value:
            yield Problem(where=f"{where}.{name}", rule="required", message=f"{shape.name} needs {name}")
    for name, item in value.items():
        if name in shape.members:
            yield from walk(item, shape.members[name], f"{where}.{name}")
        else:
            yield Problem(where=f"{where}.{name}", rule="unknown", message=f"{shape.name} has no {name}")
    if shape.is_tagged_union and len(value) != 1:
        message = f"{shape.name} takes exactly one member, not {sorted(value)}"
        yield Problem(where=where, rule="union", message=message)


def _length(value: Any, shape: Shape, where: str) -> Iterator[Problem]:
    least, most = shape.metadata.get("min", 0), shape.metadata.get("max", float("inf"))
    if not least <= len(value) <= most:
        message = f"length {len(value)} is not in {least}..{most}"
        yield Problem(where=where, rule="length", message=message)


def _text(value: str, shape: Shape, where: str) -> Iterator[Problem]:
    if shape.enum and value not in shape.enum:
        yield Problem(where=where, rule="enum", message=f"{value!r} is not in {shape.name}")
    pattern = shape.metadata.get("pattern")
    if pattern is not None and re.fullmatch(_PATTERNS.get(pattern, pattern), value) is None:
        yield Problem(where=where, rule="pattern", message=f"{value!r} does not match {pattern}")


def _number(value: float, shape: Shape, where: str) -> Iterator[Problem]:
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    if least is not None and value < least:
        yield Problem(where=where, rule="minimum", message=f"{value} is below {least}")
    if most is not None and value > most:
        yield Problem(where=where, rule="maximum", message=f"{value} is above {most}")
