"""An endpoint that runs: its variants, components, copies and sessions, and who can serve a request."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from warmstack.assembly import ComponentDefinition, EndpointDefinition, VariantDefinition
from warmstack.local.platform.copies import Copy, CopyState, Instance
from warmstack.routing import RoutingChoices, RoutingRules, RoutingStrategy, SessionTable


@dataclass(slots=True, kw_only=True)
class Progress:
    """Where a resource of SageMaker is in its life.

    Args:
        status: As SageMaker says it: Creating, InService, Updating, Deleting, Failed.
        failure: Why the last change failed; empty if it did not.
        changed_at: When it was last changed, in seconds since the epoch.
    """

    status: str = "InService"
    failure: str = ""
    changed_at: float = 0.0


@dataclass(slots=True, kw_only=True, eq=False)
class Variant:
    """A production variant that runs.

    Args:
        definition: What the template says.
        rules: How its requests are routed.
        instances: Those that are there.
        desired_instances: How many there are to be.
    """

    definition: VariantDefinition
    rules: RoutingRules
    instances: list[Instance] = field(default_factory=list)
    desired_instances: int = 0


@dataclass(slots=True, kw_only=True, eq=False)
class Component:
    """An inference component that runs.

    Args:
        definition: What the template says.
        desired_copies: How many copies there are to be; an adapter has none of its own.
        refuses: Whether it has no capacity, because a fault says so.
        reduction: That it has fewer copies than its caller asks for, and why; empty if it has them all.
        progress: Where it is in its life.
        created_at: When it was made, in seconds since the epoch; 0 for one that came with its endpoint.
    """

    definition: ComponentDefinition
    desired_copies: int = 0
    refuses: bool = False
    reduction: str = ""
    progress: Progress = field(default_factory=Progress)
    created_at: float = 0.0

    @property
    def name(self) -> str:
        """Its name."""
        return self.definition.name

    @property
    def hosts(self) -> str:
        """The component whose copies serve it: itself, or an adapter's base."""
        return self.definition.base or self.definition.name

    @property
    def is_wanted(self) -> bool:
        """Whether copies that start load it, where it is an adapter: it has not failed, and is not to go."""
        return self.progress.status in ("Creating", "InService", "Updating")


class Outage:
    """A fault of a whole endpoint: it answers that it is not available."""

    def __init__(self) -> None:
        self._on = False
        self._left: int | None = None

    def begin(self, times: int | None) -> None:
        """Begin it, for some requests or, with None, for good."""
        self._on, self._left = True, times

    def clear(self) -> None:
        """End it."""
        self._on = False

    def meets(self) -> bool:
        """Return whether a request meets it, and count that request."""
        if self._on and self._left is not None:
            self._left -= 1
            self._on = self._left > 0
            return True
        return self._on


class Endpoint:
    """An endpoint that runs.

    Args:
        definition: What the template says.
        choices: What is not documented of routing.
        created_at: When it was made, in seconds since the epoch.
    """

    def __init__(self, definition: EndpointDefinition, *, choices: RoutingChoices, created_at: float) -> None:
        self.definition = definition
        self.created_at = created_at
        self.variants = {one.name: _variant(one, choices) for one in definition.variants}
        self.components = {one.name: Component(definition=one) for one in definition.components}
        self.copies: dict[str, Copy] = {}
        self.sessions = SessionTable()
        self.outage = Outage()
        self.progress = Progress(changed_at=created_at)
        self.reductions: tuple[str, ...] = ()
        """Sentences: what of its variants is less than its caller asks for."""
        self.successor: Endpoint | None = None
        """What took its place in an update; requests that were on their way to it go there."""

    @property
    def name(self) -> str:
        """Its name."""
        return self.definition.name

    def take(self, definition: EndpointDefinition, choices: RoutingChoices) -> None:
        """Run under another configuration, with the instances and copies that are there.

        Args:
            definition: The endpoint with its new configuration.
            choices: What is not documented of routing.
        """
        before, self.definition = self.variants, definition
        self.variants = {one.name: _variant(one, choices) for one in definition.variants}
        for name, variant in self.variants.items():
            if name in before:
                variant.instances, variant.desired_instances = before[name].instances, before[name].desired_instances

    @property
    def current(self) -> Endpoint:
        """The endpoint of this name that takes requests now: itself, or what took its place."""
        found = self
        while found.successor is not None:
            found = found.successor
        return found

    @property
    def takes_components(self) -> bool:
        """Whether requests have to name a component: the variants host no model themselves."""
        return all(one.definition.model is None for one in self.variants.values())

    def serving(self, component: Component | None, variant: Variant) -> list[Copy]:
        """Return the copies that can take a request now.

        Args:
            component: The one that was named; None without components.
            variant: The variant.
        """
        host, name = component.hosts if component else None, variant.definition.name
        return [
            copy
            for copy in self.copies.values()
            if copy.state is CopyState.IN_SERVICE and copy.component == host and copy.instance.variant == name
        ]

    def copies_of(self, component: str | None) -> list[Copy]:
        """Return every copy of a component, whatever it does; None: those of the variants' own models."""
        return [copy for copy in self.copies.values() if copy.component == component]

    def copies_on(self, instance: Instance) -> list[Copy]:
        """Return every copy on an instance."""
        return [copy for copy in self.copies.values() if copy.instance is instance]

    def adapters_of(self, base: str) -> Iterator[Component]:
        """Yield the adapter components of a base component."""
        return (one for one in self.components.values() if one.definition.base == base)

    def variant_of(self, instance: Instance) -> Variant | None:
        """Return the variant that an instance belongs to; None once it is gone."""
        variant = self.variants.get(instance.variant)
        return variant if variant is not None and instance in variant.instances else None


def _variant(definition: VariantDefinition, choices: RoutingChoices) -> Variant:
    rules = RoutingRules(
        strategy=RoutingStrategy(definition.routing.strategy),
        prefix_length=definition.routing.prefix_length,
        concurrency_threshold=definition.routing.concurrency_threshold,
        per_copy=definition.model is None,
        choices=choices,
    )
    return Variant(definition=definition, rules=rules)
