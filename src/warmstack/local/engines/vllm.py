"""A copy: a vLLM process on this machine's CPU, asked over the loopback.

The flags and variables are those with which vLLM 0.32 was measured to start and answer on a CPU (2026-11-30):

* float32: its bfloat16 attention ends the process at the first request where the kernel was not asked for AMX;
* no compilation, and the worker inside the engine's process: half a minute of start-up instead of two;
* ready is a copy that has completed something: /health is 200 before the crashes above.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

from warmstack.local.container import ContainerReply, ContainerRequest
from warmstack.local.engines.connection import HttpContainer
from warmstack.local.engines.environment import EngineEnvironment
from warmstack.local.engines.service import HOST, NotReadyError, Service, ServiceOrder, Started, ask, start_service
from warmstack.local.engines.surroundings import engine_surroundings

VARIABLES: Mapping[str, str] = {
    # Together with the flag for the executor: the worker is a part of the engine's process.
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
}
FIXED_ARGUMENTS = ("--dtype", "float32", "--enforce-eager", "--distributed-executor-backend", "uni")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOrder:
    """What copy to start.

    Args:
        engine: The environment that has vLLM.
        model: The model's folder.
        folder: The copy's own folder, for its log and its sessions; made if it is not there.
        arguments: vLLM's arguments beside the ones that each copy gets.
        environment: Variables beside the ones that each copy gets.
        name: What messages call it.
        ready_seconds: How long it may take until it answers.
    """

    engine: EngineEnvironment
    model: Path
    folder: Path
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    name: str = "the copy"
    ready_seconds: float = 300.0


class VllmCopy(Service):
    """A running vLLM process, as a container.

    Args:
        started: The process that answers.
        name: What messages call it.
        model: The name under which it serves its model.
    """

    def __init__(self, started: Started, *, name: str, model: str) -> None:
        super().__init__(started.process, started.http)
        self.name = name
        self.model = model

    async def send(self, request: ContainerRequest) -> ContainerReply:
        """Send a request and wait for the head of its answer.

        Raises:
            ContainerGoneError: There is no connection, or it broke.
        """
        return await self._http.send(request)


async def start_vllm(
    order: EngineOrder,
    *,
    report: Callable[[str], None] = lambda _: None,
    outer: Mapping[str, str] = os.environ,
    clock: Callable[[], float] = time.monotonic,
) -> VllmCopy:
    """Start a copy; return it when it has completed something.

    Args:
        order: What copy.
        report: Told what is done.
        outer: This process's environment.
        clock: Seconds, for the time-out and for what is reported.

    Raises:
        LocalError: It did not come up: the end of its log, and the way out.
    """
    sessions = order.folder / "sessions"
    sessions.mkdir(parents=True, exist_ok=True)
    service = ServiceOrder(
        name=order.name,
        command=lambda port, _: vllm_command(order, port),
        environment={
            **engine_surroundings(outer),
            "SAGEMAKER_MODEL_PATH": str(order.model),
            **order.environment,
            # Guard: vLLM's sessions are files. Copies that shared the default folder would take each other's.
            "SAGEMAKER_SESSIONS_PATH": str(sessions),
            **VARIABLES,
        },
        folder=order.folder,
        log="vllm.log",
        ready_seconds=order.ready_seconds,
        way_out="Start again, with another --model, or with --engine simulated.",
    )
    started, model = await start_service(service, _first_completion, report=report, clock=clock)
    return VllmCopy(started, name=order.name, model=model)


def vllm_command(order: EngineOrder, port: int) -> list[str]:
    """Return the command line of a copy: what each copy needs comes last, and wins."""
    command = [str(order.engine.python), "-m", "vllm.entrypoints.openai.api_server", *order.arguments]
    return [*command, "--host", HOST, "--port", str(port), "--model", str(order.model), *FIXED_ARGUMENTS]


async def _first_completion(http: HttpContainer) -> str | None:
    """Return the name of the model that the copy serves, when it has completed something; None when it loads."""
    status, _ = await ask(http, ContainerRequest(method="GET", path="/health"))
    if status != HTTPStatus.OK:
        return None
    _, listed = await ask(http, ContainerRequest(method="GET", path="/v1/models"))
    models: Any = json.loads(listed)
    name = str(models["data"][0]["id"])
    body = {"model": name, "prompt": "hello", "max_tokens": 1, "temperature": 0}
    completion = ContainerRequest(
        method="POST",
        path="/v1/completions",
        headers={"content-type": "application/json"},
        body=json.dumps(body).encode(),
    )
    status, answer = await ask(http, completion)
    if status != HTTPStatus.OK:
        raise NotReadyError(f"answered its first completion with {status}: {answer.decode('utf-8', 'replace')[:400]}")
    return name
