"""Which properties a type needs, and of which form, where no service's own model checks them.

Source: the CloudFormation template reference of each type (read 2026-11-30). Only what handlers use is here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warmstack.local.aws.errors import ResourceError

_TEXT = (str, int, float, bool)
_DOCUMENT = (dict, str)
_WORDS = {_TEXT: "a single value", _DOCUMENT: "a mapping or a text", dict: "a mapping", list: "a list"}

REQUIRED: Mapping[str, frozenset[str]] = {
    "AWS::ApplicationAutoScaling::ScalableTarget": frozenset({"ResourceId", "ScalableDimension", "ServiceNamespace"}),
    "AWS::ApplicationAutoScaling::ScalingPolicy": frozenset({"PolicyName", "PolicyType"}),
    "AWS::IAM::ManagedPolicy": frozenset({"PolicyDocument"}),
    "AWS::IAM::Policy": frozenset({"PolicyDocument", "PolicyName"}),
    "AWS::IAM::Role": frozenset({"AssumeRolePolicyDocument"}),
    "AWS::IAM::RolePolicy": frozenset({"PolicyName", "RoleName"}),
    "AWS::S3::BucketPolicy": frozenset({"Bucket", "PolicyDocument"}),
    "AWS::SSM::Parameter": frozenset({"Type", "Value"}),
}
_OF_POLICIES = {"PolicyDocument": _DOCUMENT, "PolicyName": _TEXT, "RoleName": _TEXT, "Roles": list}
FORMS: Mapping[str, Mapping[str, Any]] = {
    "AWS::ApplicationAutoScaling::ScalableTarget": {
        "ResourceId": _TEXT,
        "ScalableDimension": _TEXT,
        "ServiceNamespace": _TEXT,
    },
    "AWS::ApplicationAutoScaling::ScalingPolicy": {"PolicyName": _TEXT},
    "AWS::IAM::ManagedPolicy": _OF_POLICIES,
    "AWS::IAM::Policy": _OF_POLICIES,
    "AWS::IAM::Role": {
        "AssumeRolePolicyDocument": _DOCUMENT,
        "ManagedPolicyArns": list,
        "Policies": list,
        "RoleName": _TEXT,
        "Tags": list,
    },
    "AWS::IAM::RolePolicy": _OF_POLICIES,
    "AWS::S3::Bucket": {
        "BucketEncryption": dict,
        "BucketName": _TEXT,
        "PublicAccessBlockConfiguration": dict,
        "VersioningConfiguration": dict,
    },
    "AWS::S3::BucketPolicy": {"Bucket": _TEXT},
    "AWS::SSM::Parameter": {"Name": _TEXT, "Tags": dict, "Type": _TEXT, "Value": _TEXT},
}


def check_properties(kind: str, logical_id: str, properties: Mapping[str, Any]) -> None:
    """Check what a handler will take for granted.

    Raises:
        ResourceError: A property is missing, or has another form.
    """
    problems = [
        f"required key [{name}] not found" for name in sorted(REQUIRED.get(kind, frozenset()) - properties.keys())
    ]
    for name, form in FORMS.get(kind, {}).items():
        if name in properties and not isinstance(properties[name], form):
            problems.append(f"[{name}] takes {_WORDS[form]}")
    if problems:
        raise ResourceError(
            f"Properties validation failed for resource {logical_id} with message: {'; '.join(problems)}"
        )
