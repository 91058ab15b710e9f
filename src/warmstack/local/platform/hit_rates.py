"""The engines' own counters of their prefix caches, read from GET /metrics in Prometheus' text form."""

from __future__ import annotations

import re
from dataclasses import dataclass

from warmstack.local.container import Container, ContainerGoneError, ContainerRequest, read_body

_LINE = re.compile(rb"^(?P<name>[a-zA-Z_:][\w:]*)(?:\{(?P<labels>.*)\})?\s+(?P<value>\S+)", re.MULTILINE)
_COUNTERS = {
    b"vllm:prefix_cache_queries_total": "queried_tokens",
    b"vllm:prefix_cache_hits_total": "hit_tokens",
    b"vllm:external_prefix_cache_queries_total": "tier_queried_tokens",
    b"vllm:external_prefix_cache_hits_total": "tier_hit_tokens",
    b"vllm:num_requests_running": "running",
    b"vllm:num_requests_waiting": "waiting",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheCounters:
    """Counts of one or more engines since they started.

    Args:
        queried_tokens: Tokens that were looked up in the engine's prefix cache.
        hit_tokens: Those that were found there.
        tier_queried_tokens: Tokens that were looked up in LMCache's tiers, having missed the engine's cache.
        tier_hit_tokens: Those that were found there.
        running: Requests that are computed now.
        waiting: Requests that wait in the engine.
    """

    queried_tokens: int = 0
    hit_tokens: int = 0
    tier_queried_tokens: int = 0
    tier_hit_tokens: int = 0
    running: int = 0
    waiting: int = 0

    @property
    def hit_rate(self) -> float | None:
        """The share of looked-up tokens that the engine's cache had; None before the first."""
        return self.hit_tokens / self.queried_tokens if self.queried_tokens else None

    @property
    def warm_rate(self) -> float | None:
        """The share that the engine's cache or a tier had; None before the first."""
        return (self.hit_tokens + self.tier_hit_tokens) / self.queried_tokens if self.queried_tokens else None

    def __add__(self, other: CacheCounters) -> CacheCounters:
        names = _COUNTERS.values()
        return CacheCounters(**{name: getattr(self, name) + getattr(other, name) for name in names})


def read_counters(text: bytes) -> CacheCounters:
    """Return the counters in a page of metrics; those that it does not have are 0."""
    found = dict.fromkeys(_COUNTERS.values(), 0.0)
    for line in _LINE.finditer(text):
        name = _COUNTERS.get(line["name"])
        if name is not None:
            found[name] += float(line["value"])
    return CacheCounters(**{name: int(value) for name, value in found.items()})


async def ask_counters(engine: Container) -> CacheCounters | None:
    """Ask an engine for its counters; None if it does not answer."""
    try:
        reply = await engine.send(ContainerRequest(method="GET", path="/metrics"))
        return read_counters(await read_body(reply)) if reply.status == 200 else None
    except (ContainerGoneError, ValueError, OverflowError):
        return None
