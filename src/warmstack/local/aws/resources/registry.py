"""Which handler a type has."""

from __future__ import annotations

from collections.abc import Mapping

from warmstack.local.aws.resources.handler import Handler
from warmstack.local.aws.resources.iam import ManagedPolicy, Policy, Role, RolePolicy
from warmstack.local.aws.resources.recorded import CUSTOM_RESOURCE, TYPES
from warmstack.local.aws.resources.sagemaker_component import InferenceComponent
from warmstack.local.aws.resources.sagemaker_endpoint import Endpoint
from warmstack.local.aws.resources.sagemaker_models import EndpointConfig, Model
from warmstack.local.aws.resources.storage import Bucket, Parameter, Repository

HANDLERS: Mapping[str, Handler] = {
    **TYPES,
    "AWS::CloudFormation::CustomResource": CUSTOM_RESOURCE,
    "AWS::ECR::Repository": Repository(),
    "AWS::IAM::ManagedPolicy": ManagedPolicy(),
    "AWS::IAM::Policy": Policy(),
    "AWS::IAM::Role": Role(),
    "AWS::IAM::RolePolicy": RolePolicy(),
    "AWS::S3::Bucket": Bucket(),
    "AWS::SSM::Parameter": Parameter(),
    "AWS::SageMaker::Endpoint": Endpoint(),
    "AWS::SageMaker::EndpointConfig": EndpointConfig(),
    "AWS::SageMaker::InferenceComponent": InferenceComponent(),
    "AWS::SageMaker::Model": Model(),
}


def handler_of(kind: str) -> Handler | None:
    """Return the handler of a type; None if the local AWS does not know it."""
    return CUSTOM_RESOURCE if kind.startswith("Custom::") else HANDLERS.get(kind)
