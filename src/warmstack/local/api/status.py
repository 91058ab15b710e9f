"""What there is to see: endpoints, instances, copies, sessions, hit rates and the last requests, as one document."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from warmstack.local.api.documents import Documents
from warmstack.local.api.services import Services
from warmstack.local.platform.copies import Copy
from warmstack.local.platform.endpoints import Endpoint, Variant
from warmstack.local.platform.hit_rates import CacheCounters, ask_counters

ASK_SECONDS = 1.0
"""How long a busy engine may take to tell its counters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What the status says of the process.

    Args:
        source: What was read: a cloud assembly or a template.
        engine: ``vllm`` or ``simulated``.
        url: Where it listens.
        pid: The process.
        started_at: When it began to serve, in seconds since the epoch.
        notices: What is otherwise than on SageMaker, a sentence each.
    """

    source: str
    engine: str
    url: str
    pid: int
    started_at: float
    notices: tuple[str, ...]


async def status_document(services: Services, about: About) -> dict[str, Any]:
    """Return everything that there is to see."""
    documents = Documents(services)
    platform = services.platform
    copies = [copy for one in platform.endpoints.values() for copy in one.copies.values()]
    asked = await asyncio.gather(*(_ask(copy) for copy in copies))
    counters = {copy.name: found for copy, found in zip(copies, asked, strict=True)}
    return {
        "source": about.source,
        "engine": about.engine,
        "url": about.url,
        "region": services.region,
        "account": services.account,
        "pid": about.pid,
        "started_at": about.started_at,
        "now": services.now().timestamp(),
        "ready": platform.ready,
        "notices": [*about.notices, *platform.plan.reductions, *_reductions(platform.endpoints.values())],
        "requests": services.journal.count,
        "endpoints": [_endpoint(services, documents, one, counters) for one in platform.endpoints.values()],
        "last_requests": [asdict(entry) for entry in services.journal.newest_first()],
    }


def _reductions(endpoints: Iterable[Endpoint]) -> Iterator[str]:
    """Yield what of endpoints that came later is less than their callers asked for."""
    for endpoint in endpoints:
        yield from endpoint.reductions
        for component in endpoint.components.values():
            if component.reduction:
                yield f"{endpoint.name}: {component.name}: {component.reduction}"


async def _ask(copy: Copy) -> CacheCounters | None:
    if copy.running is None:
        return None
    try:
        async with asyncio.timeout(ASK_SECONDS):
            return await ask_counters(copy.running.engine)
    except TimeoutError:
        return None


def _endpoint(
    services: Services, documents: Documents, endpoint: Endpoint, counters: Mapping[str, CacheCounters | None]
) -> dict[str, Any]:
    known = [found for copy in endpoint.copies.values() if (found := counters[copy.name]) is not None]
    live = endpoint.sessions.live(now_seconds=services.now().timestamp())
    return {
        "name": endpoint.name,
        "status": documents.endpoint(endpoint)["EndpointStatus"],
        "config": endpoint.definition.config_name,
        "sessions": len(live),
        "cache": _cache(sum(known, CacheCounters()) if known else None),
        "variants": [_variant(endpoint, one, counters, live) for one in endpoint.variants.values()],
        "components": [
            {
                "name": component.name,
                "base": component.definition.base,
                "status": documents.component_summary(endpoint, component)["InferenceComponentStatus"],
                "desired_copies": component.desired_copies,
                "refuses": component.refuses,
            }
            for component in endpoint.components.values()
        ],
    }


def _variant(
    endpoint: Endpoint, variant: Variant, counters: Mapping[str, CacheCounters | None], live: tuple[Any, ...]
) -> dict[str, Any]:
    rules = variant.rules
    return {
        "name": variant.definition.name,
        "instance_type": variant.definition.instance_type,
        "routing": {
            "strategy": rules.strategy.value,
            "prefix_length": rules.prefix_length,
            "concurrency_threshold": rules.concurrency_threshold,
        },
        "instances": [
            {
                "name": instance.name,
                "in_flight": instance.in_flight,
                "sessions": sum(session.instance == instance.name for session in live),
                "copies": [_copy(copy, counters[copy.name]) for copy in endpoint.copies_on(instance)],
            }
            for instance in variant.instances
        ],
    }


def _copy(copy: Copy, counters: CacheCounters | None) -> dict[str, Any]:
    return {
        "name": copy.name,
        "component": copy.component,
        "state": copy.state.value,
        "in_flight": copy.in_flight,
        "served": copy.served,
        "pid": copy.running.pid if copy.running else None,
        "faults": copy.faults.described(),
        "failure": copy.failure,
        "cache": _cache(counters),
    }


def _cache(counters: CacheCounters | None) -> dict[str, Any] | None:
    if counters is None:
        return None
    return asdict(counters) | {"hit_rate": counters.hit_rate, "warm_rate": counters.warm_rate}
