"""How a copy is asked for, and what its maker gives back: the seam between the platform and the engines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from warmstack.assembly import ModelDefinition
from warmstack.local.container import Container

Report = Callable[[str], None]
"""Is told what is going on, in a line for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyOrder:
    """A copy to start.

    Args:
        copy: Its name in this process, such as ``i-1/chat-2``.
        instance: The instance that it runs on.
        model: What it runs.
    """

    copy: str
    instance: str
    model: ModelDefinition


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterOrder:
    """An adapter to register with a copy.

    Args:
        name: The adapter component's name.
        artifact: Where the template says that its archive is.
    """

    name: str
    artifact: str


class RunningCopy(Protocol):
    """A copy that has completed a first generation."""

    @property
    def container(self) -> Container:
        """Answers as the container on SageMaker would."""
        ...

    @property
    def engine(self) -> Container:
        """Answers GET /metrics in vLLM's names."""
        ...

    @property
    def pid(self) -> int | None:
        """The process's id; None for one in this process."""
        ...

    async def register(self, adapter: AdapterOrder) -> None:
        """Register an adapter as SageMaker does: fetch its files, then POST /adapters.

        Raises:
            LocalError: The container refused it.
        """
        ...

    async def wait(self) -> str:
        """Wait for the end; return how it ended, such as "signal SIGKILL"."""
        ...

    async def stop(self) -> None:
        """End it: SIGTERM, and after a while SIGKILL. Any number of times."""
        ...

    async def kill(self) -> None:
        """End it at once, as kill -9 does."""
        ...


class CopyStarter(Protocol):
    """Makes copies."""

    async def start(self, order: CopyOrder, report: Report) -> RunningCopy:
        """Start a copy and wait until it has completed a generation.

        Args:
            order: Which.
            report: Is told what is going on.

        Raises:
            LocalError: It did not start; with what its log says.
        """
        ...

    async def close(self) -> None:
        """End what the copies share, when every copy has ended. Any number of times."""
        ...
