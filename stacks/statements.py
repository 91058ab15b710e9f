"""Policies of what builds images: each statement names its resources."""

from __future__ import annotations

from aws_cdk import Acknowledgment, CfnElement, Stack, Validations
from aws_cdk import aws_iam as iam
from constructs import Construct


def policy(*statements: tuple[str | None, list[str], list[str]]) -> iam.PolicyDocument:
    """Return a policy of statements (id, actions, resources), in their order."""
    return iam.PolicyDocument(
        statements=[iam.PolicyStatement(sid=sid, actions=actions, resources=on) for sid, actions, on in statements],
        minimize=False,
    )


def acknowledge_wildcard(construct: Construct, resource: CfnElement | str, reason: str) -> None:
    """Give cdk-nag the reason of a wildcard: of ``*``, or of a resource whose ARN ends with one."""
    name = resource if isinstance(resource, str) else f"<{Stack.of(construct).resolve(resource.logical_id)}.Arn>"
    rule = f"AwsSolutions-IAM5[Resource::{name}]"
    Validations.of(construct).acknowledge(Acknowledgment(id=rule, reason=reason))
