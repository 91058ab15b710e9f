"""What an update would do, before it does anything: the changes of a change set."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from warmstack.assembly.unresolved import Unresolved
from warmstack.local.aws.resources.registry import handler_of
from warmstack.local.aws.stacks.differences import Difference, difference
from warmstack.local.aws.stacks.live import LiveTemplate
from warmstack.local.aws.stacks.records import Desired, Resource, Stack
from warmstack.local.aws.stacks.secrets import masked

KNOWN_LATER = "{{changeSet:KNOWN_AFTER_APPLY}}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What happens to a resource.

    Args:
        action: Add, Modify or Remove.
        logical_id: Its logical id.
        kind: Its type.
        before: What is there.
        after: Its properties in the new template; values that are known later are ``Unresolved``.
        difference: What is different; None unless it is modified.
        others: What of it is different beside its properties: its metadata, its policies.
    """

    action: str
    logical_id: str
    kind: str
    before: Resource | None = None
    after: Mapping[str, Any] | None = None
    difference: Difference | None = None
    others: tuple[str, ...] = ()

    @property
    def replacement(self) -> str | None:
        """Whether another resource takes its place: True, False, Conditional; None unless it is modified."""
        if self.difference is None:
            return None
        if self.difference.replacing - self.difference.unsure:
            return "True"
        return "Conditional" if self.difference.replacing else "False"


def find_changes(
    stack: Stack, waits: Mapping[str, frozenset[str]], template: Callable[[Mapping[str, Resource]], LiveTemplate]
) -> tuple[Change, ...]:
    """Return what an update would do, in the order in which it would.

    Args:
        stack: The stack as it is.
        waits: For each resource of the new template what it waits for, in an order in which they can be made.
        template: Returns the new template, answered by resources.
    """
    there = {name: one for name, one in stack.resources.items() if one.physical_id}
    # Another resource in the place of one has another id, which is known once it is there.
    known = dict(there)
    found: list[Change] = []
    for logical_id in waits:
        read = template(known)
        written = read.resource(logical_id)
        kind = str(written["Type"])
        after = read.resolve(read.properties(logical_id), logical_id)
        before = there.get(logical_id)
        if before is None:
            found.append(Change(action="Add", logical_id=logical_id, kind=kind, after=after))
            continue
        handler = handler_of(kind)
        assert handler is not None
        different = difference(before, after, handler)
        others = _others(before, written)
        has_failed = before.status.endswith("_FAILED")
        if different or others or has_failed:
            change = Change(
                action="Modify",
                logical_id=logical_id,
                kind=kind,
                before=before,
                after=after,
                difference=different,
                others=others,
            )
            found.append(change)
            if change.replacement != "False":
                known.pop(logical_id)
    for logical_id, before in there.items():
        if logical_id not in waits:
            found.append(Change(action="Remove", logical_id=logical_id, kind=before.kind, before=before))
    return tuple(found)


def _others(before: Resource, written: Mapping[str, Any]) -> tuple[str, ...]:
    then = {
        "Metadata": before.metadata,
        "DeletionPolicy": before.deletion_policy,
        "UpdateReplacePolicy": before.replace_policy,
    }
    now = {"DeletionPolicy": "Delete", "UpdateReplacePolicy": "Delete", **written}
    return tuple(name for name, value in then.items() if value != now.get(name))


def refused_types(stack: Stack, desired: Desired, waits: Collection[str]) -> str | None:
    """Return why a template cannot update a stack: a logical id has another type; None if every one is as it was.

    Args:
        stack: The stack as it is.
        desired: The template.
        waits: The logical ids of the resources that exist in it.
    """
    kinds = {name: str(desired.document["Resources"][name]["Type"]) for name in waits}
    there = {name: one.kind for name, one in stack.resources.items() if one.physical_id}
    changed = [name for name, kind in there.items() if kinds.get(name, kind) != kind]
    if not changed:
        return None
    # CloudFormation's own words.
    return (
        "Update of resource type is not permitted. The new template modifies resource type of the following resources: "
        f"[{', '.join(changed)}]"
    )


def described(change: Change, *, with_values: bool, secrets: Collection[str] = ()) -> dict[str, Any]:
    """Return a change as CloudFormation's API describes it.

    Args:
        change: The change.
        with_values: Whether the values of properties are shown.
        secrets: The texts that are never shown.
    """
    before, after = change.before, change.after
    found: dict[str, Any] = {
        "Action": change.action,
        "LogicalResourceId": change.logical_id,
        "PhysicalResourceId": before.physical_id if before else None,
        "ResourceType": change.kind,
        "Replacement": change.replacement,
        "Scope": [],
        "Details": [],
    }
    if change.action == "Remove" and before is not None:
        found["PolicyAction"] = "Retain" if before.deletion_policy == "Retain" else "Delete"
    elif change.replacement in ("True", "Conditional") and before is not None:
        keeps = before.replace_policy == "Retain"
        found["PolicyAction"] = "ReplaceAndRetain" if keeps else "ReplaceAndDelete"
    if with_values:
        found["BeforeContext"] = None if before is None else _context(before.properties, secrets)
        found["AfterContext"] = None if after is None else _context(after, secrets)
    if change.difference is not None:
        found["Scope"] = [*(["Properties"] if change.difference.changed else []), *change.others]
        found["Details"] = [_detail(change, name, with_values, secrets) for name in change.difference.changed]
    return {"Type": "Resource", "ResourceChange": found}


def _detail(change: Change, name: str, with_values: bool, secrets: Collection[str]) -> dict[str, Any]:
    assert change.difference is not None
    is_unsure = name in change.difference.unsure
    recreation = "Never" if name not in change.difference.replacing else "Conditionally" if is_unsure else "Always"
    target: dict[str, Any] = {"Attribute": "Properties", "Name": name, "RequiresRecreation": recreation}
    before, after = (change.before.properties if change.before else {}), change.after or {}
    if with_values:
        kind = "Modify" if name in before and name in after else "Add" if name in after else "Remove"
        target |= {
            "Path": f"/Properties/{name}",
            "BeforeValue": _shown(before.get(name), secrets),
            "AfterValue": _shown(after.get(name), secrets),
            "AttributeChangeType": kind,
        }
    return {
        "Target": target,
        "Evaluation": "Dynamic" if is_unsure else "Static",
        "ChangeSource": "ResourceAttribute" if is_unsure else "DirectModification",
    }


def plain(value: Any) -> Any:
    """Return a value with a mark for what is known later, as CloudFormation has one."""
    if isinstance(value, Unresolved):
        return KNOWN_LATER
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value


def _context(properties: Mapping[str, Any], secrets: Collection[str]) -> str:
    return json.dumps({"Properties": masked(plain(properties), secrets)}, separators=(",", ":"))


def _shown(value: Any, secrets: Collection[str]) -> str | None:
    if value is None:
        return None
    found = masked(plain(value), secrets)
    return found if isinstance(found, str) else json.dumps(found, separators=(",", ":"))
