"""Templates for the tests of the reading."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from warmstack.assembly import Assembly, AssemblyError, ModelDefinition, read_assembly

FOREIGN = Path(__file__).with_name("foreign.yaml")
IMAGE = "763104351884.dkr.ecr.us-west-2.amazonaws.com/vllm:1"


def small(**environment: Any) -> dict[str, Any]:
    """A template with one endpoint, to be changed."""
    return {
        "Resources": {
            "Model": {
                "Type": "AWS::SageMaker::Model",
                "Properties": {
                    "ModelName": "model",
                    "ExecutionRoleArn": "arn:aws:iam::111122223333:role/one",
                    "PrimaryContainer": {"Image": IMAGE, "Environment": environment},
                },
            },
            "Config": {
                "Type": "AWS::SageMaker::EndpointConfig",
                "Properties": {
                    "ProductionVariants": [
                        {
                            "VariantName": "primary",
                            "ModelName": {"Fn::GetAtt": ["Model", "ModelName"]},
                            "InstanceType": "ml.g5.xlarge",
                            "InitialInstanceCount": 2,
                        }
                    ]
                },
            },
            "Endpoint": {
                "Type": "AWS::SageMaker::Endpoint",
                "Properties": {
                    "EndpointName": "chat",
                    "EndpointConfigName": {"Fn::GetAtt": ["Config", "EndpointConfigName"]},
                },
            },
        }
    }


def with_components() -> dict[str, Any]:
    """The same with a component and an adapter in place of the variant's model."""
    template = small()
    resources = template["Resources"]
    del resources["Config"]["Properties"]["ProductionVariants"][0]["ModelName"]
    resources["Base"] = {
        "Type": "AWS::SageMaker::InferenceComponent",
        "Properties": {
            "InferenceComponentName": "base",
            "EndpointName": "chat",
            "VariantName": "primary",
            "RuntimeConfig": {"CopyCount": 2},
            "Specification": {"ModelName": "model", "ComputeResourceRequirements": {"MinMemoryRequiredInMb": 1024}},
        },
    }
    resources["Adapter"] = {
        "Type": "AWS::SageMaker::InferenceComponent",
        "Properties": {
            "InferenceComponentName": "legal",
            "EndpointName": "chat",
            "Specification": {
                "BaseInferenceComponentName": "base",
                "Container": {"ArtifactUrl": "s3://acme/legal.tar.gz"},
            },
        },
    }
    return template


def properties(template: dict[str, Any], logical_id: str) -> dict[str, Any]:
    found: dict[str, Any] = template["Resources"][logical_id]["Properties"]
    return found


def variant(template: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = properties(template, "Config")["ProductionVariants"][0]
    return found


def write(folder: Path, template: Any, name: str = "app.json") -> Path:
    path = folder / name
    path.write_text(template if isinstance(template, str) else json.dumps(template), encoding="utf-8")
    return path


def read(folder: Path, template: Any, **arguments: Any) -> Assembly:
    return read_assembly(write(folder, template), **arguments)


def problems(folder: Path, template: Any, **arguments: Any) -> tuple[str, ...]:
    with pytest.raises(AssemblyError) as caught:
        read(folder, template, **arguments)
    assert str(caught.value) == "\n".join(caught.value.problems)
    return caught.value.problems


def model_of(assembly: Assembly) -> ModelDefinition:
    (endpoint,) = assembly.endpoints
    model = endpoint.variants[0].model
    assert model is not None
    return model


def environment_of(folder: Path, value: Any, **sections: Any) -> Mapping[str, str]:
    """What a container gets whose variable X has a value of the template."""
    return model_of(read(folder, small(X=value) | sections)).environment
