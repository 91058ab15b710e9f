"""Stacks, resources, events and change sets as CloudFormation's API shows them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from warmstack.local.aws.stacks.changes import plain
from warmstack.local.aws.stacks.records import HIDDEN, ChangeSet, Desired, Event, Resource, Stack
from warmstack.local.aws.stacks.secrets import masked


def stack_document(stack: Stack) -> dict[str, Any]:
    """Return what DescribeStacks shows."""
    desired = stack.desired
    return {
        "StackId": stack.id,
        "StackName": stack.name,
        "Description": desired.description or None,
        "Parameters": parameters_document(desired),
        "CreationTime": stack.created,
        "DeletionTime": stack.deleted,
        "LastUpdatedTime": stack.updated,
        "RollbackConfiguration": {},
        "StackStatus": stack.status,
        "StackStatusReason": stack.reason or None,
        "DisableRollback": stack.disable_rollback,
        "NotificationARNs": list(stack.notification_arns),
        "Capabilities": list(stack.capabilities),
        "Outputs": [
            {
                "OutputKey": one.key,
                "OutputValue": one.value,
                "Description": one.description or None,
                "ExportName": one.export,
            }
            for one in stack.outputs
        ],
        "RoleARN": stack.role_arn,
        "Tags": tags_document(desired),
        "EnableTerminationProtection": stack.is_protected,
        "DriftInformation": {"StackDriftStatus": "NOT_CHECKED"},
    }


def stack_summary(stack: Stack) -> dict[str, Any]:
    """Return what ListStacks shows."""
    return {
        "StackId": stack.id,
        "StackName": stack.name,
        "TemplateDescription": stack.desired.description or None,
        "CreationTime": stack.created,
        "LastUpdatedTime": stack.updated,
        "DeletionTime": stack.deleted,
        "StackStatus": stack.status,
        "StackStatusReason": stack.reason or None,
        "DriftInformation": {"StackDriftStatus": "NOT_CHECKED"},
    }


def parameters_document(desired: Desired) -> list[dict[str, Any]]:
    """Return the parameters, without the values that are never shown."""
    return [
        {
            "ParameterKey": one.key,
            "ParameterValue": HIDDEN if one.is_hidden else one.value,
            "ResolvedValue": HIDDEN if one.is_hidden and one.resolved else one.resolved,
        }
        for one in desired.parameters
    ]


def tags_document(desired: Desired) -> list[dict[str, Any]]:
    """Return the stack's own tags."""
    return [{"Key": key, "Value": value} for key, value in desired.tags.items()]


def resource_summary(resource: Resource) -> dict[str, Any]:
    """Return what ListStackResources shows."""
    return {
        "LogicalResourceId": resource.logical_id,
        "PhysicalResourceId": resource.physical_id or None,
        "ResourceType": resource.kind,
        "LastUpdatedTimestamp": resource.changed_at,
        "ResourceStatus": resource.status,
        "ResourceStatusReason": resource.reason or None,
        "DriftInformation": {"StackResourceDriftStatus": "NOT_CHECKED"},
    }


def resource_document(stack: Stack, resource: Resource) -> dict[str, Any]:
    """Return what DescribeStackResources shows."""
    summary = resource_summary(resource)
    summary["Timestamp"] = summary.pop("LastUpdatedTimestamp")
    return {"StackName": stack.name, "StackId": stack.id, **summary}


def resource_detail(stack: Stack, resource: Resource) -> dict[str, Any]:
    """Return what DescribeStackResource shows."""
    metadata = None if resource.metadata is None else json.dumps(resource.metadata)
    return {"StackName": stack.name, "StackId": stack.id, **resource_summary(resource), "Metadata": metadata}


def event_document(stack: Stack, event: Event) -> dict[str, Any]:
    """Return what DescribeStackEvents shows."""
    shown = None if event.properties is None else masked(plain(event.properties), stack.secrets)
    return {
        "StackId": stack.id,
        "EventId": event.event_id,
        "StackName": stack.name,
        "LogicalResourceId": event.logical_id,
        "PhysicalResourceId": event.physical_id,
        "ResourceType": event.kind,
        "Timestamp": event.at,
        "ResourceStatus": event.status,
        "ResourceStatusReason": event.reason or None,
        "ResourceProperties": None if shown is None else json.dumps(shown, separators=(",", ":")),
        "ClientRequestToken": event.token,
    }


def change_set_summary(stack: Stack, change_set: ChangeSet) -> dict[str, Any]:
    """Return what ListChangeSets shows."""
    return {
        "StackId": stack.id,
        "StackName": stack.name,
        "ChangeSetId": change_set.id,
        "ChangeSetName": change_set.name,
        "ExecutionStatus": change_set.execution,
        "Status": change_set.status,
        "StatusReason": change_set.reason or None,
        "CreationTime": change_set.created,
        "Description": change_set.description,
        "IncludeNestedStacks": False,
    }


def change_set_document(stack: Stack, change_set: ChangeSet, changes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what DescribeChangeSet shows."""
    return {
        **change_set_summary(stack, change_set),
        "Parameters": parameters_document(change_set.desired),
        "NotificationARNs": list(change_set.options.get("NotificationARNs", [])),
        "RollbackConfiguration": {},
        "Capabilities": list(change_set.options.get("Capabilities", [])),
        "Tags": tags_document(change_set.desired),
        "Changes": changes,
    }
