"""One step of one resource: the call of its handler, with what the events say before and after."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from warmstack.errors import WarmstackError
from warmstack.local.aws.errors import CancelledError, ResourceError
from warmstack.local.aws.resources.handler import Existing, Handler, Made, Order, Surroundings
from warmstack.local.aws.resources.registry import handler_of
from warmstack.local.aws.stacks.journal import Journal
from warmstack.local.aws.stacks.records import Resource, Stack

INITIATED = "Resource creation Initiated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """What every step needs.

    Args:
        journal: Writes events.
        around: What handlers work with.
    """

    journal: Journal
    around: Surroundings

    async def make(
        self,
        stack: Stack,
        resource: Resource,
        *,
        word: str,
        is_stopped: Callable[[], bool],
        began: Callable[[Resource], None],
        why: str = "",
    ) -> Resource:
        """Make a resource.

        Args:
            stack: The stack.
            resource: What to make, without a physical id.
            word: CREATE, or UPDATE for one that takes the place of another.
            is_stopped: Whether another resource has failed.
            began: Is told of the resource as soon as there is something to remove.
            why: What the first event says.

        Raises:
            ResourceError: It could not be made; the events say so.
        """
        resource = self.journal.resource(stack, resource, f"{word}_IN_PROGRESS", why)
        known: list[Resource] = []

        def note(made: Made) -> None:
            if not known:
                found = replace(resource, physical_id=made.physical_id, attributes=made.attributes)
                known.append(self.journal.resource(stack, found, f"{word}_IN_PROGRESS", INITIATED))
                began(known[0])

        order = self._order(stack, resource, note, is_stopped, f"Resource {_noun(word)} cancelled")
        made = await self._done(stack, lambda: known[0] if known else resource, word, _handler(resource).create(order))
        assert made is not None
        note(made)
        found = replace(known[0], physical_id=made.physical_id, attributes=made.attributes, is_made=True)
        return self.journal.resource(stack, found, f"{word}_COMPLETE", made.note)

    async def change(
        self, stack: Stack, before: Resource, wanted: Resource, *, is_stopped: Callable[[], bool]
    ) -> Resource:
        """Change a resource in place.

        Raises:
            ResourceError: It could not be changed; the events say so.
        """
        wanted = replace(wanted, physical_id=before.physical_id, attributes=before.attributes, is_made=before.is_made)
        wanted = self.journal.resource(stack, wanted, "UPDATE_IN_PROGRESS")
        order = self._order(stack, wanted, lambda _: None, is_stopped, "Resource update cancelled")
        made = await self._done(stack, lambda: wanted, "UPDATE", _handler(wanted).update(order, existing(before)))
        assert made is not None
        found = replace(wanted, physical_id=made.physical_id, attributes=made.attributes)
        return self.journal.resource(stack, found, "UPDATE_COMPLETE", made.note)

    async def remove(self, stack: Stack, resource: Resource, *, policy: str) -> Resource:
        """Remove a resource, unless its policy says that it stays.

        Raises:
            ResourceError: It could not be removed; the events say so.
        """
        if policy == "Retain":
            return self.journal.resource(stack, resource, "DELETE_SKIPPED")
        resource = self.journal.resource(stack, resource, "DELETE_IN_PROGRESS")
        _show(stack, resource)
        order = self._order(stack, resource, lambda _: None, lambda: False, "")
        try:
            await self._done(stack, lambda: resource, "DELETE", _handler(resource).delete(order, existing(resource)))
        except ResourceError as error:
            _show(stack, replace(resource, status="DELETE_FAILED", reason=str(error)))
            raise
        return self.journal.resource(stack, resource, "DELETE_COMPLETE")

    def failed(self, stack: Stack, resource: Resource, word: str, error: Exception) -> ResourceError:
        """Write down that a step of a resource failed; return the error that says so."""
        reason = _reason(error)
        self.journal.resource(stack, resource, f"{word}_FAILED", reason)
        return error if isinstance(error, ResourceError) else ResourceError(reason)

    async def _done(
        self, stack: Stack, resource: Callable[[], Resource], word: str, step: Awaitable[Made | None]
    ) -> Made | None:
        try:
            return await step
        except Exception as error:
            raise self.failed(stack, resource(), word, error) from error

    def _order(
        self,
        stack: Stack,
        resource: Resource,
        began: Callable[[Made], None],
        is_stopped: Callable[[], bool],
        cancelled: str,
    ) -> Order:
        async def pause(seconds: float) -> None:
            await self.around.sleep(seconds)
            if is_stopped():
                raise CancelledError(cancelled)

        return Order(
            stack=stack.name,
            logical_id=resource.logical_id,
            kind=resource.kind,
            properties=resource.properties,
            region=stack.region,
            around=self.around,
            began=began,
            pause=pause,
        )


def existing(resource: Resource) -> Existing:
    """Return a resource as handlers get it."""
    return Existing(physical_id=resource.physical_id, properties=resource.properties, attributes=resource.attributes)


def custom_name(resource: Resource, properties: Mapping[str, Any]) -> str | None:
    """Return the fixed name that both a resource and its replacement have; None if they may both be there."""
    name_property = _handler(resource).name_property
    then, now = (one.get(name_property or "") for one in (resource.properties, properties))
    return str(now) if now is not None and then == now else None


def _show(stack: Stack, resource: Resource) -> None:
    """Have a stack show the status of a resource that is removed, unless another one has taken its place."""
    there = stack.resources.get(resource.logical_id)
    if there is not None and there.key == resource.key:
        stack.resources[resource.logical_id] = resource


def _handler(resource: Resource) -> Handler:
    found = handler_of(resource.kind)
    assert found is not None, f"{resource.kind} was checked before"
    return found


def _noun(word: str) -> str:
    return "update" if word == "UPDATE" else "creation"


def _reason(error: Exception) -> str:
    if isinstance(error, WarmstackError):
        return str(error)
    # Values inside of a property that have another form, or a defect: the log has the place.
    traceback.print_exception(error)
    return f"the local AWS could not use the properties: {type(error).__name__}: {error}"
