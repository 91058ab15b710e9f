"""Copies and the instances that they run on."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from enum import StrEnum

from warmstack.assembly import ModelDefinition
from warmstack.local.container import Container
from warmstack.local.platform.faults import Faults, FaultyContainer
from warmstack.local.platform.orders import RunningCopy
from warmstack.routing import Candidate, PrefixCache


class CopyState(StrEnum):
    """What a copy does."""

    STARTING = "Starting"
    IN_SERVICE = "InService"
    STOPPING = "Stopping"
    FAILED = "Failed"


@dataclass(slots=True, kw_only=True, eq=False)
class Instance:
    """An instance of a production variant: a name, and the copies on it.

    Args:
        name: Different from that of every instance that was ever there.
        variant: The variant's name.
        in_flight: Requests of the variant that run on it.
        session_in_flight: Those of them that belong to sessions.
    """

    name: str
    variant: str
    in_flight: int = 0
    session_in_flight: int = 0


@dataclass(slots=True, kw_only=True, eq=False)
class Copy:
    """A copy of a model.

    Args:
        name: Different from that of every copy that was ever there.
        instance: Where it runs.
        component: The component that it is a copy of; None if the variant hosts the model itself.
        model: What it runs, and what whatever takes its place runs.
        state: What it does.
        start: What starts it, or did.
        running: The container behind it, once it has been started; None again if it did not come into service.
        faults: What was put on it.
        container: The container with those faults.
        in_flight: Requests that run on it.
        session_in_flight: Those of them that belong to sessions.
        served: Requests that are over.
        failure: Why it failed.
        sent_blocks: What it was sent, for KV_AWARE; None where that is not kept.
    """

    name: str
    instance: Instance
    component: str | None
    model: ModelDefinition
    state: CopyState = CopyState.STARTING
    start: asyncio.Task[None] | None = None
    running: RunningCopy | None = None
    faults: Faults = field(default_factory=Faults)
    container: Container | None = None
    in_flight: int = 0
    session_in_flight: int = 0
    served: int = 0
    failure: str = ""
    sent_blocks: PrefixCache | None = None

    def counts(self) -> bool:
        """Whether it is one of those that there are to be: it serves, starts, or has ended and is to be replaced."""
        gave_up = self.state is CopyState.FAILED and self.running is None
        return self.state is not CopyState.STOPPING and not gave_up

    def started(self, running: RunningCopy) -> None:
        """Take the container that was started for this copy into service."""
        self.running = running
        self.container = FaultyContainer(running.container, self.faults)
        self.state = CopyState.IN_SERVICE

    def candidate(self) -> Candidate:
        """Return this copy as routing sees it."""
        return Candidate(
            copy=self.name,
            instance=self.instance.name,
            in_flight=self.in_flight,
            instance_in_flight=self.instance.in_flight,
            session_in_flight=self.session_in_flight,
            instance_session_in_flight=self.instance.session_in_flight,
        )

    def enter(self, *, in_session: bool) -> None:
        """Count a request that begins."""
        self.in_flight += 1
        self.instance.in_flight += 1
        if in_session:
            self.session_in_flight += 1
            self.instance.session_in_flight += 1

    def leave(self, *, in_session: bool) -> None:
        """Count a request that is over."""
        self.in_flight -= 1
        self.instance.in_flight -= 1
        self.served += 1
        if in_session:
            self.session_in_flight -= 1
            self.instance.session_in_flight -= 1
