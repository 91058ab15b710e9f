"""What the operations share: reading what is wanted, beginning work on a stack, and answering a request once."""

from __future__ import annotations

import asyncio
import re
import traceback
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from warmstack.local.aws.cloudformation.templates import read_desired
from warmstack.local.aws.errors import ResourceError, StackError, invalid
from warmstack.local.aws.ports import Aws
from warmstack.local.aws.stacks.changes import Change, find_changes
from warmstack.local.aws.stacks.checks import check_template
from warmstack.local.aws.stacks.executor import Executor, Waits
from warmstack.local.aws.stacks.journal import Journal
from warmstack.local.aws.stacks.records import Desired, Stack
from warmstack.local.aws.stacks.store import Store

Members = Mapping[str, Any]
Operation = Callable[[Members, str], Awaitable[Members]]
STACK_NAME = re.compile(r"[a-zA-Z][-a-zA-Z0-9]{0,127}")
UPDATABLE = frozenset(
    {"CREATE_COMPLETE", "CREATE_FAILED", "UPDATE_COMPLETE", "UPDATE_FAILED", "UPDATE_ROLLBACK_COMPLETE"}
)
NO_UPDATES = "No updates are to be performed."


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a request wants a stack to be, checked.

    Args:
        desired: The template, parameters and tags.
        waits: For each resource what it waits for, in an order in which they can be made.
    """

    desired: Desired
    waits: Waits


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What the operations work with.

    Args:
        store: The stacks.
        executor: Does the work.
        journal: Writes events.
        aws: Has S3 and the Parameter Store.
        linger_seconds: How long a description waits for a stack that is being worked on.
    """

    store: Store
    executor: Executor
    journal: Journal
    aws: Aws
    linger_seconds: float
    answered: dict[tuple[str, ...], tuple[str, asyncio.Future[Members]]] = field(default_factory=dict)

    async def read(self, members: Members, stack: Stack, *, is_new: bool) -> Wanted:
        """Read and check what a request wants a stack to be.

        Raises:
            StackError: It cannot be deployed.
        """
        before = None if is_new else stack
        desired = await read_desired(members, before, aws=self.aws, region=stack.region)
        template = self.executor.template(stack, desired, {})
        given = members.get("Capabilities", [])
        return Wanted(desired=desired, waits=check_template(template, capabilities=given))

    def changes(self, stack: Stack, wanted: Wanted) -> tuple[Change, ...]:
        """Return what an update to what is wanted would do."""
        return find_changes(
            stack, wanted.waits, lambda resources: self.executor.template(stack, wanted.desired, resources)
        )

    def is_same(self, stack: Stack, wanted: Wanted, changes: Sequence[Change]) -> bool:
        """Return whether an update would do nothing at all."""
        then, now = stack.desired, wanted.desired
        if changes or stack.status in ("CREATE_FAILED", "UPDATE_FAILED"):
            return False
        if (then.document.get("Outputs"), dict(then.tags)) != (now.document.get("Outputs"), dict(now.tags)):
            return False
        try:
            # What is written alike may have another value: by a parameter, a mapping, a condition, or an import.
            return self.executor.outputs(stack, now, wanted.waits) == stack.outputs
        except ResourceError:
            # The update says why.
            return False

    def check_updatable(self, stack: Stack) -> None:
        """Refuse to update a stack that is being worked on, or that is not whole.

        Raises:
            StackError: It is.
        """
        if stack.status not in UPDATABLE:
            raise invalid(f"Stack:{stack.id} is in {stack.status} state and can not be updated.")

    def begin(self, stack: Stack, members: Members, work: Coroutine[Any, Any, None]) -> None:
        """Let work on a stack begin; it goes on after the answer.

        Args:
            stack: The stack.
            members: The request, for what it says of the stack itself.
            work: What is to be done.
        """
        # What any change set was made from is no longer so.
        stack.change_sets.clear()
        stack.token = members.get("ClientRequestToken")
        stack.role_arn = members.get("RoleARN", stack.role_arn)
        stack.capabilities = tuple(members.get("Capabilities", stack.capabilities))
        stack.notification_arns = tuple(members.get("NotificationARNs", stack.notification_arns))
        stack.work = asyncio.get_running_loop().create_task(self._to_its_end(stack, work))

    async def _to_its_end(self, stack: Stack, work: Coroutine[Any, Any, None]) -> None:
        """Do the work; a defect ends it with a status, too, so that nobody waits for ever."""
        try:
            await work
        except Exception as error:
            traceback.print_exception(error)
            if not stack.is_busy:
                return
            whole = stack.status.removesuffix("_IN_PROGRESS").removesuffix("_COMPLETE_CLEANUP")
            self.journal.stack(
                stack, f"{whole}_FAILED", f"a defect of the local AWS, whose log says where: {_first(error)}"
            )

    async def linger(self, stack: Stack) -> None:
        """Wait a moment for a stack that is being worked on.

        The CDK CLI looks every five seconds: an answer that comes when the work ends saves most of them.
        """
        if stack.is_busy and stack.work is not None:
            await asyncio.wait({stack.work}, timeout=self.linger_seconds)

    def new(self, name: str, region: str) -> Stack:
        """Return a stack that is not yet in the store.

        Raises:
            StackError: It cannot have that name.
        """
        if not STACK_NAME.fullmatch(name):
            raise invalid(
                f"1 validation error detected: Value '{name}' at 'stackName' failed to satisfy constraint: Member must "
                "satisfy regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*"
            )
        return self.store.new(name, region, Desired(text="", document={}), self.journal.now())

    async def once(
        self, key: tuple[str, ...], token: str | None, members: Members, answer: Callable[[], Awaitable[Members]]
    ) -> Members:
        """Answer a request with a token once; the same one again gets the same answer.

        Raises:
            StackError: Another request had the token.
        """
        if token is None:
            return await answer()
        whole, request = (*key, token), repr(sorted(members.items()))
        # Those that come meanwhile wait for the one answer.
        if whole not in self.answered:
            self.answered[whole] = request, asyncio.ensure_future(answer())
        first, asked = self.answered[whole]
        if first != request:
            raise StackError("TokenAlreadyExistsException", f"Another request had the token {token}")
        try:
            # Guard: one caller that goes away must not end what others wait for.
            return await asyncio.shield(asked)
        except Exception:
            # What was refused may be asked for again.
            if self.answered.get(whole) == (first, asked):
                del self.answered[whole]
            raise

    def forget(self, stack: Stack) -> None:
        """Forget what was answered about a stack: one that is deleted may be created again."""
        for key in [one for one in self.answered if one[1] == stack.region and one[2] in (stack.name, stack.id)]:
            del self.answered[key]


def _first(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"
