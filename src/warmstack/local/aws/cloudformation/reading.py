"""Operations that only look."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from warmstack.local.aws.cloudformation import documents
from warmstack.local.aws.cloudformation.desk import Desk, Members, Operation
from warmstack.local.aws.cloudformation.finding import find_change_set
from warmstack.local.aws.cloudformation.templates import read_template, read_text
from warmstack.local.aws.errors import invalid
from warmstack.local.aws.stacks.capabilities import OF_IAM, needed_capability
from warmstack.local.aws.stacks.records import Resource, Stack


class Reading:
    """Shows stacks.

    Args:
        desk: What it works with.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._store = desk.store
        self.operations: Mapping[str, Operation] = {
            "DescribeEvents": self._operation_events,
            "DescribeStackEvents": self._events,
            "DescribeStackResource": self._resource,
            "DescribeStackResources": self._resources,
            "DescribeStacks": self._stacks,
            "GetTemplate": self._template,
            "GetTemplateSummary": self._template_summary,
            "ListExports": self._exports,
            "ListImports": self._imports,
            "ListStackResources": self._list_resources,
            "ListStacks": self._list,
            "ValidateTemplate": self._validate,
        }

    async def _stacks(self, members: Members, region: str) -> Members:
        if "StackName" not in members:
            return {"Stacks": [documents.stack_document(one) for one in self._store.there(region)]}
        stack = self._store.get(str(members["StackName"]), region)
        await self._desk.linger(stack)
        return {"Stacks": [documents.stack_document(stack)]}

    async def _list(self, members: Members, region: str) -> Members:
        wanted = members.get("StackStatusFilter")
        found = [one for one in self._store.all(region) if not wanted or one.status in wanted]
        return {"StackSummaries": [documents.stack_summary(one) for one in found]}

    async def _events(self, members: Members, region: str) -> Members:
        name = str(members.get("StackName", ""))
        stack = self._store.find(name, region)
        if stack is None:
            raise invalid(f"Stack [{name}] does not exist")
        return {"StackEvents": [documents.event_document(stack, one) for one in reversed(stack.events)]}

    async def _operation_events(self, members: Members, region: str) -> Members:
        # The CDK CLI asks for what CloudFormation has validated before a change set; here that is the answer itself.
        self._store.get(str(members.get("StackName", "")), region)
        return {"OperationEvents": []}

    async def _resources(self, members: Members, region: str) -> Members:
        if "StackName" in members:
            stack = self._store.get(str(members["StackName"]), region)
        else:
            physical = str(members.get("PhysicalResourceId", ""))
            stack = self._with_resource(physical, region)
        logical_id = members.get("LogicalResourceId")
        found = [one for one in _known(stack) if logical_id in (None, one.logical_id)]
        return {"StackResources": [documents.resource_document(stack, one) for one in found]}

    async def _resource(self, members: Members, region: str) -> Members:
        stack = self._store.get(str(members["StackName"]), region)
        logical_id = str(members["LogicalResourceId"])
        found = next((one for one in _known(stack) if one.logical_id == logical_id), None)
        if found is None:
            raise invalid(f"Resource {logical_id} does not exist for stack {stack.name}")
        return {"StackResourceDetail": documents.resource_detail(stack, found)}

    async def _list_resources(self, members: Members, region: str) -> Members:
        stack = self._store.get(str(members["StackName"]), region)
        return {"StackResourceSummaries": [documents.resource_summary(one) for one in _known(stack)]}

    async def _template(self, members: Members, region: str) -> Members:
        if "ChangeSetName" in members:
            desired = find_change_set(self._store, members, region)[1].desired
        else:
            desired = self._store.get(str(members.get("StackName", "")), region).desired
        return {"TemplateBody": desired.text, "StagesAvailable": ["Original", "Processed"]}

    async def _template_summary(self, members: Members, region: str) -> Members:
        stack = self._store.get(str(members["StackName"]), region) if "StackName" in members else None
        text = (
            stack.desired.text
            if stack is not None
            else await read_text(members, None, aws=self._desk.aws, region=region)
        )
        document = read_template(text)
        kinds = [str(one["Type"]) for one in _resources(document)]
        return {
            **_described(document),
            "ResourceTypes": sorted(set(kinds)),
            "Version": str(document["AWSTemplateFormatVersion"]) if "AWSTemplateFormatVersion" in document else None,
        }

    async def _validate(self, members: Members, region: str) -> Members:
        text = await read_text(members, None, aws=self._desk.aws, region=region)
        document = read_template(text)
        found = _described(document)
        found["Parameters"] = [
            {
                "ParameterKey": one["ParameterKey"],
                "DefaultValue": one["DefaultValue"],
                "NoEcho": one["NoEcho"],
                "Description": one["Description"],
            }
            for one in found["Parameters"]
        ]
        return found

    async def _exports(self, _members: Members, region: str) -> Members:
        exports = self._store.exports(region)
        return {
            "Exports": [{"ExportingStackId": stack.id, "Name": name, "Value": value} for stack, name, value in exports]
        }

    async def _imports(self, members: Members, region: str) -> Members:
        name = str(members["ExportName"])
        found = self._store.imported_by(region, name)
        if not found:
            raise invalid(f"Export '{name}' is not imported by any stack.")
        return {"Imports": found}

    def _with_resource(self, physical: str, region: str) -> Stack:
        for stack in self._store.there(region):
            if any(one.physical_id == physical for one in stack.resources.values()):
                return stack
        raise invalid(f"Stack for {physical} does not exist")


def _known(stack: Stack) -> list[Resource]:
    return sorted(stack.resources.values(), key=lambda one: one.logical_id)


def _resources(document: Mapping[str, Any]) -> Collection[Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = document.get("Resources") or {}
    return found.values()


def _described(document: Mapping[str, Any]) -> dict[str, Any]:
    parameters = document.get("Parameters") or {}
    needed = needed_capability(_resources(document))
    kinds = sorted({str(one["Type"]) for one in _resources(document)} & OF_IAM)
    why = f"The following resource(s) require capabilities: [{', '.join(kinds)}]"
    return {
        "Description": document.get("Description"),
        "Parameters": [
            {
                "ParameterKey": key,
                "DefaultValue": None if "Default" not in one else str(one["Default"]),
                "ParameterType": str(one.get("Type", "String")),
                "NoEcho": str(one.get("NoEcho", False)).lower() == "true",
                "Description": one.get("Description"),
            }
            for key, one in parameters.items()
        ],
        "Capabilities": [needed] if needed else [],
        "CapabilitiesReason": why if needed else None,
    }
