"""Copies with LMCache beside them, with programs that stand in for both."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest

from tests.unit.local.definitions import model
from warmstack.assembly import Assembly
from warmstack.local.adapter_files import AdapterFiles, write_stand_in
from warmstack.local.container import Container
from warmstack.local.engines import EngineEnvironment, VllmCopy
from warmstack.local.errors import LocalError
from warmstack.local.platform.orders import CopyOrder
from warmstack.local.real.replacements import STAND_IN, replacements
from warmstack.local.real.starter import RealCopy, RealStarter

SERVER = Path(__file__).parents[1] / "engines" / "server_stand_in.py"
CONNECTOR = json.dumps({"kv_connector": "LMCacheConnectorV1", "kv_role": "kv_both"})
TIERS = {
    "SM_VLLM_KV_TRANSFER_CONFIG": CONNECTOR,
    "LMCACHE_LOCAL_DISK": "file:///tmp/x",
    "LMCACHE_MAX_LOCAL_DISK_SIZE": "9",
}


def starter(folder: Path) -> RealStarter:
    engine = EngineEnvironment(folder=folder / "engine")
    engine.python.parent.mkdir(parents=True)
    engine.python.write_text(f'#!/bin/sh\nshift 2\nexec "{sys.executable}" "{SERVER}" "$@"\n', encoding="utf-8")
    engine.python.chmod(0o755)
    return RealStarter(
        engine=engine,
        model=STAND_IN,
        folder=folder / "run",
        adapters=AdapterFiles(folder, {}, write_stand_in),
        kv_cache_bytes=64 << 20,
        dialect=lambda _, engine: engine,
    )


def order(number: int, environment: Mapping[str, str], instance: str = "i-1") -> CopyOrder:
    return CopyOrder(copy=f"{instance}/chat-{number}", instance=instance, model=model(environment=environment))


def run(folder: Path, scenario: Callable[[RealStarter, list[str]], Awaitable[None]]) -> list[str]:
    said: list[str] = []

    async def main() -> None:
        made = starter(folder)
        try:
            await scenario(made, said)
        finally:
            await made.close()

    asyncio.run(main())
    return said


def alive(pid: int | None) -> bool:
    try:
        os.kill(pid or 0, 0)
    except ProcessLookupError:
        return False
    return True


async def arguments(container: Container) -> str:
    from warmstack.local.container import ContainerRequest, read_body

    seen = json.loads(await read_body(await container.send(ContainerRequest(method="GET", path="/"))))
    return " ".join(seen["arguments"])


def server_port(text: str) -> str:
    return text.partition('"lmcache.mp.port": ')[2].partition("}")[0]


def test_copies_of_an_instance_share_a_server_that_ends_with_the_last(tmp_path: Path) -> None:
    async def scenario(made: RealStarter, said: list[str]) -> None:
        first, second = await asyncio.gather(*(made.start(order(n, TIERS), said.append) for n in (1, 2)))
        other = await made.start(order(3, TIERS, "i-2"), said.append)
        ports = [server_port(await arguments(one.container)) for one in (first, second, other)]
        assert ports[0] == ports[1] != ports[2]
        ended = made._tiers._servers["i-1"].pid
        await first.stop()
        await second.stop()
        async with asyncio.timeout(60):
            while "i-1" in made._tiers._servers:
                await asyncio.sleep(0.01)
        third = await made.start(order(4, TIERS), said.append)
        # Its port may be the same: the system gives it out again.
        assert made._tiers._servers["i-1"].pid != ended
        await third.kill()
        assert await third.wait() == "signal SIGKILL"
        await other.stop()
        assert (tmp_path / "run" / "i-1" / "disk-tier").is_dir()

    said = run(tmp_path, scenario)
    assert sum("i-1/lmcache starts" in line for line in said) == 2
    assert sum("i-2/lmcache starts" in line for line in said) == 1


def test_without_tiers_there_is_no_server(tmp_path: Path) -> None:
    async def scenario(made: RealStarter, said: list[str]) -> None:
        copy = await made.start(order(1, {}), said.append)
        assert "--kv-transfer-config" not in await arguments(copy.container)
        await copy.stop()

    assert not any("lmcache" in line for line in run(tmp_path, scenario))


def test_a_server_that_ends_takes_its_copies_with_it(tmp_path: Path) -> None:
    async def scenario(made: RealStarter, said: list[str]) -> None:
        copy = await made.start(order(1, TIERS), said.append)
        other = await made.start(order(2, TIERS, "i-2"), said.append)
        await made._tiers._servers["i-1"].kill()  # what an out-of-memory killer does
        async with asyncio.timeout(60):
            assert await copy.wait() == "signal SIGKILL"
        assert alive(other.pid)
        again = await made.start(order(3, TIERS), said.append)
        assert alive(again.pid)
        for one in (again, other):
            await one.stop()

    said = run(tmp_path, scenario)
    assert "i-1/lmcache ended by itself; the copies beside it are started again" in said


def test_a_copy_that_does_not_start_leaves_no_server(tmp_path: Path) -> None:
    async def scenario(made: RealStarter, said: list[str]) -> None:
        made._model = type(STAND_IN)(
            **{name: getattr(STAND_IN, name) for name in STAND_IN.__slots__ if name != "folder"}, folder=Path("crash")
        )
        with pytest.raises(LocalError, match="ValueError: no such model"):
            await made.start(order(1, TIERS), said.append)
        assert made._tiers._servers == {}

    run(tmp_path, scenario)


def test_a_copy_whose_server_is_refused_leaves_no_process(tmp_path: Path) -> None:
    seen: list[int | None] = []

    async def scenario(made: RealStarter, said: list[str]) -> None:
        def refusing(_: object, process: VllmCopy) -> Container:
            seen.append(process.pid)
            raise LocalError("the formatters do not load")

        made._dialect = refusing  # type: ignore[assignment]
        with pytest.raises(LocalError, match="do not load"):
            await made.start(order(1, TIERS), said.append)
        assert made._tiers._servers == {}

    run(tmp_path, scenario)
    assert not alive(*seen)


def test_what_is_replaced_is_told_once_for_each_model() -> None:
    from tests.unit.local.definitions import component, endpoint

    big = model("big", environment={"SM_VLLM_TENSOR_PARALLEL_SIZE": "8"})
    hosts = endpoint(components=(component(model=big), component("legal", base="chat", model=big)))
    told = replacements(Assembly(endpoints=(hosts, endpoint("other")), notices=()), STAND_IN, 64 << 20)
    assert told[0] == "big: its model is replaced by a small random one: its answers mean nothing"
    assert sum("SM_VLLM_TENSOR_PARALLEL_SIZE=8: here 1" in line for line in told) == 1
    assert any(line.startswith("model: its model is replaced") for line in told)


def test_a_real_copy_lets_go_once(tmp_path: Path) -> None:
    released: list[int] = []

    async def scenario(made: RealStarter, said: list[str]) -> None:
        process = (await made.start(order(1, {}), said.append)).engine
        copy = RealCopy(
            container=process,
            engine=process,
            adapters=AdapterFiles(tmp_path, {}, write_stand_in),
            release=lambda: released.append(1),
        )
        await copy.stop()
        await copy.kill()
        await copy.wait()

    run(tmp_path, scenario)
    assert released == [1]
