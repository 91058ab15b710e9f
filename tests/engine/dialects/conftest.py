"""Two real copies for the dialects' tables: one with sessions, one without."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.engine.copies import Loop
from tests.unit.local.dialects.golden import EXPIRATION_SECONDS
from warmstack.catalog import load_catalog
from warmstack.local.engines import (
    EngineEnvironment,
    EngineOrder,
    TranslationRequest,
    VllmCopy,
    make_adapter,
    read_model,
    start_vllm,
    translate,
)

MODEL = "acme/model"
ENVIRONMENT = {
    "SAGEMAKER_SESSIONS_EXPIRATION": str(EXPIRATION_SECONDS),
    "SM_VLLM_ENABLE_LORA": "true",
    "SM_VLLM_MAX_LORA_RANK": "8",
    "SM_VLLM_MAX_MODEL_LEN": "8192",
    "SM_VLLM_SERVED_MODEL_NAME": MODEL,
    "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "true",
}


@dataclass(kw_only=True)
class RealCopies:
    """The copies, the loop that they live in, and an adapter's files."""

    loop: Loop
    with_sessions: VllmCopy
    without: VllmCopy
    adapter: Path

    def copy(self, sessions: bool | None) -> VllmCopy:
        return self.without if sessions is False else self.with_sessions


async def real_time() -> None:
    """Wait until sessions have expired."""
    await asyncio.sleep(EXPIRATION_SECONDS + 0.2)


@pytest.fixture(scope="package")
def copies(engine_python: Path, tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealCopies]:
    loop = Loop()
    engine = EngineEnvironment(folder=engine_python.parents[1])
    started: list[VllmCopy] = []

    async def start(name: str, more: Mapping[str, str]) -> VllmCopy:
        translation = translate(
            TranslationRequest(
                server="vllm",
                environment=ENVIRONMENT | more,
                model=replace(read_model(tiny_model), stands_in=True),
                tables=load_catalog().flags,
                carried=lambda _: None,
                kv_cache_bytes=64 << 20,
            )
        )
        copy = await start_vllm(
            EngineOrder(
                engine=engine,
                model=tiny_model,
                folder=tmp_path_factory.mktemp(name),
                arguments=(*translation.arguments, "--enforce-eager"),
                environment=translation.environment,
            )
        )
        started.append(copy)
        return copy

    async def both() -> tuple[VllmCopy, VllmCopy]:
        first, second = await asyncio.gather(
            start("sessions", {"SAGEMAKER_ENABLE_STATEFUL_SESSIONS": "true"}), start("plain", {})
        )
        return first, second

    try:
        with_sessions, without = loop.run(both())
        adapter = make_adapter(tmp_path_factory.mktemp("legal"), name="legal", model=read_model(tiny_model))
        yield RealCopies(loop=loop, with_sessions=with_sessions, without=without, adapter=adapter)
    finally:
        for copy in started:
            loop.run(copy.stop())
        loop.close()
