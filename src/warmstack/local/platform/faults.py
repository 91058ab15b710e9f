"""Faults that are put on a copy: slow, silent, or cutting its streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass

from warmstack.local.container import Container, ContainerGoneError, ContainerReply, ContainerRequest

HANG_POLL_SECONDS = 0.05


@dataclass(slots=True, kw_only=True)
class Faults:
    """What is wrong with a copy now.

    Args:
        slow_seconds: How long each answer waits before its first byte.
        hangs: Whether answers never come.
        cut_after: After how many pieces the next answers break off; None: they do not.
        cuts: How many answers are cut; None for all.
        ended: Whether the copy is gone, and with it every connection.
    """

    slow_seconds: float = 0.0
    hangs: bool = False
    cut_after: int | None = None
    cuts: int | None = None
    ended: bool = False

    def clear(self) -> None:
        """Be well again."""
        self.slow_seconds, self.hangs, self.cut_after, self.cuts = 0.0, False, None, None

    def described(self) -> list[str]:
        """Return a phrase for each fault."""
        found = [f"slow by {self.slow_seconds:g} s"] if self.slow_seconds else []
        found += ["hangs"] if self.hangs else []
        found += [f"cuts answers after {self.cut_after} pieces"] if self.cut_after is not None else []
        return found

    def take_cut(self) -> int | None:
        """Return after how many pieces this answer breaks off, and count it."""
        if self.cut_after is None or self.cuts == 0:
            return None
        after = self.cut_after
        if self.cuts is not None:
            self.cuts -= 1
            if self.cuts == 0:
                self.cut_after, self.cuts = None, None
        return after


class FaultyContainer:
    """A container with the faults that are on it.

    Args:
        inner: The container.
        faults: What is wrong with it; looked at for each request.
        sleep: Waits some seconds.
    """

    def __init__(
        self, inner: Container, faults: Faults, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._inner = inner
        self._faults = faults
        self._sleep = sleep

    async def send(self, request: ContainerRequest) -> ContainerReply:
        """Send a request, with what is wrong."""
        while self._faults.hangs:
            if self._faults.ended:
                raise ContainerGoneError("the copy ended while it hung")
            await self._sleep(HANG_POLL_SECONDS)
        if request.path == "/ping":
            # Slow and broken answers are those to requests: a model that is slow is healthy, or it would be replaced.
            return await self._inner.send(request)
        if self._faults.slow_seconds:
            await self._sleep(self._faults.slow_seconds)
        reply = await self._inner.send(request)
        cut = self._faults.take_cut()
        return reply if cut is None else _CutReply(reply, cut)


class _CutReply:
    """A reply whose connection breaks after some pieces."""

    def __init__(self, inner: ContainerReply, pieces: int) -> None:
        self._inner = inner
        self._pieces = pieces

    @property
    def status(self) -> int:
        return self._inner.status

    @property
    def headers(self) -> Mapping[str, str]:
        return self._inner.headers

    async def pieces(self) -> AsyncIterator[bytes]:
        at = 0
        async for piece in self._inner.pieces():
            if at == self._pieces:
                break
            yield piece
            at += 1
        raise ContainerGoneError("the connection to the container broke (a fault that was asked for)")

    async def close(self) -> None:
        await self._inner.close()
