"""KV that a real vLLM evicted comes back from LMCache: from its CPU tier, and after a restart from disk."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.engine.copies import Loop, counters, grown, post, tokens
from warmstack.local.engines import EngineEnvironment, EngineOrder, LmcacheOrder, start_lmcache, start_vllm

pytestmark = pytest.mark.engine
# Room for one prompt of 6,000 tokens, and not for two.
KV_BYTES = 40 << 20
# Those of 256 tokens that such a prompt fills.
CHUNKS = 23
ARGUMENTS = ("--served-model-name", "tiny", "--max-model-len", "6400", "--kv-cache-memory-bytes", str(KV_BYTES))


@pytest.fixture(scope="module")
def rounds(
    engine_python: Path, tiny_model: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[list[dict[str, float]]]]:
    """How vLLM's counters grew with each prompt, before and after both were restarted on the same disk."""
    engine, folder = EngineEnvironment(folder=engine_python.parents[1]), tmp_path_factory.mktemp("tiers")

    async def one_round(seeds: list[int]) -> list[dict[str, float]]:
        server = await start_lmcache(
            LmcacheOrder(engine=engine, folder=folder / "server", cpu_gib=0.5, disk=folder / "disk")
        )
        try:
            order = EngineOrder(
                engine=engine, model=tiny_model, folder=folder / "copy", arguments=(*ARGUMENTS, *server.arguments)
            )
            copy = await start_vllm(order)
            try:
                found = []
                for seed in seeds:
                    before = await counters(copy)
                    answer = await post(copy, "/v1/completions", {"prompt": tokens(seed), "max_tokens": 1})
                    assert answer.status == 200
                    stored.add(seed)
                    async with asyncio.timeout(60):
                        while True:
                            growth = await grown(copy, before)
                            # What was computed is counted and stored after the answer.
                            if _prompt_tokens(growth) >= 6000 and _chunks(folder / "disk") >= CHUNKS * len(stored):
                                break
                            await asyncio.sleep(0.05)
                    found.append(growth)
                assert "lmcache_mp_" in await server.metrics()
                return found
            finally:
                await copy.stop()
        finally:
            await server.stop()

    stored: set[int] = set()
    loop = Loop()
    yield [loop.run(one_round(seeds)) for seeds in ([1, 2, 1], [1])]
    loop.close()


def _prompt_tokens(growth: dict[str, float]) -> float:
    return sum(number for name, number in growth.items() if name.startswith("prompt_tokens_by_source_total:"))


def _chunks(disk: Path) -> int:
    """Return how many files are there, all of one size: those that are written in part do not count."""
    sizes = []
    for one in disk.iterdir():
        with suppress(FileNotFoundError):  # it has just got its lasting name
            sizes.append(one.stat().st_size)
    return sizes.count(max(sizes, default=0))


def test_evicted_kv_comes_back_from_the_cpu_tier(rounds: list[list[dict[str, float]]]) -> None:
    first, _, again = rounds[0]
    assert first["prompt_tokens_by_source_total:local_compute"] == 6000
    assert first["external_prefix_cache_hits_total"] == 0
    assert again["external_prefix_cache_hits_total"] > 4000
    assert again["prompt_tokens_by_source_total:external_kv_transfer"] == again["external_prefix_cache_hits_total"]
    assert again["prompt_tokens_by_source_total:local_compute"] < 200


def test_the_disk_tier_outlives_both_processes(rounds: list[list[dict[str, float]]]) -> None:
    ((first,),) = (rounds[1],)
    assert first["prefix_cache_hits_total"] == 0
    assert first["external_prefix_cache_hits_total"] == CHUNKS * 256
    assert first["prompt_tokens_by_source_total:local_compute"] == 6000 - CHUNKS * 256
