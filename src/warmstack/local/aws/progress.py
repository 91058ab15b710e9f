"""What stacks are waiting for, told now and then while that takes long."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from warmstack.assembly.unresolved import Problems
from warmstack.local.aws.stacks.journal import Report
from warmstack.local.aws.stacks.live import LiveTemplate
from warmstack.local.aws.stacks.records import STACK_TYPE, Event, Stack
from warmstack.local.aws.stacks.store import Store

_MOST = 5


class Progress:
    """Tells what is being made, and what waits for it.

    Args:
        store: The stacks.
        report: Is told.
    """

    def __init__(self, store: Store, report: Report) -> None:
        self._store = store
        self._report = report
        self._seen: dict[str, int] = {}

    async def run(self, seconds: float, sleep: Callable[[float], Awaitable[None]]) -> None:
        """Look again and again, for ever."""
        while True:
            await sleep(seconds)
            self.look()

    def look(self) -> None:
        """Tell of each stack to which nothing has happened since the last time."""
        for stack in self._store.there():
            if stack.is_busy and self._seen.get(stack.id) == len(stack.events):
                self._report(waiting_for(stack))
            self._seen[stack.id] = len(stack.events)


def waiting_for(stack: Stack) -> str:
    """Return what a stack is waiting for, in a sentence."""
    last: dict[str, Event] = {}
    for event in stack.events:
        if event.kind != STACK_TYPE:
            last[event.logical_id] = event
    busy = [one for one in last.values() if one.status.endswith("_IN_PROGRESS")]
    # Of an update only what has changed will have events, and nobody knows yet what that is.
    waiting = [one for one in _wanted(stack) if one not in last] if stack.status == "CREATE_IN_PROGRESS" else []
    doing = " and ".join(f"{one.logical_id} ({one.status.split('_', 1)[0].lower()})" for one in busy) or "nothing"
    rest = f"; {_named(waiting)} wait" if waiting else ""
    return f"stack {stack.name}: {stack.status}: working on {doing}{rest}"


def _wanted(stack: Stack) -> list[str]:
    """Return the logical ids of the resources that the template makes, as its conditions hold."""
    template = LiveTemplate(
        stack.desired,
        stack=stack.name,
        stack_id=stack.id,
        account=stack.id.split(":")[4],
        region=stack.region,
        problems=Problems(),
        resources={},
        imports=lambda _: None,
    )
    return template.resource_ids()


def _named(names: list[str]) -> str:
    shown = ", ".join(names[:_MOST])
    return shown if len(names) <= _MOST else f"{shown} and {len(names) - _MOST} more"
