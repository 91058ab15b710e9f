"""Resources are removed in the reverse of the order in which they were made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from warmstack.local.aws.errors import ResourceError
from warmstack.local.aws.stacks.records import Resource, Stack
from warmstack.local.aws.stacks.workshop import Workshop

Policy = Callable[[Resource], str]


class Removal:
    """Removes resources, each after those that were made after it.

    Args:
        workshop: Does each step.
        stack: The stack.
        resources: What to remove; there may be several of one logical id, of which others took the place.
        policy: Says whether one stays.
    """

    def __init__(self, workshop: Workshop, stack: Stack, resources: Sequence[Resource], policy: Policy) -> None:
        self._workshop = workshop
        self._stack = stack
        self._resources = [one for one in resources if one.physical_id]
        self._policy = policy
        self._tasks: dict[tuple[str, str], asyncio.Task[bool]] = {}
        self.removed: list[Resource] = []
        """What is gone, or was left alone because its policy says so."""
        self.failed: list[str] = []
        """The logical ids of what could not be removed."""

    async def run(self) -> bool:
        """Do every step; return whether all went well."""
        async with asyncio.TaskGroup() as group:
            for one in reversed(self._resources):
                self._tasks[one.key] = group.create_task(self._step(one))
        return all(one.result() for one in self._tasks.values())

    async def _step(self, resource: Resource) -> bool:
        # Every task is there before the first one runs. By the physical id: what took the place of something else may
        # need it the other way round.
        after = [self._tasks[one.key] for one in self._resources if resource.key in one.uses]
        if not all(await asyncio.gather(*after)):
            return False
        try:
            self.removed.append(await self._workshop.remove(self._stack, resource, policy=self._policy(resource)))
        except ResourceError:
            self.failed.append(resource.logical_id)
            return False
        return True


def on_delete(resource: Resource) -> str:
    """Return what the template says about a resource that leaves it: Delete or Retain."""
    return "Delete" if resource.deletion_policy == "Delete" else "Retain"


def on_undo(resource: Resource) -> str:
    """Return what the template says about a resource whose creation is taken back."""
    return "Delete" if resource.deletion_policy == "RetainExceptOnCreate" else on_delete(resource)


def on_replace(resource: Resource) -> str:
    """Return what the template says about a resource whose place another one takes."""
    return resource.replace_policy
