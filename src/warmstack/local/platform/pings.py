"""The health of copies that host a variant's own model: who does not answer /ping loses its instance."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from warmstack.local.container import ContainerGoneError, ContainerRequest, read_body
from warmstack.local.platform.copies import Copy, CopyState, Instance
from warmstack.local.platform.endpoints import Endpoint
from warmstack.local.platform.orders import Report

PING_TIMEOUT_SECONDS = 2.0
"""A container has to answer /ping in 2 s (developer guide, your-algorithms-inference-code, read 2026-11-30)."""


async def watch_pings(
    endpoints: Mapping[str, Endpoint],
    *,
    seconds: float,
    most_failures: int,
    replace: Callable[[Endpoint, Instance], Awaitable[None]],
    report: Report,
    sleep: Callable[[float], Awaitable[None]],
) -> None:
    """Ask copies whether they are well, for ever, and have the instances of those that are not replaced.

    Args:
        endpoints: Those that there are; looked at each time.
        seconds: How often.
        most_failures: After how many failures in a row an instance is replaced.
        replace: Replaces an instance.
        report: Is told what is going on.
        sleep: Waits some seconds.
    """
    failures: dict[str, int] = {}
    while True:
        await sleep(seconds)
        # "Failing /ping: the instance is replaced, except on endpoints that use inference components."
        asked = [
            (endpoint, copy)
            for endpoint in endpoints.values()
            for copy in endpoint.copies.values()
            if copy.state is CopyState.IN_SERVICE and copy.component is None
        ]
        answers = await asyncio.gather(*(_pings(copy) for _, copy in asked))
        failures = {
            copy.name: 0 if well else failures.get(copy.name, 0) + 1
            for (_, copy), well in zip(asked, answers, strict=True)
        }
        for endpoint, copy in asked:
            # Guard: while the others were asked, it may have ended or been replaced.
            if failures[copy.name] >= most_failures and copy.state is CopyState.IN_SERVICE:
                report(f"{copy.name} failed /ping {failures[copy.name]} times")
                await replace(endpoint, copy.instance)


async def _pings(copy: Copy) -> bool:
    if copy.container is None:
        return False
    with suppress(ContainerGoneError, TimeoutError):
        async with asyncio.timeout(PING_TIMEOUT_SECONDS):
            reply = await copy.container.send(ContainerRequest(method="GET", path="/ping"))
            await read_body(reply)
            return reply.status == 200
    return False
