"""A copy: a vLLM process on this machine's CPU, asked over the loopback.

The flags and variables are those with which vLLM 0.32 was measured to start and answer on a CPU (2026-11-30):

* float32: its bfloat16 attention ends the process at the first request where the kernel was not asked for AMX;
* no compilation, and the worker inside the engine's process: half a minute of start-up instead of two;
* ready is a copy that has completed something: /health is 200 before the crashes above.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

from warmstack.local.container import ContainerGoneError, ContainerReply, ContainerRequest, read_body
from warmstack.local.engines.connection import HttpContainer
from warmstack.local.engines.environment import EngineEnvironment
from warmstack.local.engines.process import TetheredProcess, exit_description
from warmstack.local.engines.surroundings import engine_surroundings
from warmstack.local.errors import LocalError

HOST = "127.0.0.1"
POLL_SECONDS = 0.25
STOP_GRACE_SECONDS = 10.0
TRIES_FOR_A_PORT = 3
VARIABLES: Mapping[str, str] = {
    "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "true",
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


class VllmCopy:
    """A running vLLM process, as a container.

    Args:
        process: Its process.
        container: Its HTTP.
        name: What messages call it.
        model: The name under which it serves its model.
    """

    def __init__(self, process: TetheredProcess, container: HttpContainer, *, name: str, model: str) -> None:
        self._process = process
        self._container = container
        self.name = name
        self.model = model

    @property
    def pid(self) -> int:
        """The process id of vLLM's server."""
        return self._process.pid

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return self._container.url

    @property
    def log(self) -> Path:
        """The file with its output."""
        return self._process.log

    async def send(self, request: ContainerRequest) -> ContainerReply:
        """Send a request and wait for the head of its answer.

        Raises:
            ContainerGoneError: There is no connection, or it broke.
        """
        return await self._container.send(request)

    async def wait(self) -> int:
        """Wait for its end; return the status, negative for a signal."""
        return await self._process.wait()

    async def stop(self, *, grace_seconds: float = STOP_GRACE_SECONDS) -> int:
        """End it and all that it started: SIGTERM, then SIGKILL; return the status.

        Args:
            grace_seconds: How long it has after SIGTERM.
        """
        try:
            return await self._process.stop(grace_seconds=grace_seconds)
        finally:
            await self._container.close()

    async def kill(self) -> int:
        """End it and all that it started at once, as kill -9 does; return the status."""
        try:
            return await self._process.kill()
        finally:
            await self._container.close()


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
    deadline = clock() + order.ready_seconds
    started = clock()
    for remaining in reversed(range(TRIES_FOR_A_PORT)):
        port = free_port()
        report(f"{order.name} starts")
        process = await _launch(order, port, outer)
        container = HttpContainer(f"http://{HOST}:{port}")
        try:
            model = await _until_ready(order, process, container, deadline, clock)
        except BaseException as error:
            await container.close()
            await process.kill()
            if isinstance(error, LocalError) and remaining and "ddress already in use" in process.last_lines(60):
                continue  # somebody else took the port between its choice and vLLM's start
            raise
        report(f"{order.name} is ready after {clock() - started:.0f} s")
        return VllmCopy(process, container, name=order.name, model=model)
    raise AssertionError("the last try returns or raises")


def free_port() -> int:
    """Return a port of the loopback that nobody listens on now."""
    with socket.create_server((HOST, 0)) as probe:
        return int(probe.getsockname()[1])


def vllm_command(order: EngineOrder, port: int) -> list[str]:
    """Return the command line of a copy: what each copy needs comes last, and wins."""
    command = [str(order.engine.python), "-m", "vllm.entrypoints.openai.api_server", *order.arguments]
    command += ["--host", HOST, "--port", str(port), "--model", str(order.model), *FIXED_ARGUMENTS]
    return command


async def _launch(order: EngineOrder, port: int, outer: Mapping[str, str]) -> TetheredProcess:
    sessions = order.folder / "sessions"
    sessions.mkdir(parents=True, exist_ok=True)
    environment = {
        **engine_surroundings(outer),
        "SAGEMAKER_MODEL_PATH": str(order.model),
        **order.environment,
        # Guard: vLLM's sessions are files. Copies that shared the default folder would take each other's for their own.
        "SAGEMAKER_SESSIONS_PATH": str(sessions),
        **VARIABLES,
    }
    return await TetheredProcess.start(
        vllm_command(order, port), environment=environment, log=order.folder / "vllm.log", folder=order.folder
    )


async def _until_ready(
    order: EngineOrder,
    process: TetheredProcess,
    container: HttpContainer,
    deadline: float,
    clock: Callable[[], float],
) -> str:
    """Return the name of the model that the copy serves, when it has completed something."""
    while clock() < deadline:
        if process.returncode is not None:
            raise _failed(order, process, f"ended with {exit_description(process.returncode)} before it was ready")
        try:
            async with asyncio.timeout(max(0.0, deadline - clock())):
                if await _status(container, ContainerRequest(method="GET", path="/health")) == HTTPStatus.OK:
                    return await _first_completion(order, process, container)
        except (ContainerGoneError, TimeoutError):
            pass
        await asyncio.sleep(POLL_SECONDS)
    raise _failed(order, process, f"was not ready in {order.ready_seconds:g} s")


async def _status(container: HttpContainer, request: ContainerRequest) -> int:
    reply = await container.send(request)
    await read_body(reply)
    return reply.status


async def _first_completion(order: EngineOrder, process: TetheredProcess, container: HttpContainer) -> str:
    listed: Any = json.loads(await read_body(await container.send(ContainerRequest(method="GET", path="/v1/models"))))
    name = str(listed["data"][0]["id"])
    body = {"model": name, "prompt": "hello", "max_tokens": 1, "temperature": 0}
    reply = await container.send(
        ContainerRequest(
            method="POST",
            path="/v1/completions",
            headers={"content-type": "application/json"},
            body=json.dumps(body).encode(),
        )
    )
    answer = (await read_body(reply)).decode("utf-8", "replace")
    if reply.status != HTTPStatus.OK:
        raise _failed(order, process, f"answered its first completion with {reply.status}: {answer[:400]}")
    return name


def _failed(order: EngineOrder, process: TetheredProcess, what: str) -> LocalError:
    return LocalError(
        f"{order.name}: vLLM {what}\n{process.last_lines()}\n"
        f"The whole log is {process.log}. Start again, with another --model, or with --engine simulated."
    )
