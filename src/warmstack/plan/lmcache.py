"""LMCache's settings for the tiers of one served model: as a configuration file, and as environment.

The keys are LMCache's own (0.5.6, ``lmcache/v1/config.py``). Sizes are GiB for one worker (tensor parallel rank).
An image of ours carries them as a file; a stock image gets the same settings as ``LMCACHE_*`` variables.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from warmstack.plan.image_plan import Setting
from warmstack.plan.model import GpuMemoryPlan, HostMemoryPlan, TierPlan
from warmstack.spec import CacheSpec
from warmstack.units import GIB

LMCACHE_DISK = "file:///tmp/lmcache/"
# The staging pool that LMCache needs for a disk or remote tier even without a CPU tier (GiB, LMI's test value).
STAGING_POOL_GIB = 5
DISK_BLOCK_BYTES = 4096
CONNECTOR: Mapping[str, object] = {"kv_connector": "LMCacheConnectorV1", "kv_role": "kv_both"}
"""vLLM's kv_transfer_config. LMCache's settings do nothing without it, nor it without them."""


def chunk_bytes(memory: GpuMemoryPlan, chunk_size: int) -> int:
    """Return the bytes of one chunk as one worker stores it: its part of the KV of ``chunk_size`` tokens."""
    return chunk_size * (memory.kv_bytes_per_token // memory.tensor_parallel_degree)


def lmcache_settings(
    cache: CacheSpec, host: HostMemoryPlan, memory: GpuMemoryPlan, region: str | None
) -> dict[str, Setting]:
    """Return LMCache's settings by its own keys, sorted; empty without a tier.

    Args:
        cache: the cache as the spec has it.
        host: the tiers of the instance.
        memory: the KV of a token, for the size of a chunk.
        region: the deployment's Region, where a bucket is looked for that names no other; None when unknown.
    """
    cpu, disk, remote = tier_of(host, "cpu"), tier_of(host, "disk"), cache.tiers.remote
    if cpu is None and disk is None and remote is None:
        return {}
    settings: dict[str, Setting] = {
        "chunk_size": cache.lmcache.chunk_size,
        "local_cpu": cpu is not None,
        "max_local_cpu_size": STAGING_POOL_GIB if cpu is None else cpu.bytes_per_worker // GIB,
    }
    extra: dict[str, object] = {}
    if disk is not None:
        # Guard: three slashes. LMCache strips file://, and two would leave a relative path.
        settings["local_disk"] = LMCACHE_DISK
        settings["max_local_disk_size"] = disk.bytes_per_worker // GIB
        # LMCache local_disk_backend: direct I/O only in whole blocks of the file system (WS044 names the chunk_size).
        if cache.tiers.disk.direct_io and chunk_bytes(memory, cache.lmcache.chunk_size) % DISK_BLOCK_BYTES == 0:
            extra["use_odirect"] = True
    if remote is not None:
        settings |= {"remote_url": remote.url, "remote_serde": "naive", "save_unfull_chunk": False}
        if remote.url.startswith("s3://"):
            place = remote.region or region or ""
            settings["remote_url"] = bucket_url(remote.url, place)
            # LMCache s3_adapter: s3_region is required, and the store must not keep metadata beside a chunk.
            extra |= {"s3_region": place, "save_chunk_meta": False}
    if cache.lmcache.enable_blending:
        settings |= {
            "enable_blending": True,
            "use_layerwise": True,
            # LMCache would set it itself, with a warning.
            "save_unfull_chunk": True,
            "blend_check_layers": cache.lmcache.blend_check_layers,
            "blend_recompute_ratios": cache.lmcache.blend_recompute_ratios,
        }
    if extra:
        settings["extra_config"] = dict(sorted(extra.items()))
    return dict(sorted(settings.items()))


def bucket_url(url: str, region: str) -> str:
    """Return an ``s3://bucket/`` as LMCache wants it: with the bucket's host name (s3_connector, Host header)."""
    domain = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return f"s3://{url.removeprefix('s3://').rstrip('/')}.s3.{region}.{domain}"


def lmcache_environment(settings: Mapping[str, Setting]) -> dict[str, str]:
    """Return the settings as the environment that LMCache reads; it overrides a file, so it holds in any image."""
    return {f"LMCACHE_{name.upper()}": _text(value) for name, value in settings.items()}


def _text(value: Setting) -> str:
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, tuple):
        return ",".join(str(one) for one in value)
    if isinstance(value, Mapping):
        return json.dumps(value, separators=(",", ":"), sort_keys=True)
    return str(value)


def tier_of(host: HostMemoryPlan, kind: str) -> TierPlan | None:
    """Return the tier of a kind, or None."""
    return next((tier for tier in host.tiers if tier.kind == kind), None)
