"""The stacks that there are: in memory, gone with the process."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import datetime

from warmstack.assembly.identities import partition_of
from warmstack.local.aws.errors import no_stack
from warmstack.local.aws.stacks.records import Desired, Stack


class Store:
    """Stacks by their ids.

    Args:
        account: The account.
    """

    def __init__(self, account: str) -> None:
        self._account = account
        self._stacks: dict[str, Stack] = {}

    def new(self, name: str, region: str, desired: Desired, now: datetime) -> Stack:
        """Return a stack with an id, which is not yet here."""
        return Stack(
            name=name, id=self.arn(region, f"stack/{name}/{uuid.uuid4()}"), region=region, created=now, desired=desired
        )

    def add(self, stack: Stack) -> None:
        """Take a stack."""
        self._stacks[stack.id] = stack

    def arn(self, region: str, resource: str) -> str:
        """Return an ARN of CloudFormation."""
        return f"arn:{partition_of(region)[0]}:cloudformation:{region}:{self._account}:{resource}"

    def find(self, name: str, region: str) -> Stack | None:
        """Return a stack by its name, or by its id; by its id also one that is gone."""
        if name.startswith("arn:"):
            return self._stacks.get(name)
        return next((one for one in self.there(region) if one.name == name), None)

    def get(self, name: str, region: str) -> Stack:
        """Return a stack by its name or id.

        Raises:
            StackError: There is none.
        """
        found = self.find(name, region)
        if found is None:
            raise no_stack(name)
        return found

    def all(self, region: str | None = None) -> Iterator[Stack]:
        """Yield every stack, the newest first, also those that are gone."""
        for stack in reversed(self._stacks.values()):
            if region in (None, stack.region):
                yield stack

    def there(self, region: str | None = None) -> Iterator[Stack]:
        """Yield the stacks that are there, the newest first."""
        return (one for one in self.all(region) if not one.is_deleted)

    def export(self, region: str, name: str) -> str | None:
        """Return the value of an export; None if there is none."""
        return next((value for _, export, value in self.exports(region) if export == name), None)

    def exported_by(self, region: str, name: str) -> str | None:
        """Return the id of the stack that has an export; None if none has."""
        return next((stack.id for stack, export, _ in self.exports(region) if export == name), None)

    def exports(self, region: str) -> Iterator[tuple[Stack, str, str]]:
        """Yield the exports of a Region: the stack, the name, the value; not of stacks that are on their way out."""
        for stack in self.there(region):
            for output in stack.outputs if stack.status != "DELETE_IN_PROGRESS" else ():
                if output.export is not None:
                    yield stack, output.export, output.value

    def imported_by(self, region: str, name: str) -> list[str]:
        """Return the names of the stacks that use an export."""
        return sorted(one.name for one in self.there(region) if name in one.imports)
