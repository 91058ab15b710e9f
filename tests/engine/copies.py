"""What the tests of real copies share: a loop that lives as long as the copies, questions, and vLLM's counters."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from warmstack.local.container import Container, ContainerRequest, read_body

Result = TypeVar("Result")
COUNTER = re.compile(r"^vllm:(\w+_total)\{([^}]*)\} (\S+)$", re.MULTILINE)
SOURCE = re.compile(r'source="(\w+)"')


class Loop:
    """Runs coroutines one after the other in the same loop, for copies that several tests ask."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()

    def run(self, what: Coroutine[Any, Any, Result]) -> Result:
        return self._runner.run(what)

    def close(self) -> None:
        self._runner.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A whole answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def value(self) -> Any:
        return json.loads(self.body)


async def post(container: Container, path: str, value: object, **headers: str) -> Answer:
    """Post JSON; ``X_Y="z"`` is the header ``x-y: z``."""
    named = {"content-type": "application/json"} | {
        key.lower().replace("_", "-"): text for key, text in headers.items()
    }
    request = ContainerRequest(method="POST", path=path, headers=named, body=json.dumps(value).encode())
    reply = await container.send(request)
    return Answer(status=reply.status, headers=reply.headers, body=await read_body(reply))


async def counters(container: Container) -> dict[str, float]:
    """Return vLLM's counters; one with a source as ``name:source``."""
    reply = await container.send(ContainerRequest(method="GET", path="/metrics"))
    found: dict[str, float] = {}
    for name, labels, value in COUNTER.findall((await read_body(reply)).decode()):
        source = SOURCE.search(labels)
        found[name if source is None else f"{name}:{source[1]}"] = float(value)
    return found


async def grown(container: Container, before: Mapping[str, float]) -> dict[str, float]:
    """Return by how much each counter grew."""
    return {name: value - before.get(name, 0) for name, value in (await counters(container)).items()}


def tokens(seed: int, count: int = 6000) -> list[int]:
    """Return a prompt of random tokens of the small model's vocabulary."""
    chance = random.Random(seed)
    return [chance.randrange(10, 4000) for _ in range(count)]
