"""What the platform talks to: a container, asked over HTTP or in this process, in one form.

An engine and the dialect in front of it have the same form: a request goes in, and a reply comes out whose body arrives
in pieces. So a dialect wraps an engine, and the platform does not know which of them it has.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self

from warmstack.errors import WarmstackError


class ContainerGoneError(WarmstackError):
    """There is no container to connect to, or the connection broke before or within the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerRequest:
    """A request as the container sees it.

    Args:
        method: The HTTP method.
        path: The path, with its query if it has one.
        headers: By their names in lower case.
        body: The body, unmodified.
    """

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


class ContainerReply(Protocol):
    """An answer whose head has come. Close it when done; a reply that is closed early aborts the request."""

    @property
    def status(self) -> int:
        """The HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """By their names in lower case, without those of the transport (length, connection, encoding)."""
        ...

    def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes; never an empty piece.

        Raises:
            ContainerGoneError: The connection broke.
        """
        ...

    async def close(self) -> None:
        """Let go of the answer. Any number of times."""
        ...


class Container(Protocol):
    """Something that answers requests: an engine, or a dialect in front of one."""

    async def send(self, request: ContainerRequest) -> ContainerReply:
        """Send a request and wait for the head of its answer.

        Raises:
            ContainerGoneError: There is no connection, or it broke.
        """
        ...


async def read_body(reply: ContainerReply) -> bytes:
    """Return the whole body, and close the reply."""
    try:
        return b"".join([piece async for piece in reply.pieces()])
    finally:
        await reply.close()


@dataclass(slots=True, kw_only=True)
class MemoryReply:
    """A reply that is made in this process.

    Args:
        status: The HTTP status.
        headers: By their names in lower case.
        source: The body: bytes, or an iterator of its pieces, whose ``aclose`` aborts the request.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    source: bytes | AsyncIterator[bytes] = b""

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes."""
        if isinstance(self.source, bytes):
            if self.source:
                yield self.source
            return
        async for piece in self.source:
            if piece:
                yield piece

    async def close(self) -> None:
        """Abort what still makes the body."""
        closing = getattr(self.source, "aclose", None)
        if closing is not None:
            await closing()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
