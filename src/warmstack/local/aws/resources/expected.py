"""Which properties a type needs, and of which form, where no service's own model checks them.

Source: the CloudFormation template reference of each type (read 2026-11-30). Only what handlers use is here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from warmstack.local.aws.errors import ResourceError
from warmstack.local.aws.resources.registry import handler_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Single:
    """A single value: a text, a number, true or false."""

    words: str = "a single value"
    pattern: str = ""

    def problems(self, value: Any, where: str) -> Iterator[str]:
        """Yield what is wrong with a value at a place."""
        if (
            not isinstance(value, str | int | float | bool)
            or re.fullmatch(self.pattern or ".*", str(value), re.S) is None
        ):
            yield f"[{where}] takes {self.words}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A policy document: written out, or as a text."""

    def problems(self, value: Any, where: str) -> Iterator[str]:
        """Yield what is wrong with a value at a place."""
        if not isinstance(value, dict | str):
            yield f"[{where}] takes a mapping or a text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Each:
    """A list of values of one form."""

    of: Any

    def problems(self, value: Any, where: str) -> Iterator[str]:
        """Yield what is wrong with a value at a place."""
        if not isinstance(value, list):
            yield f"[{where}] takes a list"
            return
        for index, one in enumerate(value):
            yield from self.of.problems(one, f"{where}[{index}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """Any names, with values of one form."""

    of: Any

    def problems(self, value: Any, where: str) -> Iterator[str]:
        """Yield what is wrong with a value at a place."""
        if not isinstance(value, dict):
            yield f"[{where}] takes a mapping"
            return
        for name, one in value.items():
            yield from self.of.problems(one, f"{where}.{name}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Properties of their own names.

    Args:
        required: The names of those that have to be there.
        forms: What is known of the form of some.
    """

    required: frozenset[str] = frozenset()
    forms: Mapping[str, Any] = field(default_factory=dict)

    def problems(self, value: Any, where: str) -> Iterator[str]:
        """Yield what is wrong with a value at a place; the place of a resource's properties is empty."""
        if not isinstance(value, Mapping):
            yield f"[{where}] takes a mapping"
            return
        inside = f" in {where}" if where else ""
        for name in sorted(self.required - value.keys()):
            yield f"required key [{name}] not found{inside}"
        for name, form in self.forms.items():
            if name in value:
                yield from form.problems(value[name], f"{where}.{name}" if where else name)


def _parts(*required: str, **forms: Any) -> Parts:
    return Parts(required=frozenset(required), forms=forms)


_TEXT, _DOCUMENT = Single(), Document()
_WHOLE = Single(words="a whole number", pattern="[0-9]+")
_TAGS = Each(of=_parts("Key", "Value", Key=_TEXT, Value=_TEXT))
_TAGGED = _parts(Tags=_TAGS)
_OF_POLICIES: Mapping[str, Any] = {
    "PolicyDocument": _DOCUMENT,
    "PolicyName": _TEXT,
    "RoleName": _TEXT,
    "Roles": Each(of=_TEXT),
}
_ENCRYPTION = _parts(
    ServerSideEncryptionConfiguration=Each(of=_parts(ServerSideEncryptionByDefault=_parts("SSEAlgorithm")))
)
EXPECTED: Mapping[str, Parts] = {
    "AWS::ApplicationAutoScaling::ScalableTarget": _parts(
        "ResourceId",
        "ScalableDimension",
        "ServiceNamespace",
        ResourceId=_TEXT,
        ScalableDimension=_TEXT,
        ServiceNamespace=_TEXT,
    ),
    "AWS::ApplicationAutoScaling::ScalingPolicy": _parts("PolicyName", "PolicyType", PolicyName=_TEXT),
    "AWS::IAM::ManagedPolicy": _parts("PolicyDocument", **_OF_POLICIES),
    "AWS::IAM::Policy": _parts("PolicyDocument", "PolicyName", **_OF_POLICIES),
    "AWS::IAM::Role": _parts(
        "AssumeRolePolicyDocument",
        AssumeRolePolicyDocument=_DOCUMENT,
        ManagedPolicyArns=Each(of=_TEXT),
        MaxSessionDuration=_WHOLE,
        PermissionsBoundary=_TEXT,
        Policies=Each(of=_parts("PolicyDocument", "PolicyName", **_OF_POLICIES)),
        Tags=_TAGS,
    ),
    "AWS::IAM::RolePolicy": _parts("PolicyName", "RoleName", **_OF_POLICIES),
    "AWS::S3::Bucket": _parts(
        BucketEncryption=_ENCRYPTION,
        PublicAccessBlockConfiguration=Named(of=_TEXT),
        VersioningConfiguration=_parts("Status", Status=_TEXT),
    ),
    "AWS::S3::BucketPolicy": _parts("Bucket", "PolicyDocument", Bucket=_TEXT, PolicyDocument=_DOCUMENT),
    "AWS::SSM::Parameter": _parts("Type", "Value", Tags=Named(of=_TEXT), Type=_TEXT, Value=_TEXT),
    "AWS::SageMaker::Endpoint": _TAGGED,
    "AWS::SageMaker::EndpointConfig": _TAGGED,
    "AWS::SageMaker::InferenceComponent": _TAGGED,
    "AWS::SageMaker::Model": _TAGGED,
}


def check_properties(kind: str, logical_id: str, properties: Mapping[str, Any]) -> None:
    """Check what a handler will take for granted.

    Raises:
        ResourceError: A property is missing, or has another form.
    """
    handler = handler_of(kind)
    name = None if handler is None else handler.name_property
    named = _parts(**({} if name is None else {name: _TEXT}))
    problems = [*named.problems(properties, ""), *EXPECTED.get(kind, Parts()).problems(properties, "")]
    if problems:
        raise ResourceError(
            f"Properties validation failed for resource {logical_id} with message: {'; '.join(problems)}"
        )
