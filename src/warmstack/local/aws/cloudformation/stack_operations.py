"""Operations that change stacks: create, update, delete, roll back, protect."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace

from warmstack.local.aws.cloudformation.desk import NO_UPDATES, Desk, Members, Operation
from warmstack.local.aws.errors import StackError, invalid
from warmstack.local.aws.stacks.changes import refused_types
from warmstack.local.aws.stacks.records import Resource, Stack
from warmstack.local.aws.stacks.secrets import secrets_of


class StackOperations:
    """Changes stacks.

    Args:
        desk: What it works with.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.operations: Mapping[str, Operation] = {
            "CancelUpdateStack": self._cancel,
            "ContinueUpdateRollback": self._continue_rollback,
            "CreateStack": self._create,
            "DeleteStack": self._delete,
            "RollbackStack": self._roll_back,
            "UpdateStack": self._update,
            "UpdateTerminationProtection": self._protect,
        }

    async def _create(self, members: Members, region: str) -> Members:
        name = str(members["StackName"])

        async def answer() -> Members:
            desk = self._desk
            there = desk.store.find(name, region)
            if there is not None:
                raise StackError("AlreadyExistsException", f"Stack [{name}] already exists")
            stack = desk.new(name, region)
            wanted = await desk.read(members, stack, is_new=True)
            if desk.store.find(name, region) is not None:
                raise StackError("AlreadyExistsException", f"Stack [{name}] already exists")
            stack.is_protected = bool(members.get("EnableTerminationProtection"))
            stack.disable_rollback = bool(members.get("DisableRollback"))
            default = "DO_NOTHING" if stack.disable_rollback else "ROLLBACK"
            on_failure = str(members.get("OnFailure", default))
            stack.secrets |= secrets_of(wanted.desired)
            desk.store.add(stack)
            # The status says from now on that it is worked on.
            stack.status = "CREATE_IN_PROGRESS"
            work = desk.executor.create(stack, wanted.desired, wanted.waits, on_failure=on_failure)
            desk.begin(stack, members, work)
            return {"StackId": stack.id}

        return await self._once("CreateStack", members, region, answer)

    async def _update(self, members: Members, region: str) -> Members:
        name = str(members["StackName"])

        async def answer() -> Members:
            desk = self._desk
            stack = desk.store.get(name, region)
            desk.check_updatable(stack)
            wanted = await desk.read(members, stack, is_new=False)
            if refused := refused_types(stack, wanted.desired, wanted.waits):
                raise invalid(refused)
            if desk.is_same(stack, wanted, desk.changes(stack, wanted)):
                raise invalid(NO_UPDATES)
            # Meanwhile somebody else may have begun.
            desk.check_updatable(stack)
            stack.disable_rollback = bool(members.get("DisableRollback"))
            stack.secrets |= secrets_of(wanted.desired)
            stack.status = "UPDATE_IN_PROGRESS"
            work = desk.executor.update(stack, wanted.desired, wanted.waits, keep_failed=stack.disable_rollback)
            desk.begin(stack, members, work)
            return {"StackId": stack.id}

        return await self._once("UpdateStack", members, region, answer)

    async def _delete(self, members: Members, region: str) -> Members:
        desk = self._desk
        stack = desk.store.find(str(members["StackName"]), region)
        if stack is None or stack.is_deleted:
            return {}  # as on AWS: what is not there is deleted
        if stack.is_protected:
            raise invalid(f"Stack [{stack.name}] cannot be deleted while TerminationProtection is enabled")
        if stack.status == "DELETE_IN_PROGRESS":
            return {}
        # A creation can be given up; an update leads somewhere first.
        is_creating = stack.status == "CREATE_IN_PROGRESS"
        if stack.is_busy and not is_creating:
            raise invalid(f"Stack [{stack.name}] cannot be deleted while in status {stack.status}")
        retained = members.get("RetainResources", [])
        if retained and stack.status != "DELETE_FAILED":
            raise invalid(
                f"Invalid operation on stack [{stack.id}]. RetainResources is for stacks in DELETE_FAILED, and this "
                f"one is in {stack.status}"
            )
        self._check_exports(stack)
        stack.is_cancelled = is_creating
        stack.status = "DELETE_IN_PROGRESS"
        desk.forget(stack)
        creation = stack.work if is_creating else None
        desk.begin(stack, members, desk.executor.delete(stack, retained, after=creation))
        return {}

    async def _cancel(self, members: Members, region: str) -> Members:
        stack = self._desk.store.get(str(members["StackName"]), region)
        if stack.status != "UPDATE_IN_PROGRESS":
            raise invalid(f"CancelUpdateStack cannot be called from current stack status {stack.status}")
        # What waits stops waiting, and the update rolls back.
        stack.is_cancelled = True
        return {}

    async def _roll_back(self, members: Members, region: str) -> Members:
        async def answer() -> Members:
            stack = self._desk.store.get(str(members["StackName"]), region)
            if stack.status not in ("CREATE_FAILED", "UPDATE_FAILED"):
                raise invalid(f"Stack:{stack.id} is in {stack.status} state and can not be rolled back.")
            if members.get("RetainExceptOnCreate"):
                _give_up_new(stack)
            self._roll(stack, members, [])
            return {"StackId": stack.id}

        return await self._once("RollbackStack", members, region, answer)

    async def _continue_rollback(self, members: Members, region: str) -> Members:
        async def answer() -> Members:
            stack = self._desk.store.get(str(members["StackName"]), region)
            if stack.status != "UPDATE_ROLLBACK_FAILED":
                raise invalid(f"Stack:{stack.id} is in {stack.status} state and can not continue update rollback.")
            skipped = members.get("ResourcesToSkip", [])
            failed = {name for name, one in stack.resources.items() if one.status == "UPDATE_FAILED"}
            if others := [one for one in skipped if one not in failed]:
                raise invalid(
                    f"ResourcesToSkip names {', '.join(others)}; only resources in UPDATE_FAILED can be skipped: "
                    f"{', '.join(sorted(failed)) or 'none is'}"
                )
            self._roll(stack, members, skipped)
            return {}

        return await self._once("ContinueUpdateRollback", members, region, answer)

    async def _once(
        self, operation: str, members: Members, region: str, answer: Callable[[], Awaitable[Members]]
    ) -> Members:
        key = (operation, region, str(members["StackName"]))
        return await self._desk.once(key, members.get("ClientRequestToken"), members, answer)

    def _roll(self, stack: Stack, members: Members, skipped: list[str]) -> None:
        creating = stack.whole is None
        stack.status = "ROLLBACK_IN_PROGRESS" if creating else "UPDATE_ROLLBACK_IN_PROGRESS"
        self._desk.begin(stack, members, self._desk.executor.roll_back(stack, "User Initiated", skipped))

    async def _protect(self, members: Members, region: str) -> Members:
        stack = self._desk.store.get(str(members["StackName"]), region)
        stack.is_protected = bool(members["EnableTerminationProtection"])
        return {"StackId": stack.id}

    def _check_exports(self, stack: Stack) -> None:
        for output in stack.outputs:
            users = self._desk.store.imported_by(stack.region, output.export) if output.export else []
            if users:
                raise invalid(f"Export {output.export} cannot be deleted as it is in use by {' and '.join(users)}")


def _give_up_new(stack: Stack) -> None:
    """Let a rollback remove what the failed operation has made, also where a policy would leave it there."""
    new = {one.key for one in stack.fresh}
    stack.fresh = [_unless_new(one, new) for one in stack.fresh]
    stack.leftovers = [_unless_new(one, new) for one in stack.leftovers]
    stack.resources = {name: _unless_new(one, new) for name, one in stack.resources.items()}


def _unless_new(resource: Resource, new: Collection[tuple[str, str]]) -> Resource:
    retained = resource.key in new and resource.deletion_policy == "Retain"
    return replace(resource, deletion_policy="RetainExceptOnCreate") if retained else resource
