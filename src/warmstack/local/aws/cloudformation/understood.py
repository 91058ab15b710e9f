"""What each operation understands of its request: anything else that would change what happens is refused by name.

A member that is not understood may have a value that asks for nothing, such as what the CDK CLI sends by default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from warmstack.local.aws.errors import StackError, invalid

_Members = Mapping[str, Any]
_TEMPLATE = frozenset({"TemplateBody", "TemplateURL"})
_STACK = frozenset(
    {
        *_TEMPLATE, "Capabilities", "DisableRollback", "NotificationARNs", "Parameters", "RoleARN", "StackName", "Tags",
    }
)  # fmt: skip
_TOKEN = "ClientRequestToken"
_UNDERSTOOD: Mapping[str, frozenset[str]] = {
    "CancelUpdateStack": frozenset({_TOKEN, "StackName"}),
    "ContinueUpdateRollback": frozenset({_TOKEN, "ResourcesToSkip", "RoleARN", "StackName"}),
    "CreateChangeSet": frozenset(
        {*(_STACK - {"DisableRollback"}), "ChangeSetName", "ChangeSetType", "ClientToken", "Description",
         "OnStackFailure", "UsePreviousTemplate"}
    ),
    "CreateStack": _STACK | {_TOKEN, "EnableTerminationProtection", "OnFailure"},
    "DeleteChangeSet": frozenset({"ChangeSetName", "StackName"}),
    "DeleteStack": frozenset({_TOKEN, "RetainResources", "RoleARN", "StackName"}),
    "DescribeChangeSet": frozenset({"ChangeSetName", "IncludePropertyValues", "StackName"}),
    "DescribeEvents": frozenset({"ChangeSetName", "Filters", "StackName"}),
    "DescribeStackEvents": frozenset({"StackName"}),
    "DescribeStackResource": frozenset({"LogicalResourceId", "StackName"}),
    "DescribeStackResources": frozenset({"LogicalResourceId", "PhysicalResourceId", "StackName"}),
    "DescribeStacks": frozenset({"StackName"}),
    "ExecuteChangeSet": frozenset({_TOKEN, "ChangeSetName", "DisableRollback", "StackName"}),
    "GetTemplate": frozenset({"ChangeSetName", "StackName", "TemplateStage"}),
    "GetTemplateSummary": _TEMPLATE | {"StackName"},
    "ListChangeSets": frozenset({"StackName"}),
    "ListExports": frozenset(),
    "ListImports": frozenset({"ExportName"}),
    "ListStackResources": frozenset({"StackName"}),
    "ListStacks": frozenset({"StackStatusFilter"}),
    "RollbackStack": frozenset({_TOKEN, "RetainExceptOnCreate", "RoleARN", "StackName"}),
    "UpdateStack": _STACK | {_TOKEN, "UsePreviousTemplate"},
    "UpdateTerminationProtection": frozenset({"EnableTerminationProtection", "StackName"}),
    "ValidateTemplate": _TEMPLATE,
}  # fmt: skip


def _is_standard(value: Any) -> bool:
    return value.get("Mode", "STANDARD") == "STANDARD" and not value.get("DisableRollback")


_ASKS_NOTHING: Mapping[str, Callable[[Any], bool]] = {
    "DeletionMode": lambda value: value == "STANDARD",
    "DeploymentConfig": _is_standard,
    # What validates is the local AWS itself, in every request.
    "DisableValidation": lambda _: True,
    # `cdk bootstrap` always asks for it. What is there already makes a creation fail, and the events say so.
    "ImportExistingResources": lambda _: True,
    # There are no nested stacks to include.
    "IncludeNestedStacks": lambda _: True,
    "RollbackConfiguration": lambda value: not value.get("RollbackTriggers"),
}
"""When a member that no operation understands asks for nothing; others do where they are empty or false."""
_INSTEAD: Mapping[str, str] = {
    "DeletionMode": "it deletes with STANDARD; RetainResources leaves alone what cannot be deleted",
    "DeploymentConfig": "it deploys with the mode STANDARD; of the CDK CLI, leave out --express",
    "DeploymentMode": "drift is not known here; of the CDK CLI, leave out --revert-drift",
    "ForceRollback": "name the resources in ResourcesToSkip; of the CDK CLI, with --orphan",
    "ResourceTypes": "types are not restricted",
    "ResourcesToImport": "the local AWS does not import resources into stacks",
    "RetainExceptOnCreate": "write DeletionPolicy: RetainExceptOnCreate in the template",
    "RollbackConfiguration": "alarms do not sound here; leave RollbackTriggers out",
    "StackPolicyBody": "stack policies are not followed",
    "TimeoutInMinutes": "a creation goes on until it ends; delete the stack to give it up",
}


def check_understood(operation: str, members: _Members) -> None:
    """Refuse what an operation would ignore.

    Args:
        operation: Its name.
        members: The request.

    Raises:
        StackError: A member asks for what the local AWS does not do.
    """
    known = _UNDERSTOOD[operation]
    ignored = [one for one, value in members.items() if one not in known and not _is_nothing(one, value)]
    if ignored:
        raise _refused(operation, ignored)


def _is_nothing(name: str, value: Any) -> bool:
    return not value or (name in _ASKS_NOTHING and _ASKS_NOTHING[name](value))


def _refused(operation: str, names: list[str]) -> StackError:
    said = [f"{one}: {_INSTEAD[one]}" if one in _INSTEAD else one for one in names]
    return invalid(f"the local AWS does not do what {operation} asks for with {'; '.join(said)}")
