"""What there is to see of stacks, as one document: GET /_warmstack/stacks."""

from __future__ import annotations

from typing import Any

from starlette.types import Receive, Scope, Send

from warmstack.local.api.replies import json_response
from warmstack.local.aws.stacks.records import STACK_TYPE, Event, Stack
from warmstack.local.aws.stacks.store import Store

PATH = "/_warmstack/stacks"
LAST_EVENTS = 5
BEGINNINGS = ("CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS", "DELETE_IN_PROGRESS")


class StacksPage:
    """Answers with the stacks.

    Args:
        store: The stacks.
        account: The account.
        region: The Region that SageMaker is in.
    """

    def __init__(self, store: Store, *, account: str, region: str) -> None:
        self._store = store
        self._account = account
        self._region = region

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as ASGI calls it."""
        document = {
            "source": "the local AWS",
            "account": self._account,
            "region": self._region,
            "stacks": [_stack(one) for one in self._store.there()],
        }
        await json_response(document)(scope, receive, send)


def _stack(stack: Stack) -> dict[str, Any]:
    return {
        "name": stack.name,
        "region": stack.region,
        "status": stack.status,
        "reason": stack.reason,
        "resources": sum(1 for one in stack.resources.values() if one.physical_id),
        "outputs": {one.key: one.value for one in stack.outputs},
        "failure": _failure(stack),
        "last_events": [_event(one) for one in reversed(stack.events[-LAST_EVENTS:])],
    }


def _failure(stack: Stack) -> dict[str, Any] | None:
    """Return what failed first in the last thing that was done to a stack: all that follows comes of it."""
    last: list[Event] = []
    for one in stack.events:
        if one.kind == STACK_TYPE and one.status in BEGINNINGS:
            last = []
        last.append(one)
    return next((_event(one) for one in last if one.status.endswith("_FAILED")), None)


def _event(event: Event) -> dict[str, Any]:
    return {
        "logical_id": event.logical_id,
        "type": event.kind,
        "status": event.status,
        "reason": event.reason,
        "at": event.at.isoformat(),
    }
