"""Templates that tests deploy: JSON, made from a few values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def _document(**statement: Any) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **statement}]}


ROLE = {
    "Type": "AWS::IAM::Role",
    "Properties": {
        "AssumeRolePolicyDocument": _document(
            Principal={"Service": "sagemaker.amazonaws.com"}, Action="sts:AssumeRole"
        ),
        "Policies": [{"PolicyName": "StartModels", "PolicyDocument": _document(Action="s3:GetObject", Resource="*")}],
    },
}


def text(resources: Mapping[str, Any], **sections: Any) -> str:
    return json.dumps({"Resources": resources, **sections})


def model(image: str = "image:1") -> dict[str, Any]:
    return {
        "Type": "AWS::SageMaker::Model",
        "Properties": {
            "ExecutionRoleArn": {"Fn::GetAtt": ["Role", "Arn"]},
            "PrimaryContainer": {"Image": image, "Environment": {"OPTION_TENSOR_PARALLEL_DEGREE": "4"}},
        },
    }


def config(strategy: str = "RANDOM", model_name: Any = None) -> dict[str, Any]:
    named = {"Fn::GetAtt": ["Model", "ModelName"]} if model_name is None else model_name
    return {
        "Type": "AWS::SageMaker::EndpointConfig",
        "Properties": {
            "ProductionVariants": [
                {
                    "VariantName": "primary",
                    "ModelName": named,
                    "InstanceType": "ml.g5.12xlarge",
                    "InitialInstanceCount": "2",
                    "RoutingConfig": {"RoutingStrategy": strategy},
                }
            ]
        },
    }


def endpoint(name: str | None = "demo") -> dict[str, Any]:
    given = {} if name is None else {"EndpointName": name}
    config_name = {"Fn::GetAtt": ["Config", "EndpointConfigName"]}
    return {
        "Type": "AWS::SageMaker::Endpoint",
        "Properties": {**given, "EndpointConfigName": config_name, "RetainAllVariantProperties": True},
    }


def variant(*, image: str = "image:1", strategy: str = "RANDOM", **more: Any) -> dict[str, Any]:
    """Return the resources of an endpoint whose variant hosts the model."""
    return {"Role": ROLE, "Model": model(image), "Config": config(strategy), "Endpoint": endpoint(), **more}


OUTPUTS = {"EndpointName": {"Value": {"Fn::GetAtt": ["Endpoint", "EndpointName"]}, "Description": "Its name"}}


def variant_text(**more: Any) -> str:
    return text(variant(**more), Outputs=OUTPUTS)


def component(name: str, *, copies: int = 2, base: str | None = None, **more: Any) -> dict[str, Any]:
    specification: dict[str, Any] = {"ModelName": {"Fn::GetAtt": ["Model", "ModelName"]}}
    properties: dict[str, Any] = {
        "InferenceComponentName": name,
        "EndpointName": {"Fn::GetAtt": ["Endpoint", "EndpointName"]},
        "VariantName": "primary",
        "RuntimeConfig": {"CopyCount": copies},
    }
    resource: dict[str, Any] = {"Type": "AWS::SageMaker::InferenceComponent", **more}
    if base is not None:
        artifact = {"ArtifactUrl": f"s3://adapters/{name}.tar.gz"}
        specification = {"BaseInferenceComponentName": base, "Container": artifact}
        del properties["VariantName"], properties["RuntimeConfig"]
    return {**resource, "Properties": {**properties, "Specification": specification}}


def components(
    *, copies: int = 2, image: str = "image:1", adapters: tuple[str, ...] = (), strategy: str = "RANDOM"
) -> str:
    """Return an endpoint with one component, with adapters on it, whose copies scale."""
    parts = {f"Adapter{name}": component(name, base="chat", DependsOn="Chat") for name in adapters}
    plain = config(strategy)
    (one,) = plain["Properties"]["ProductionVariants"]
    del one["ModelName"]
    plain["Properties"]["ExecutionRoleArn"] = {"Fn::GetAtt": ["Role", "Arn"]}
    target = {
        "Type": "AWS::ApplicationAutoScaling::ScalableTarget",
        "DependsOn": ["Chat"],
        "Properties": {
            "ServiceNamespace": "sagemaker",
            "ResourceId": "inference-component/chat",
            "ScalableDimension": "sagemaker:inference-component:DesiredCopyCount",
            "MinCapacity": 1,
            "MaxCapacity": 4,
        },
    }
    return text(
        {
            "Role": ROLE,
            "Model": model(image),
            "Config": plain,
            "Endpoint": endpoint(),
            "Chat": component("chat", copies=copies),
            "Target": target,
            **parts,
        }
    )


def parameter(value: str, name: str = "/demo/value", **more: Any) -> dict[str, Any]:
    properties = {"Type": "String", "Name": name, "Value": value, **more}
    return {"Type": "AWS::SSM::Parameter", "Properties": properties}
