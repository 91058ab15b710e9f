"""One pass over a stack: each resource is made or changed once those that it waits for are there.

Independent resources are worked on at the same time. Once one has failed nothing new begins, and what waits for
SageMaker stops waiting.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from warmstack.local.aws.errors import ResourceError
from warmstack.local.aws.resources.expected import check_properties
from warmstack.local.aws.resources.registry import handler_of
from warmstack.local.aws.stacks.differences import difference
from warmstack.local.aws.stacks.live import LiveTemplate
from warmstack.local.aws.stacks.records import Resource, Stack
from warmstack.local.aws.stacks.removal import on_undo
from warmstack.local.aws.stacks.workshop import Workshop, custom_name

REPLACING = "Requested update requires the creation of a new physical resource; hence creating one."


class Rollout:
    """Brings the resources of a stack to a template.

    Args:
        workshop: Does each step.
        stack: The stack; its resources change as steps are done.
        template: Returns the template, answered by the stack as it is at the moment.
        waits: For each resource what it waits for, in an order in which they can be made.
    """

    def __init__(
        self,
        workshop: Workshop,
        stack: Stack,
        template: Callable[[], LiveTemplate],
        waits: Mapping[str, frozenset[str]],
    ) -> None:
        self._workshop = workshop
        self._stack = stack
        self._template = template
        self._waits = waits
        self._tasks: dict[str, asyncio.Task[bool]] = {}
        self.failed: dict[str, str] = {}
        """The logical ids of what failed, with how: create or update."""

    @property
    def is_stopped(self) -> bool:
        """Whether nothing new begins."""
        return bool(self.failed) or self._stack.is_cancelled

    async def run(self) -> bool:
        """Do every step; return whether all went well."""
        async with asyncio.TaskGroup() as group:
            for logical_id in self._waits:
                self._tasks[logical_id] = group.create_task(self._step(logical_id))
        return all(one.result() for one in self._tasks.values())

    async def _step(self, logical_id: str) -> bool:
        ready = await asyncio.gather(*(self._tasks[one] for one in sorted(self._waits[logical_id])))
        if not all(ready) or self.is_stopped:
            return False
        how = "delete"
        try:
            before = await self._whole(logical_id)
            how = "create" if before is None else "update"
            await self._bring(logical_id, before)
        except ResourceError:
            self.failed[logical_id] = how
            return False
        return True

    async def _whole(self, logical_id: str) -> Resource | None:
        """Return what is there to be changed; what failed half-way while it was made is removed before.

        So CloudFormation does it with what "has no last stable state", and SageMaker would refuse to update it.

        Raises:
            ResourceError: It could not be removed.
        """
        stack = self._stack
        there = stack.resources.get(logical_id)
        if there is None or not there.physical_id:
            return None
        if there.is_made:
            return there
        stack.forget([await self._workshop.remove(stack, there, policy=on_undo(there))])
        # What it was to replace is there still.
        left = [one for one in stack.leftovers if one.logical_id == logical_id]
        if not left:
            return None
        stack.leftovers.remove(left[-1])
        stack.resources[logical_id] = left[-1]
        return left[-1]

    async def _bring(self, logical_id: str, before: Resource | None) -> None:
        template = self._template()
        written = template.resource(logical_id)
        kind = str(written["Type"])
        wanted = Resource(
            logical_id=logical_id,
            kind=kind,
            metadata=written.get("Metadata"),
            uses=frozenset(self._stack.resources[one].key for one in self._waits[logical_id]),
            deletion_policy=str(written.get("DeletionPolicy", "Delete")),
            replace_policy=str(written.get("UpdateReplacePolicy", "Delete")),
            changed_at=self._workshop.journal.now(),
        )
        try:
            wanted = replace(wanted, properties=template.answered(logical_id))
            check_properties(kind, logical_id, wanted.properties)
        except Exception as error:
            raise self._workshop.failed(self._stack, before or wanted, _word(before), error) from error
        if before is None:
            self._stack.resources[logical_id] = await self._make(wanted)
            return
        handler = handler_of(kind)
        assert handler is not None
        found = difference(before, wanted.properties, handler)
        if found.is_replacement:
            self._stack.resources[logical_id] = await self._replace(before, wanted)
        elif found or before.status.endswith("_FAILED"):
            await self._change(before, wanted)
        else:
            self._stack.resources[logical_id] = _kept(before, wanted)

    async def _make(self, wanted: Resource, replaced: Resource | None = None) -> Resource:
        word, why = ("CREATE", "") if replaced is None else ("UPDATE", REPLACING)
        resources = self._stack.resources

        def began(resource: Resource) -> None:
            resources[resource.logical_id] = resource
            self._stack.fresh.append(resource)
            if replaced is not None:
                self._stack.leftovers.append(replaced)

        try:
            return await self._workshop.make(
                self._stack, wanted, word=word, is_stopped=lambda: self.is_stopped, began=began, why=why
            )
        except ResourceError as error:
            there = resources.get(wanted.logical_id)
            # Where nothing has begun, the one that was to be replaced is still in its place.
            if there is not replaced:
                wanted = there or wanted
                resources[wanted.logical_id] = replace(wanted, status=f"{word}_FAILED", reason=str(error))
            elif replaced is None:
                resources[wanted.logical_id] = replace(wanted, status=f"{word}_FAILED", reason=str(error))
            raise

    async def _replace(self, before: Resource, wanted: Resource) -> Resource:
        name = custom_name(before, wanted.properties)
        if name is not None:
            error = ResourceError(
                "CloudFormation cannot update a stack when a custom-named resource requires replacing. Rename "
                f"{name} and update the stack again."
            )
            raise self._workshop.failed(self._stack, before, "UPDATE", error)
        return await self._make(wanted, before)

    async def _change(self, before: Resource, wanted: Resource) -> None:
        resources = self._stack.resources
        resources[before.logical_id] = replace(before, status="UPDATE_IN_PROGRESS")
        try:
            resources[before.logical_id] = await self._workshop.change(
                self._stack, before, wanted, is_stopped=lambda: self.is_stopped
            )
        except ResourceError as error:
            # Nobody knows how far it came: it may need what it needed before, and what it was to need. A rollback
            # changes it back.
            tried = replace(
                wanted,
                physical_id=before.physical_id,
                attributes=before.attributes,
                uses=before.uses | wanted.uses,
                is_made=True,
            )
            resources[before.logical_id] = replace(tried, status="UPDATE_FAILED", reason=str(error))
            raise


def _kept(before: Resource, wanted: Resource) -> Resource:
    """Return a resource that stays as it is, with what only its stack has to know of it."""
    changed: dict[str, Any] = {
        name: getattr(wanted, name) for name in ("deletion_policy", "metadata", "replace_policy", "uses")
    }
    return replace(before, **changed)


def _word(before: Resource | None) -> str:
    return "UPDATE" if before is not None else "CREATE"
