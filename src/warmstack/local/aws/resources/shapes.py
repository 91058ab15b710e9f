"""CloudFormation's values as SageMaker's API takes them: by botocore's shapes.

CloudFormation takes the text "2" for the number 2 and "true" for true; the API does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warmstack.assembly.near import near
from warmstack.local.aws.errors import ResourceError
from warmstack.local.own_session import service_model


def members_of(operation: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return properties as the members of an operation.

    Args:
        operation: The operation.
        properties: Values by the names of the members.

    Raises:
        ResourceError: A property is none of the operation's, or its value has another type.
    """
    shape = service_model("sagemaker").operation_model(operation).input_shape
    found: dict[str, Any] = _structure(properties, shape, "")
    return found


def _structure(value: Any, shape: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ResourceError(f"{where or shape.name} is a single value; it has properties")
    for name in value:
        if name not in shape.members:
            hint = near(name, shape.members)
            raise ResourceError(f"extraneous key [{name}] is not permitted in {where or 'the properties'}{hint}")
    place = f"{where}." if where else ""
    return {name: _value(one, shape.members[name], f"{place}{name}") for name, one in value.items()}


def _value(value: Any, shape: Any, where: str) -> Any:
    match shape.type_name:
        case "structure":
            return _structure(value, shape, where)
        case "list":
            if not isinstance(value, list):
                raise ResourceError(f"{where} is no list")
            return [_value(one, shape.member, f"{where}[{index}]") for index, one in enumerate(value)]
        case "map":
            if not isinstance(value, Mapping):
                raise ResourceError(f"{where} is a single value; it takes names with values")
            return {str(key): _value(one, shape.value, f"{where}.{key}") for key, one in value.items()}
    if isinstance(value, Mapping | list):
        raise ResourceError(f"{where} takes a single value")
    return _single(value, shape, where)


def _single(value: Any, shape: Any, where: str) -> Any:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    try:
        match shape.type_name:
            case "boolean":
                return {"true": True, "false": False}[text.lower()]
            case "integer" | "long":
                return int(text)
            case "float" | "double":
                return float(text)
    except (KeyError, ValueError) as error:
        raise ResourceError(f"{where} is {text[:80]!r}; it takes a value of type {shape.type_name}") from error
    # AWS adds instance types and images of machines by the month, and this one's list is as old as botocore.
    grows = "InstanceType" in shape.name or "AmiVersion" in shape.name
    if shape.enum and not grows and text not in shape.enum:
        raise ResourceError(f"{where} is {text[:80]!r}; it takes {', '.join(shape.enum)}")
    return text
