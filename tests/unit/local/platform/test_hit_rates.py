"""Counters of engines that answer strangely."""

from __future__ import annotations

import asyncio

import pytest

from warmstack.local.container import ContainerRequest, MemoryReply
from warmstack.local.platform.hit_rates import CacheCounters, ask_counters


class Metrics:
    """An engine with a page of metrics."""

    def __init__(self, page: bytes) -> None:
        self._page = page

    async def send(self, request: ContainerRequest) -> MemoryReply:
        assert request.path == "/metrics"
        return MemoryReply(source=self._page)


@pytest.mark.parametrize("value", [b"NaN", b"+Inf", b"many", b"\xff"])
def test_a_counter_that_is_no_number_is_not_told(value: bytes) -> None:
    assert asyncio.run(ask_counters(Metrics(b"vllm:prefix_cache_hits_total " + value))) is None


def test_a_page_without_counters_counts_nothing() -> None:
    assert asyncio.run(ask_counters(Metrics(b"\xff\n# \nother 5"))) == CacheCounters()
