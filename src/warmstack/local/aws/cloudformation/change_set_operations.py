"""Operations on change sets: what would change is found when the set is made, and done when it is executed."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from warmstack.local.aws.cloudformation.desk import STACK_NAME, Desk, Members, Operation, Wanted
from warmstack.local.aws.cloudformation.documents import change_set_document, change_set_summary
from warmstack.local.aws.cloudformation.finding import find_change_set, named, stack_of_set
from warmstack.local.aws.errors import StackError, invalid
from warmstack.local.aws.stacks.changes import described, refused_types
from warmstack.local.aws.stacks.records import ChangeSet, Stack
from warmstack.local.aws.stacks.secrets import secrets_of

NO_CHANGES = "The submitted information didn't contain changes. Submit different information to create a change set."


class ChangeSetOperations:
    """Makes, shows and executes change sets.

    Args:
        desk: What it works with.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.operations: Mapping[str, Operation] = {
            "CreateChangeSet": self._create,
            "DeleteChangeSet": self._delete,
            "DescribeChangeSet": self._describe,
            "ExecuteChangeSet": self._execute,
            "ListChangeSets": self._list,
        }

    async def _create(self, members: Members, region: str) -> Members:
        key = ("CreateChangeSet", region, str(members["StackName"]), str(members["ChangeSetName"]))
        return await self._desk.once(key, members.get("ClientToken"), members, lambda: self._made(members, region))

    async def _made(self, members: Members, region: str) -> Members:
        desk = self._desk
        kind = str(members.get("ChangeSetType", "UPDATE"))
        name = str(members["StackName"])
        there = desk.store.find(name, region)
        if kind == "IMPORT":
            raise invalid("the local AWS does not import resources into stacks")
        is_new = there is None or there.status == "REVIEW_IN_PROGRESS"
        if kind == "CREATE" and not is_new:
            raise invalid(f"Stack [{name}] already exists and cannot be created again with the changeSet "
                          f"[{members['ChangeSetName']}].")  # fmt: skip
        if kind == "UPDATE" and (there is None or there.is_deleted):
            raise invalid(f"Stack [{name}] does not exist")
        if kind == "UPDATE" and there is not None and is_new:
            raise invalid(f"Stack:{there.id} is in {there.status} state and can not be updated.")
        stack = there or desk.new(name, region)
        if not is_new:
            desk.check_updatable(stack)
        wanted = await desk.read(members, stack, is_new=is_new)
        if desk.store.find(name, region) is not there:
            raise invalid(f"Stack [{name}] was made or deleted by another request meanwhile; send this one again")
        change_set = self._change_set(stack, members, kind, wanted)
        if there is None:
            desk.store.add(stack)
            desk.journal.stack(stack, "REVIEW_IN_PROGRESS", "User Initiated")
        stack.change_sets[change_set.id] = change_set
        return {"Id": change_set.id, "StackId": stack.id}

    def _change_set(self, stack: Stack, members: Members, kind: str, wanted: Wanted) -> ChangeSet:
        name = str(members["ChangeSetName"])
        if not STACK_NAME.fullmatch(name):
            raise invalid(
                f"1 validation error detected: Value '{name}' at 'changeSetName' failed to satisfy constraint: Member "
                "must satisfy regular expression pattern: [a-zA-Z][-a-zA-Z0-9]*"
            )
        if any(one.name == name for one in stack.change_sets.values()):
            raise StackError("AlreadyExistsException", f"ChangeSet {name} already exists for stack {stack.id}")
        refused = refused_types(stack, wanted.desired, wanted.waits)
        changes = () if refused else self._desk.changes(stack, wanted)
        found = ChangeSet(
            name=name,
            id=self._desk.store.arn(stack.region, f"changeSet/{name}/{uuid.uuid4()}"),
            kind=kind,
            desired=wanted.desired,
            waits=wanted.waits,
            changes=changes,
            description=members.get("Description"),
            created=self._desk.journal.now(),
            options={key: members[key] for key in ("Capabilities", "NotificationARNs", "RoleARN") if key in members},
            on_failure=members.get("OnStackFailure"),
        )
        if refused:
            found.status, found.execution, found.reason = "FAILED", "UNAVAILABLE", refused
        elif self._desk.is_same(stack, wanted, changes) and kind != "CREATE":
            found.status, found.execution, found.reason = "FAILED", "UNAVAILABLE", NO_CHANGES
        return found

    async def _describe(self, members: Members, region: str) -> Members:
        stack, change_set = find_change_set(self._desk.store, members, region)
        with_values = bool(members.get("IncludePropertyValues"))
        secrets = stack.secrets | secrets_of(change_set.desired)
        changes = [described(one, with_values=with_values, secrets=secrets) for one in change_set.changes]
        return {
            **change_set_document(stack, change_set, changes),
            "OnStackFailure": change_set.on_failure,
        }

    async def _execute(self, members: Members, region: str) -> Members:
        # By what the request says: once a set is executed it is no longer there, and the answer may have been lost.
        key = ("ExecuteChangeSet", region, str(members.get("StackName", "")), str(members["ChangeSetName"]))
        token = members.get("ClientRequestToken")
        return await self._desk.once(key, token, members, lambda: self._done(members, region))

    async def _done(self, members: Members, region: str) -> Members:
        desk = self._desk
        stack, change_set = find_change_set(self._desk.store, members, region)
        if change_set.execution != "AVAILABLE":
            raise StackError(
                "InvalidChangeSetStatus",
                f"ChangeSet [{change_set.id}] cannot be executed in its current status of "
                f"[{change_set.status if change_set.status != 'CREATE_COMPLETE' else change_set.execution}]",
            )
        is_creation = stack.status == "REVIEW_IN_PROGRESS"
        if not is_creation:
            desk.check_updatable(stack)
        keep = bool(members.get("DisableRollback"))
        stack.disable_rollback = keep
        desired, waits = change_set.desired, change_set.waits
        stack.secrets |= secrets_of(desired)
        if is_creation:
            on_failure = change_set.on_failure or ("DO_NOTHING" if keep else "ROLLBACK")
            stack.status = "CREATE_IN_PROGRESS"
            work = desk.executor.create(stack, desired, waits, on_failure=on_failure)
        else:
            stack.status = "UPDATE_IN_PROGRESS"
            work = desk.executor.update(stack, desired, waits, keep_failed=keep)
        desk.begin(stack, {**change_set.options, **members}, work)
        return {}

    async def _delete(self, members: Members, region: str) -> Members:
        stack = stack_of_set(self._desk.store, members, region)
        if stack is not None:
            found = named(stack, str(members["ChangeSetName"]))
            if found is not None:
                del stack.change_sets[found.id]
        return {}

    async def _list(self, members: Members, region: str) -> Members:
        stack = self._desk.store.get(str(members["StackName"]), region)
        return {"Summaries": [change_set_summary(stack, one) for one in stack.change_sets.values()]}
