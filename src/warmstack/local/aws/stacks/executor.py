"""What is done to stacks: created, updated, rolled back, deleted; and what their status says meanwhile.

::

    create ─▶ CREATE_COMPLETE                      update ─▶ UPDATE_COMPLETE_CLEANUP_IN_PROGRESS ─▶ UPDATE_COMPLETE
       └ failed ─▶ ROLLBACK_COMPLETE                  └ failed ─▶ UPDATE_ROLLBACK_…CLEANUP… ─▶ UPDATE_ROLLBACK_COMPLETE

What was replaced is removed at the end, when nothing refers to it any more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from warmstack.assembly.unresolved import Problems
from warmstack.local.aws.errors import ResourceError
from warmstack.local.aws.stacks.live import LiveTemplate
from warmstack.local.aws.stacks.outputs import answer_outputs, check_exports, resolve_outputs
from warmstack.local.aws.stacks.records import Desired, Output, Resource, Snapshot, Stack, everything
from warmstack.local.aws.stacks.removal import Removal, on_delete, on_replace, on_undo
from warmstack.local.aws.stacks.restore import Restore
from warmstack.local.aws.stacks.rollout import Rollout
from warmstack.local.aws.stacks.workshop import Workshop

USER_INITIATED = "User Initiated"
Waits = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Executor:
    """Does what is asked of a stack, from the first event to the last.

    Args:
        workshop: Does each step.
        exports: Returns the value of an export of a Region's stacks; None if there is none.
        exported_by: Returns the id of the stack that has an export.
        imported_by: Returns the names of the stacks that use an export.
    """

    workshop: Workshop
    exports: Callable[[str, str], str | None]
    exported_by: Callable[[str, str], str | None]
    imported_by: Callable[[str, str], list[str]]

    def template(
        self, stack: Stack, desired: Desired, resources: Mapping[str, Resource], used: set[str] | None = None
    ) -> LiveTemplate:
        """Return a template that is answered by resources that are there.

        Args:
            stack: The stack.
            desired: The template and its parameters.
            resources: What is there.
            used: Gets the names of the exports that are asked for.
        """

        def imported(name: str) -> str | None:
            if used is not None:
                used.add(name)
            return self.exports(stack.region, name)

        return LiveTemplate(
            desired,
            stack=stack.name,
            stack_id=stack.id,
            account=self.workshop.around.account,
            region=stack.region,
            problems=Problems(),
            resources=resources,
            imports=imported,
        )

    async def create(self, stack: Stack, desired: Desired, waits: Waits, *, on_failure: str) -> None:
        """Create a stack.

        Args:
            stack: The stack.
            desired: What it is to be.
            waits: For each resource what it waits for.
            on_failure: ROLLBACK, DELETE or DO_NOTHING.
        """
        journal = self.workshop.journal
        stack.desired = desired
        imports = self._hold_imports(stack, desired, waits)
        journal.stack(stack, "CREATE_IN_PROGRESS", USER_INITIATED)
        reason = await self._roll_out(stack, desired, waits)
        if stack.is_cancelled:
            return
        if reason is None:
            self._settle(stack, desired, "CREATE_COMPLETE", imports=imports)
        elif on_failure == "DO_NOTHING":
            journal.stack(stack, "CREATE_FAILED", reason)
        else:
            await self._undo_creation(stack, f"{reason} Rollback requested by user.")
            if on_failure == "DELETE" and stack.status == "ROLLBACK_COMPLETE":
                await self.delete(stack)

    async def update(self, stack: Stack, desired: Desired, waits: Waits, *, keep_failed: bool) -> None:
        """Update a stack.

        Args:
            stack: The stack.
            desired: What it is to be.
            waits: For each resource what it waits for.
            keep_failed: Whether a failed update stays as it is, instead of being rolled back.
        """
        journal = self.workshop.journal
        stack.updated = journal.now()
        # A creation that failed has left nothing that a rollback could lead to but an empty stack.
        if stack.whole is None and stack.was_whole:
            stack.whole = Snapshot(
                desired=stack.desired,
                resources=dict(stack.resources),
                outputs=stack.outputs,
                imports=frozenset(stack.imports),
            )
        stack.desired = desired
        imports = self._hold_imports(stack, desired, waits)
        journal.stack(stack, "UPDATE_IN_PROGRESS", USER_INITIATED)
        reason = await self._roll_out(stack, desired, waits)
        if stack.is_cancelled:
            stack.is_cancelled = False
            await self.roll_back(stack, USER_INITIATED)
        elif reason is None:
            journal.stack(stack, "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")
            gone = [one for name, one in stack.resources.items() if name not in waits]
            for one in gone:
                del stack.resources[one.logical_id]
            await self._clean(stack, gone, stack.leftovers)
            self._settle(stack, desired, "UPDATE_COMPLETE", imports=imports)
        elif keep_failed:
            journal.stack(stack, "UPDATE_FAILED", reason)
        else:
            await self.roll_back(stack, reason)

    async def roll_back(self, stack: Stack, reason: str, skipped: Collection[str] = ()) -> None:
        """Bring a stack whose creation or update failed back to what it was.

        Args:
            stack: The stack.
            reason: Why.
            skipped: The logical ids that are taken for rolled back.
        """
        journal = self.workshop.journal
        then = stack.whole
        if then is None:
            await self._undo_creation(stack, reason)
            return
        journal.stack(stack, "UPDATE_ROLLBACK_IN_PROGRESS", reason)
        made = {one.key for one in stack.fresh}
        # As they are now: the restoration puts others in the place of some of them.
        fresh = [one for one in everything(stack) if one.key in made]
        restore = Restore(self.workshop, stack, then, skipped)
        if not await restore.run():
            what = f"The following resource(s) failed to update: [{', '.join(sorted(restore.failed))}]."
            journal.stack(stack, "UPDATE_ROLLBACK_FAILED", what)
            return
        journal.stack(stack, "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS")
        stack.resources = {name: stack.resources[name] for name in then.resources}
        kept = {one.key for one in stack.resources.values()}
        # What took the place of something goes first, and nothing refers to any of it now.
        await Removal(self.workshop, stack, [one for one in fresh if one.key not in kept], on_undo).run()
        stack.outputs = then.outputs
        self._settle(stack, then.desired, "UPDATE_ROLLBACK_COMPLETE", imports=then.imports)

    async def delete(
        self, stack: Stack, retained: Sequence[str] = (), *, after: asyncio.Task[None] | None = None
    ) -> None:
        """Delete a stack with its resources.

        Args:
            stack: The stack.
            retained: The logical ids of resources that stay.
            after: Its creation, which is cancelled, and has to come to its end first.
        """
        journal = self.workshop.journal
        journal.stack(stack, "DELETE_IN_PROGRESS", USER_INITIATED)
        if after is not None:
            # Whatever became of it: what it has made goes.
            await asyncio.wait({after})
            stack.is_cancelled = False
        removal = Removal(
            self.workshop,
            stack,
            everything(stack),
            lambda one: "Retain" if one.logical_id in retained else on_delete(one),
        )
        if await removal.run():
            stack.resources = {one.logical_id: one for one in removal.removed}
            stack.outputs = ()
            stack.deleted = journal.now()
            journal.stack(stack, "DELETE_COMPLETE")
            return
        stack.forget(removal.removed, with_unmade=True)
        failed = ", ".join(sorted(removal.failed))
        journal.stack(stack, "DELETE_FAILED", f"The following resource(s) failed to delete: [{failed}].")

    def _hold_imports(self, stack: Stack, desired: Desired, waits: Waits) -> set[str]:
        """Return the exports that a template uses; from now on nobody takes them away."""
        used: set[str] = set()
        # Guard: not as resources come to ask for them, which may be minutes after the stack began to count on them.
        template = self.template(stack, desired, {}, used)
        for logical_id in waits:
            template.resolve(template.properties(logical_id), logical_id)
        resolve_outputs(template)
        stack.imports |= used
        return used

    async def _roll_out(self, stack: Stack, desired: Desired, waits: Waits) -> str | None:
        """Make and change resources; return why that failed."""
        rollout = Rollout(self.workshop, stack, lambda: self.template(stack, desired, stack.resources), waits)
        if not await rollout.run():
            words = sorted(set(rollout.failed.values()))
            parts = [
                f"The following resource(s) failed to {word}: "
                f"[{', '.join(sorted(name for name, one in rollout.failed.items() if one == word))}]."
                for word in words
            ]
            return " ".join(parts)
        try:
            outputs = self.outputs(stack, desired, waits)
            check_exports(
                outputs,
                before=stack.outputs,
                owner=lambda export: self._other_owner(stack, export),
                users=lambda export: self.imported_by(stack.region, export),
            )
        except ResourceError as error:
            return str(error)
        stack.outputs = outputs
        return None

    def outputs(self, stack: Stack, desired: Desired, waits: Waits) -> tuple[Output, ...]:
        """Return the outputs of a stack whose resources are there.

        Raises:
            ResourceError: One of them has no value.
        """
        there = {name: stack.resources[name] for name in waits}
        return answer_outputs(self.template(stack, desired, there))

    def _other_owner(self, stack: Stack, export: str) -> str | None:
        owner = self.exported_by(stack.region, export)
        return None if owner == stack.id else owner

    def _settle(self, stack: Stack, desired: Desired, status: str, *, imports: Collection[str]) -> None:
        """Set the status of a stack that is whole again."""
        stack.desired = desired
        stack.imports = set(imports)
        stack.whole = None
        stack.was_whole = status != "ROLLBACK_COMPLETE"
        stack.fresh.clear()
        stack.leftovers.clear()
        self.workshop.journal.stack(stack, status)

    async def _clean(self, stack: Stack, gone: Sequence[Resource], replaced: Sequence[Resource]) -> None:
        # What cannot be removed stays, and the stack no longer knows it: CloudFormation leaves it at that, too.
        taken = {id(one) for one in replaced}
        removal = Removal(
            self.workshop,
            stack,
            [*replaced, *gone],
            lambda one: on_replace(one) if id(one) in taken else on_delete(one),
        )
        await removal.run()

    async def _undo_creation(self, stack: Stack, reason: str) -> None:
        journal = self.workshop.journal
        journal.stack(stack, "ROLLBACK_IN_PROGRESS", reason)
        removal = Removal(self.workshop, stack, everything(stack), on_undo)
        is_gone = await removal.run()
        stack.forget(removal.removed, with_unmade=True)
        if is_gone:
            stack.outputs = ()
            self._settle(stack, stack.desired, "ROLLBACK_COMPLETE", imports=())
            return
        failed = ", ".join(sorted(removal.failed))
        journal.stack(stack, "ROLLBACK_FAILED", f"The following resource(s) failed to delete: [{failed}].")
