"""What is kept of stacks, in memory: resources, events, outputs, change sets."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

STACK_TYPE = "AWS::CloudFormation::Stack"
HIDDEN = "****"
"""What is shown of a parameter that says NoEcho."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter's value.

    Args:
        key: Its name.
        value: What was given, or the default; for the Parameter Store's types a parameter's name.
        resolved: What the Parameter Store holds; None for other types.
        is_hidden: Whether it is never shown.
    """

    key: str
    value: str
    resolved: str | None = None
    is_hidden: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """A resource of a stack.

    Args:
        logical_id: Its logical id.
        kind: Its type.
        physical_id: Its id; empty until there is one.
        properties: What it was made from, with every function answered.
        attributes: What ``Fn::GetAtt`` answers.
        metadata: Its metadata in the template.
        uses: What it was made after, by the keys of then: another one may have taken a place since.
        deletion_policy: What happens when it leaves the template: Delete, Retain or RetainExceptOnCreate.
        replace_policy: What happens when another one takes its place.
        status: Its status.
        reason: Why.
        changed_at: Since when.
        is_made: Whether it was ever there as it was wanted: one whose creation failed half-way was not.
    """

    logical_id: str
    kind: str
    physical_id: str = ""
    properties: Mapping[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    metadata: Any = None
    uses: frozenset[tuple[str, str]] = frozenset()
    deletion_policy: str = "Delete"
    replace_policy: str = "Delete"
    status: str = ""
    reason: str = ""
    changed_at: datetime
    is_made: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """Its logical and its physical id: of one place there may be several, and a bucket and its policy share one."""
        return self.logical_id, self.physical_id

    @property
    def depends_on(self) -> frozenset[str]:
        """The logical ids that it was made after."""
        return frozenset(logical_id for logical_id, _ in self.uses)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened to a stack or a resource of it."""

    event_id: str
    logical_id: str
    kind: str
    physical_id: str
    status: str
    reason: str
    at: datetime
    properties: Mapping[str, Any] | None = None
    token: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """An output of a stack."""

    key: str
    value: str
    description: str = ""
    export: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Desired:
    """What a stack is to be, read and checked.

    Args:
        text: The template as it was given.
        document: The same, read.
        parameters: The values of its parameters.
        tags: The stack's own tags.
    """

    text: str
    document: Mapping[str, Any]
    parameters: tuple[Parameter, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def description(self) -> str:
        """What the template says of itself."""
        return str(self.document.get("Description") or "")

    @property
    def values(self) -> dict[str, str]:
        """The parameters' values, with those of the Parameter Store in the place of their names."""
        return {one.key: one.value if one.resolved is None else one.resolved for one in self.parameters}


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A stack as it was when it was last whole: where a rollback leads."""

    desired: Desired
    resources: Mapping[str, Resource]
    outputs: tuple[Output, ...]
    imports: frozenset[str]


@dataclass(slots=True, kw_only=True)
class ChangeSet:
    """A change set."""

    name: str
    id: str
    kind: str
    desired: Desired
    waits: Mapping[str, frozenset[str]]
    changes: tuple[Any, ...]
    description: str | None
    created: datetime
    status: str = "CREATE_COMPLETE"
    execution: str = "AVAILABLE"
    reason: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    on_failure: str | None = None


@dataclass(slots=True, kw_only=True)
class Stack:
    """A stack. Its executor changes it, in one event loop.

    ``whole`` is where a rollback leads; until an operation has come to its end, ``fresh`` is what a rollback removes,
    and ``leftovers`` what the end of an update removes. ``imports`` are the exports of others that it uses, and while
    it is updated also those that it used. ``is_cancelled`` says that nothing new begins: its creation ends as it is
    deleted, or its update as somebody cancels it; ``was_whole`` that an operation on it has once come to its end.
    ``secrets`` are the values that its hidden parameters have had.
    """

    name: str
    id: str
    region: str
    created: datetime
    desired: Desired
    status: str = "REVIEW_IN_PROGRESS"
    reason: str = ""
    updated: datetime | None = None
    deleted: datetime | None = None
    resources: dict[str, Resource] = field(default_factory=dict)
    outputs: tuple[Output, ...] = ()
    events: list[Event] = field(default_factory=list)
    change_sets: dict[str, ChangeSet] = field(default_factory=dict)
    imports: set[str] = field(default_factory=set)
    whole: Snapshot | None = None
    fresh: list[Resource] = field(default_factory=list)
    leftovers: list[Resource] = field(default_factory=list)
    is_protected: bool = False
    is_cancelled: bool = False
    was_whole: bool = False
    disable_rollback: bool = False
    role_arn: str | None = None
    capabilities: tuple[str, ...] = ()
    notification_arns: tuple[str, ...] = ()
    secrets: set[str] = field(default_factory=set)
    token: str | None = None
    work: asyncio.Task[None] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether something is being done to it."""
        return self.status.endswith("_IN_PROGRESS") and self.status != "REVIEW_IN_PROGRESS"

    @property
    def is_deleted(self) -> bool:
        """Whether it is gone."""
        return self.status == "DELETE_COMPLETE"

    def forget(self, removed: Iterable[Resource], *, with_unmade: bool = False) -> None:
        """Forget resources that are gone: what bears their names later may be another stack's.

        Args:
            removed: What is gone.
            with_unmade: Whether those are forgotten, too, of which nothing was ever there.
        """
        gone = {one.key for one in removed}
        # In place: steps that are under way hold on to it.
        for name, one in list(self.resources.items()):
            if one.key in gone or (with_unmade and not one.physical_id):
                del self.resources[name]
        self.fresh = [one for one in self.fresh if one.key not in gone]
        self.leftovers = [one for one in self.leftovers if one.key not in gone]


def everything(stack: Stack) -> list[Resource]:
    """Return what a stack has made, each once and as it is now.

    Updates that failed and were kept leave more than one resource in a place.
    """
    return list({one.key: one for one in (*stack.fresh, *stack.leftovers, *stack.resources.values())}.values())
