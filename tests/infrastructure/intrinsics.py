"""CloudFormation's intrinsic functions, answered with values of the form that a deploy would give.

What is not known here is an error, never a guess: a template that starts to use another function or attribute
has to be given its answer first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

ACCOUNT = "111122223333"
REGION = "us-west-2"
PSEUDO: Mapping[str, str] = {
    "AWS::AccountId": ACCOUNT,
    "AWS::Partition": "aws",
    "AWS::Region": REGION,
    "AWS::StackName": "stack",
    "AWS::URLSuffix": "amazonaws.com",
}
# CloudFormation ends the names that it makes with twelve characters, and cuts the rest to fit.
_SUFFIX = "-Ab3dE6gH9jK1"


def resolve(value: Any, template: Mapping[str, Any]) -> Any:
    """Return a value of a template with every intrinsic function in it answered."""
    if isinstance(value, list):
        return [resolve(one, template) for one in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((name, argument),) = value.items()
        if name in _FUNCTIONS:
            return _FUNCTIONS[name](argument, template)
        if name == "Condition" or name.startswith("Fn::"):
            raise LookupError(f"no answer for {name}; add one to intrinsics.py")
    return {key: resolve(one, template) for key, one in value.items()}


def generated_name(logical_id: str) -> str:
    """Return a name as CloudFormation makes it for a resource without one."""
    return logical_id[: 63 - len(_SUFFIX)] + _SUFFIX


def _ref(name: str, template: Mapping[str, Any]) -> Any:
    if name in PSEUDO:
        return PSEUDO[name]
    resource = template["Resources"][name]
    properties = resolve(resource["Properties"], template)
    match resource["Type"]:
        case "AWS::SageMaker::Endpoint":
            return f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:endpoint/{properties['EndpointName']}"
        case "AWS::SageMaker::InferenceComponent":
            return f"arn:aws:sagemaker:{REGION}:{ACCOUNT}:inference-component/{properties['InferenceComponentName']}"
        case "AWS::ApplicationAutoScaling::ScalableTarget":
            return "|".join(properties[key] for key in ("ResourceId", "ScalableDimension", "ServiceNamespace"))
        case other:
            raise LookupError(f"no answer for Ref of {other}; add one to intrinsics.py")


def _get_att(target: list[str], template: Mapping[str, Any]) -> Any:
    logical_id, attribute = target
    resource = template["Resources"][logical_id]
    properties = resource["Properties"]
    match (resource["Type"], attribute):
        case ("AWS::IAM::Role", "Arn"):
            return f"arn:aws:iam::{ACCOUNT}:role/stack-{generated_name(logical_id)}"
        case ("AWS::ECR::Repository", "RepositoryUri"):
            return f"{ACCOUNT}.dkr.ecr.{REGION}.amazonaws.com/{generated_name(logical_id).lower()}"
        case ("AWS::ECR::Repository", "Arn"):
            return f"arn:aws:ecr:{REGION}:{ACCOUNT}:repository/{generated_name(logical_id).lower()}"
        case ("AWS::SageMaker::Model", "ModelName"):
            return properties.get("ModelName", generated_name(logical_id))
        case ("AWS::SageMaker::EndpointConfig", "EndpointConfigName"):
            return properties.get("EndpointConfigName", generated_name(logical_id))
        case ("AWS::SageMaker::Endpoint", "EndpointName"):
            return resolve(properties["EndpointName"], template)
        case other:
            raise LookupError(f"no answer for GetAtt of {other}; add one to intrinsics.py")


def _sub(argument: str | list[Any], template: Mapping[str, Any]) -> str:
    text, given = (argument, {}) if isinstance(argument, str) else (argument[0], argument[1])
    values = {key: resolve(one, template) for key, one in given.items()}

    def replace(match: re.Match[str]) -> str:
        name = match[1]
        if name in values:
            return str(values[name])
        if "." in name:
            return str(_get_att(name.split(".", 1), template))
        return str(_ref(name, template))

    return re.sub(r"\$\{([^!}]+)\}", replace, text)


def _find_in_map(argument: list[Any], template: Mapping[str, Any]) -> Any:
    name, first, second = (resolve(one, template) for one in argument)
    return template["Mappings"][name][first][second]


def _join(argument: list[Any], template: Mapping[str, Any]) -> str:
    separator, values = argument
    return str(separator).join(str(one) for one in resolve(values, template))


_FUNCTIONS: Mapping[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "Ref": _ref,
    "Fn::GetAtt": _get_att,
    "Fn::Sub": _sub,
    "Fn::FindInMap": _find_in_map,
    "Fn::Join": _join,
}
