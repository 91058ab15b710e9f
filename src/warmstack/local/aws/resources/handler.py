"""What a handler of a resource type is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from warmstack.local.aws.ports import Aws, SageMaker


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A resource that is there.

    Args:
        physical_id: Its id, which is also what ``Ref`` answers.
        attributes: What ``Fn::GetAtt`` answers.
        note: What the events say of it, where that is more than that it is there.
    """

    physical_id: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What handlers work with.

    Args:
        aws: The services that are no SageMaker.
        sagemaker: SageMaker.
        account: The account.
        home_region: The Region that SageMaker is in.
        sleep: Waits some seconds.
        suffix: Makes the random end of a name.
        recorded: What there is of the types that are recorded only: the type, the Region, the physical id.
    """

    aws: Aws
    sagemaker: SageMaker
    account: str
    home_region: str
    sleep: Callable[[float], Awaitable[None]]
    suffix: Callable[[], str]
    recorded: set[tuple[str, str, str]] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A resource to make or to change.

    Args:
        stack: The stack's name.
        logical_id: Its logical id.
        kind: Its type.
        properties: Its properties, with every function answered.
        region: The Region.
        around: What handlers work with.
        began: Is told what is there from now on, before it is finished: what fails after that is removed again.
        pause: Waits some seconds; raises CancelledError when another resource has failed meanwhile.
    """

    stack: str
    logical_id: str
    kind: str
    properties: Mapping[str, Any]
    region: str
    around: Surroundings
    began: Callable[[Made], None]
    pause: Callable[[float], Awaitable[None]]

    def name(self, name_property: str, *, longest: int = 63, is_lower: bool = False) -> str:
        """Return the name that the properties give, or a generated one: stack, logical id and random characters."""
        given = self.properties.get(name_property)
        if given is not None:
            return str(given)
        end = f"-{self.around.suffix()}"
        whole = f"{self.stack}-{self.logical_id}"[: longest - len(end)].rstrip("-") + end
        return whole.lower() if is_lower else whole

    async def aws(self, service: str, operation: str, members: Mapping[str, Any]) -> Mapping[str, Any]:
        """Call a service in the stack's Region; members that are None are left out."""
        given = {key: value for key, value in members.items() if value is not None}
        return await self.around.aws.call(service, operation, given, region=self.region)


@dataclass(frozen=True, slots=True, kw_only=True)
class Existing:
    """A resource that is there, as it was made.

    Args:
        physical_id: Its id.
        properties: What it was made from.
        attributes: What ``Fn::GetAtt`` answers of it.
    """

    physical_id: str
    properties: Mapping[str, Any]
    attributes: Mapping[str, Any]


class Handler(Protocol):
    """Makes, changes and removes the resources of a type."""

    @property
    def replaces(self) -> frozenset[str]:
        """The properties whose change needs another resource in the place of this one."""
        ...

    @property
    def name_property(self) -> str | None:
        """The property that gives the physical name, of which there can be one at a time."""
        ...

    @property
    def attributes(self) -> frozenset[str] | None:
        """What ``Fn::GetAtt`` can ask for; None for anything."""
        ...

    async def create(self, order: Order) -> Made:
        """Make it, and wait until it is ready.

        Raises:
            ResourceError: It cannot be made; what was made of it was told to ``order.began``.
        """
        ...

    async def update(self, order: Order, before: Existing) -> Made:
        """Change it in place, and wait until it is ready.

        Raises:
            ResourceError: It cannot be changed.
        """
        ...

    async def delete(self, order: Order, existing: Existing) -> None:
        """Remove it; one that is gone already is removed.

        Raises:
            ResourceError: It cannot be removed.
        """
        ...
