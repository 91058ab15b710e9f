"""How LMCache's server is started, with a program that stands in for it."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from warmstack.local.engines import EngineEnvironment, LmcacheOrder, start_lmcache
from warmstack.local.engines.lmcache import lmcache_command
from warmstack.local.errors import LocalError

SERVER = Path(__file__).with_name("server_stand_in.py")


def order(
    folder: Path, program: str = f'shift 2; exec "{sys.executable}" "{SERVER}" "$@"', **changes: Any
) -> LmcacheOrder:
    engine = EngineEnvironment(folder=folder / "engine")
    engine.python.parent.mkdir(parents=True)
    engine.python.write_text(f"#!/bin/sh\n{program}\n", encoding="utf-8")
    engine.python.chmod(0o755)
    given = {"engine": engine, "folder": folder / "server", "name": "LMCache of i-1", **changes}
    return LmcacheOrder(**given)


def test_a_server_answers_and_says_what_copies_are_given(tmp_path: Path) -> None:
    said: list[str] = []

    async def scenario() -> tuple[list[Any], str, str]:
        server = await start_lmcache(order(tmp_path), report=said.append)
        try:
            command = Path(f"/proc/{server.pid}/cmdline").read_text(encoding="utf-8")
            return [*server.arguments, server.port], command, await server.metrics()
        finally:
            assert await server.kill() == -9
            assert await server.wait() == -9

    (flag, text, port), command, metrics = asyncio.run(scenario())
    assert said[0] == "LMCache of i-1 starts"
    assert metrics == "lmcache_mp_chunks 1"
    assert flag == "--kv-transfer-config"
    assert json.loads(text) == {
        "kv_connector": "LMCacheMPConnector",
        "kv_role": "kv_both",
        "kv_connector_extra_config": {"lmcache.mp.host": "tcp://127.0.0.1", "lmcache.mp.port": port},
    }
    assert f"--port\0{port}\0" in command


def test_the_tiers_of_the_command(tmp_path: Path) -> None:
    asked = order(tmp_path, chunk_tokens=512, cpu_gib=0.25, disk=tmp_path / "disk", disk_gib=0.5)
    command = " ".join(lmcache_command(asked, 1, 2))
    for part in (
        "server --host 127.0.0.1 --port 1 --http-host 127.0.0.1 --http-port 2 --chunk-size 512 --l1-size-gb 0.25",
        "--supported-transfer-mode auto",
        f'--l2-adapter {{"type": "fs_native", "base_path": "{tmp_path / "disk"}", "max_capacity_gb": 0.5, "eviction": ',
    ):
        assert part in command
    assert "--l2-adapter" not in lmcache_command(order(tmp_path / "b"), 1, 2)


def test_a_server_that_does_not_come_up(tmp_path: Path) -> None:
    with pytest.raises(LocalError) as caught:
        asyncio.run(start_lmcache(order(tmp_path, "echo no memory; exit 4")))
    assert str(caught.value) == (
        "LMCache of i-1 ended with status 4 before it was ready\nno memory\n"
        f"The whole log is {tmp_path / 'server' / 'lmcache.log'}. Start again, or without tiers: --tiers none."
    )
