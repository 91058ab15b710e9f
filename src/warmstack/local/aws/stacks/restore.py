"""Back to what a stack was: what was changed is changed back, what was replaced takes its place again."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import replace

from warmstack.local.aws.errors import ResourceError
from warmstack.local.aws.stacks.records import Resource, Snapshot, Stack
from warmstack.local.aws.stacks.workshop import Workshop


class Restore:
    """Brings the resources that a snapshot has back to it, in the order in which they wait for one another.

    Args:
        workshop: Does each step.
        stack: The stack.
        snapshot: What it was.
        skipped: The logical ids that are taken for restored.
    """

    def __init__(self, workshop: Workshop, stack: Stack, snapshot: Snapshot, skipped: Collection[str] = ()) -> None:
        self._workshop = workshop
        self._stack = stack
        self._snapshot = snapshot
        self._skipped = frozenset(skipped)
        self._tasks: dict[str, asyncio.Task[bool]] = {}
        self.failed: list[str] = []

    async def run(self) -> bool:
        """Do every step; return whether all went well."""
        async with asyncio.TaskGroup() as group:
            for logical_id in self._snapshot.resources:
                self._tasks[logical_id] = group.create_task(self._step(logical_id))
        return all(one.result() for one in self._tasks.values())

    async def _step(self, logical_id: str) -> bool:
        then = self._snapshot.resources[logical_id]
        waits = [self._tasks[one] for one in sorted(then.depends_on) if one in self._tasks]
        if not all(await asyncio.gather(*waits)):
            return False
        now = self._stack.resources.get(logical_id)
        try:
            self._stack.resources[logical_id] = await self._back(then, now)
        except ResourceError as error:
            assert now is not None, "only what is there is changed back"
            self._stack.resources[logical_id] = replace(now, status="UPDATE_FAILED", reason=str(error))
            self.failed.append(logical_id)
            return False
        return True

    async def _back(self, then: Resource, now: Resource | None) -> Resource:
        if now is None or logical_state(now) == logical_state(then):
            return then
        if then.logical_id in self._skipped:
            return replace(then, status="UPDATE_COMPLETE", reason="skipped by the rollback")
        if now.physical_id == then.physical_id:
            return await self._workshop.change(self._stack, now, then, is_stopped=lambda: False)
        # The one whose place was taken is still there: the removal of what was replaced comes last. It may have been
        # changed before that, by an update that failed and was kept as it was.
        left = [one for one in self._stack.leftovers if one.key == then.key]
        if left and logical_state(left[-1]) != logical_state(then):
            return await self._workshop.change(self._stack, left[-1], then, is_stopped=lambda: False)
        return self._workshop.journal.resource(self._stack, then, "UPDATE_COMPLETE")


def logical_state(resource: Resource) -> tuple[object, ...]:
    """Return what a step changes of a resource."""
    has_failed = resource.status.endswith("_FAILED")
    return (resource.physical_id, resource.properties, has_failed)
