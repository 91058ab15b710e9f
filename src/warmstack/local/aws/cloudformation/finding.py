"""Which stack and which change set a request means: a set by its name in a stack, or by its id alone."""

from __future__ import annotations

from warmstack.local.aws.cloudformation.desk import Members
from warmstack.local.aws.errors import StackError
from warmstack.local.aws.stacks.records import ChangeSet, Stack
from warmstack.local.aws.stacks.store import Store


def stack_of_set(store: Store, members: Members, region: str) -> Stack | None:
    """Return the stack whose change set a request names; None if no stack has that set.

    Raises:
        StackError: The request names a stack that there is not.
    """
    name = members.get("StackName")
    if name is not None:
        return store.get(str(name), region)
    wanted = str(members["ChangeSetName"])
    return next((one for one in store.there(region) if wanted in one.change_sets), None)


def find_change_set(store: Store, members: Members, region: str) -> tuple[Stack, ChangeSet]:
    """Return the change set that a request names, with its stack.

    Raises:
        StackError: There is none.
    """
    name = str(members["ChangeSetName"])
    stack = stack_of_set(store, members, region)
    found = None if stack is None else named(stack, name)
    if stack is None or found is None:
        raise StackError("ChangeSetNotFound", f"ChangeSet [{name}] does not exist", 404)
    return stack, found


def named(stack: Stack, name: str) -> ChangeSet | None:
    """Return a change set of a stack by its name or its id; None if it has none."""
    return next((one for one in stack.change_sets.values() if name in (one.id, one.name)), None)
