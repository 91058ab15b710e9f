"""What happens to stacks, written down as events, and told."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from warmstack.local.aws.stacks.records import STACK_TYPE, Event, Resource, Stack
from warmstack.local.aws.stacks.secrets import masked

Report = Callable[[str], None]


class Journal:
    """Writes events.

    Args:
        now: The time, with its zone.
        report: Is told what is going on, a line each.
    """

    def __init__(self, now: Callable[[], datetime], report: Report) -> None:
        self.now = now
        self._report = report
        self._last = datetime.min.replace(tzinfo=UTC)

    def stack(self, stack: Stack, status: str, reason: str = "") -> None:
        """Set a stack's status."""
        reason = masked(reason, stack.secrets)
        stack.status, stack.reason = status, reason
        resource = Resource(logical_id=stack.name, kind=STACK_TYPE, physical_id=stack.id, changed_at=self.now())
        self._write(stack, replace(resource, status=status, reason=reason), event_id=str(uuid.uuid4()))
        self._report(f"stack {stack.name}: {status}{_because(reason)}")

    def resource(self, stack: Stack, resource: Resource, status: str, reason: str = "") -> Resource:
        """Write down a resource's status; return the resource with it."""
        reason = masked(reason, stack.secrets)
        found = replace(resource, status=status, reason=reason, changed_at=self.now())
        self._write(stack, found, event_id=f"{found.logical_id}-{status}-{uuid.uuid4()}", properties=found.properties)
        if not (resource.status == status and status.endswith("_IN_PROGRESS")):
            # That it has an id from now on is for clients; people read that it is being made.
            self._report(f"{stack.name}/{found.logical_id} ({found.kind}): {status}{_because(reason)}")
        return found

    def _write(
        self, stack: Stack, resource: Resource, *, event_id: str, properties: Mapping[str, Any] | None = None
    ) -> None:
        stack.events.append(
            Event(
                event_id=event_id,
                logical_id=resource.logical_id,
                kind=resource.kind,
                physical_id=resource.physical_id,
                status=resource.status,
                reason=resource.reason,
                at=self._later(),
                properties=properties,
                token=stack.token,
            )
        )

    def _later(self) -> datetime:
        """Return the time, a millisecond after the last event at least: clients sort events by milliseconds."""
        self._last = max(self.now(), self._last + timedelta(milliseconds=1))
        return self._last


def _because(reason: str) -> str:
    return f": {reason}" if reason else ""
