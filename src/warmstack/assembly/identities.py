"""What ``Ref`` and ``Fn::GetAtt`` answer for resources, as far as it can be known without a deployment.

Source: the CloudFormation template reference's "Return values" of each type (read 2026-11-30). ``Ref`` of SageMaker's
resources is their ARN.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

LONGEST_NAME = 63
NAME_RULE = "a name has at most 63 letters, digits and hyphens, and no hyphen at its ends"
_NAME = re.compile(r"[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """How resources of a type are identified.

    Args:
        name_property: The property that sets the name; CloudFormation makes one where it is absent.
        arn: The ARN, of ``partition``, ``region``, ``account`` and ``name``.
        ref: What ``Ref`` answers.
        attributes: What ``Fn::GetAtt`` answers, in the same form as ``arn``.
        is_lower: Whether names are in lower case only.
    """

    name_property: str
    arn: str
    ref: str
    attributes: Mapping[str, str]
    is_lower: bool = False


def _sagemaker(resource: str, word: str) -> Kind:
    arn = f"arn:{{partition}}:sagemaker:{{region}}:{{account}}:{word}/{{name}}"
    return Kind(
        name_property=f"{resource}Name",
        arn=arn,
        ref=arn,
        attributes={f"{resource}Arn": arn, f"{resource}Name": "{name}"},
    )


_ROLE = "arn:{partition}:iam::{account}:role/{name}"
_BUCKET = "arn:{partition}:s3:::{name}"
_REPOSITORY = "arn:{partition}:ecr:{region}:{account}:repository/{name}"

KINDS: Mapping[str, Kind] = {
    "AWS::SageMaker::Model": _sagemaker("Model", "model"),
    "AWS::SageMaker::EndpointConfig": _sagemaker("EndpointConfig", "endpoint-config"),
    "AWS::SageMaker::Endpoint": _sagemaker("Endpoint", "endpoint"),
    "AWS::SageMaker::InferenceComponent": _sagemaker("InferenceComponent", "inference-component"),
    "AWS::IAM::Role": Kind(name_property="RoleName", arn=_ROLE, ref="{name}", attributes={"Arn": _ROLE}),
    "AWS::S3::Bucket": Kind(
        name_property="BucketName", arn=_BUCKET, ref="{name}", attributes={"Arn": _BUCKET}, is_lower=True
    ),
    "AWS::ECR::Repository": Kind(
        name_property="RepositoryName",
        arn=_REPOSITORY,
        ref="{name}",
        attributes={"Arn": _REPOSITORY, "RepositoryUri": "{account}.dkr.ecr.{region}.{suffix}/{name}"},
        is_lower=True,
    ),
}


def generated_name(stack: str, logical_id: str, *, is_lower: bool) -> str:
    """Return a name for a resource that has none: always the same, and different for each resource of a stack.

    CloudFormation ends such names with random characters, which no one can know before a deployment.
    """
    name = f"{stack}-{logical_id}"
    if len(name) > LONGEST_NAME:
        name = f"{name[: LONGEST_NAME - 9].rstrip('-')}-{sha256(name.encode()).hexdigest()[:8]}"
    return name.lower() if is_lower else name


def is_name(text: str) -> bool:
    """Return whether SageMaker takes a text as a name (botocore 1.44.8: EndpointName and its kin)."""
    return len(text) <= LONGEST_NAME and _NAME.fullmatch(text) is not None


def name_in(value: str) -> str:
    """Return the name of a resource from its name or its ARN."""
    return value.rsplit("/", 1)[-1] if value.startswith("arn:") else value


def partition_of(region: str) -> tuple[str, str]:
    """Return the partition of a Region and its URL suffix (botocore 1.44.8, partitions.json)."""
    for start, partition, suffix in (
        ("cn-", "aws-cn", "amazonaws.com.cn"),
        ("us-gov-", "aws-us-gov", "amazonaws.com"),
        ("us-iso-", "aws-iso", "c2s.ic.gov"),
        ("us-isob-", "aws-iso-b", "sc2s.sgov.gov"),
        ("eu-isoe-", "aws-iso-e", "cloud.adc-e.uk"),
        ("us-isof-", "aws-iso-f", "csp.hci.ic.gov"),
        ("eusc-", "aws-eusc", "amazonaws.eu"),
    ):
        if region.startswith(start):
            return partition, suffix
    return "aws", "amazonaws.com"
