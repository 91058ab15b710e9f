"""How a copy is started, with a program that stands in for vLLM."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.local.engines.processes import running_in
from warmstack.local.container import ContainerGoneError, ContainerRequest, read_body
from warmstack.local.engines import EngineEnvironment, EngineOrder, start_vllm
from warmstack.local.errors import LocalError

SERVER = Path(__file__).with_name("server_stand_in.py")


def order(folder: Path, model: str = "fine", **changes: Any) -> EngineOrder:
    """Return an order whose engine's Python runs the stand-in, whatever module it is asked for."""
    engine = EngineEnvironment(folder=folder / "engine")
    engine.python.parent.mkdir(parents=True)
    engine.python.write_text(f'#!/bin/sh\nshift 2\nexec "{sys.executable}" "{SERVER}" "$@"\n', encoding="utf-8")
    engine.python.chmod(0o755)
    given = {"engine": engine, "model": Path(model), "folder": folder / "copy", "name": "copy 1", **changes}
    return EngineOrder(**given)


def test_a_copy_is_ready_after_a_completion_and_gone_after_its_stop(tmp_path: Path) -> None:
    said: list[str] = []
    outer = {
        "PATH": "/bin:/usr/bin",
        "AWS_SECRET_ACCESS_KEY": "x",
        "OPENAI_API_KEY": "x",
        "HTTP_PROXY": "x",
        "LC_ALL": "C",
    }

    async def scenario() -> tuple[dict[str, Any], int]:
        asked = order(
            tmp_path, arguments=("--max-num-seqs", "4"), environment={"SAGEMAKER_ENABLE_STATEFUL_SESSIONS": "true"}
        )
        copy = await start_vllm(asked, report=said.append, outer=outer)
        assert copy.model == "served"
        assert copy.log.parent == tmp_path / "copy"
        assert copy.url.startswith("http://127.0.0.1:")
        seen = json.loads(await read_body(await copy.send(ContainerRequest(method="GET", path="/"))))
        status = await copy.stop(grace_seconds=5)
        with pytest.raises(ContainerGoneError):
            await copy.send(ContainerRequest(method="GET", path="/"))
        assert await copy.wait() == status
        return seen, status

    seen, status = asyncio.run(scenario())
    assert status == -15
    assert said[0] == "copy 1 starts"
    assert said[1].startswith("copy 1 is ready after")
    given = seen["environment"]
    assert {"AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "HTTP_PROXY"} & set(given) == set()
    assert {"LC_ALL", "HF_HUB_OFFLINE", "VLLM_NO_USAGE_STATS"} <= set(given)
    assert (given["PYTHONHASHSEED"], given["OMP_NUM_THREADS"], given["VLLM_ENABLE_V1_MULTIPROCESSING"]) == (
        "0",
        "1",
        "0",
    )
    assert given["SAGEMAKER_ENABLE_STATEFUL_SESSIONS"] == "true"
    assert given["SAGEMAKER_SESSIONS_PATH"] == str(tmp_path / "copy" / "sessions")
    arguments = " ".join(seen["arguments"])
    for part in ("--max-num-seqs 4", "--host 127.0.0.1", "--dtype float32 --enforce-eager", "executor-backend uni"):
        assert part in arguments


def test_a_copy_that_ends_by_itself_leaves_no_connection_open(tmp_path: Path) -> None:
    async def scenario() -> int:
        copy = await start_vllm(order(tmp_path))
        os.kill(copy.pid, signal.SIGKILL)
        status = await copy.wait()
        with pytest.raises(ContainerGoneError, match="was stopped"):
            await copy.send(ContainerRequest(method="GET", path="/"))
        return status

    assert asyncio.run(scenario()) == -9


def test_a_killed_copy_says_so(tmp_path: Path) -> None:
    async def scenario() -> int:
        copy = await start_vllm(order(tmp_path))
        assert await copy.kill() == -9
        return await copy.wait()

    assert asyncio.run(scenario()) == -9


@pytest.mark.parametrize(
    ("model", "message", "limits"),
    [
        ("crash", "ended with status 1 before it was ready\nValueError: no such model\nand more\n", {}),
        ("refuse", "answered its first completion with 500: no AMX\n", {}),
        ("deaf", "was not ready in 1.5 s\n", {"ready_seconds": 1.5}),
    ],
)
def test_a_copy_that_does_not_come_up(tmp_path: Path, model: str, message: str, limits: dict[str, float]) -> None:
    with pytest.raises(LocalError) as caught:
        asyncio.run(start_vllm(order(tmp_path, model, **limits)))
    assert str(caught.value).startswith(f"copy 1 {message}")
    assert f"The whole log is {tmp_path / 'copy' / 'vllm.log'}. Start again, with" in str(caught.value)


def test_a_port_that_somebody_took_is_changed(tmp_path: Path) -> None:
    async def scenario() -> str:
        copy = await start_vllm(order(tmp_path, "taken"))
        await copy.stop(grace_seconds=5)
        return copy.model

    assert asyncio.run(scenario()) == "served"


def test_a_start_that_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        starting = asyncio.create_task(start_vllm(order(tmp_path, "deaf")))
        while not (tmp_path / "copy" / "vllm.log").exists():
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.3)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting

    asyncio.run(scenario())
    assert running_in(tmp_path) == []
