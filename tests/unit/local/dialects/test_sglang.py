"""The session server in this process: its life, its settings, formatters, and what it leaves behind."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.local.dialects.benches import simulated
from tests.unit.local.dialects.golden import ADAPTER, CHAT, ask, open_stream
from warmstack.local.adapter_files import write_stand_in
from warmstack.local.container import Container, ContainerGoneError
from warmstack.local.errors import LocalError
from warmstack.local.simulated import SimulatedEngine

OURS = {"server": "sglang", "image": "${Image}"}
LONG = CHAT | {"stream": True, "max_tokens": 200}
FORMATTERS = """
from warmstack_formatters import output_formatter

@output_formatter
def told(response):
    return {"by": "NAME"}
"""


def made(environment: dict[str, str] | None = None, **changes: Any) -> tuple[Container, SimulatedEngine]:
    return simulated({"SM_SGLANG_ENABLE_LORA": "true"} | (environment or {}), changes=OURS | changes)


def test_a_client_that_goes_away_ends_the_request() -> None:
    container, engine = made()

    async def scenario() -> list[int]:
        reply = await open_stream(container, LONG)
        async for _ in reply.pieces():
            break
        running = [engine.counters.running]
        await reply.close()
        await asyncio.sleep(0)
        return [*running, engine.counters.running]

    assert asyncio.run(scenario()) == [1, 0]


def test_an_engine_that_ends_takes_the_container_with_it() -> None:
    container, engine = made()

    async def streamed() -> None:
        reply = await open_stream(container, LONG)
        async for _ in reply.pieces():
            engine.end()

    with pytest.raises(ContainerGoneError):
        asyncio.run(streamed())
    for path, method in (("/invocations", "POST"), ("/ping", "GET")):
        with pytest.raises(ContainerGoneError):
            asyncio.run(ask(container, path, CHAT, method=method))


def test_formatters_run(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM base\nCOPY formatters.py /opt/warmstack/models/chat/formatters.py\n")
    (tmp_path / "formatters.py").write_text(FORMATTERS.replace("NAME", "base"), encoding="utf-8")
    write_stand_in("legal", tmp_path / "legal")
    (tmp_path / "legal" / "formatters.py").write_text(FORMATTERS.replace("NAME", "legal"), encoding="utf-8")
    container, _ = made({"WARMSTACK_FORMATTERS": "/opt/warmstack/models/chat/formatters.py"}, staged=tmp_path)

    async def scenario() -> list[Any]:
        first = await ask(container, "/invocations", CHAT)
        await ask(container, "/adapters", {"name": "legal", "src": str(tmp_path / "legal")})
        second = await ask(container, "/invocations", CHAT, headers={ADAPTER: "legal"})
        return [first.value, second.value]

    assert asyncio.run(scenario()) == [{"by": "base"}, {"by": "legal"}]


def test_settings_that_are_wrong_end_the_start() -> None:
    with pytest.raises(LocalError) as raised:
        made({"SAGEMAKER_SESSIONS_EXPIRATION": "x", "WARMSTACK_SESSIONS_MAX": "0"})
    assert "model: the session server would not start: SAGEMAKER_SESSIONS_EXPIRATION is 'x'" in str(raised.value)
    assert "WARMSTACK_SESSIONS_MAX is '0'" in str(raised.value)


def test_many_adapters_are_loaded_once_each(tmp_path: Path) -> None:
    container, _ = made()
    write_stand_in("legal", tmp_path)

    async def scenario() -> list[int]:
        await ask(container, "/adapters", {"name": "legal", "src": str(tmp_path)})
        used = [ask(container, "/invocations", CHAT, headers={ADAPTER: "legal"}) for _ in range(8)]
        return [one.status for one in await asyncio.gather(*used)]

    assert asyncio.run(scenario()) == [200] * 8


def test_the_metrics_are_the_engines() -> None:
    container, _ = made()
    assert "vllm:prefix_cache_hits_total" in asyncio.run(ask(container, "/metrics", method="GET")).text


def test_its_name_stays_free() -> None:
    before = set(sys.modules)
    made()
    assert {name for name in set(sys.modules) - before if name.startswith("session_server")} == set()
