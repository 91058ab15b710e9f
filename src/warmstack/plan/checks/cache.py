"""The tiers below the GPU."""

from __future__ import annotations

import math
from collections.abc import Iterator

from warmstack.plan.checks.parts import cache_of, engine_of
from warmstack.plan.engine import SGLANG_DISK
from warmstack.plan.findings import finding
from warmstack.plan.lmcache import DISK_BLOCK_BYTES, chunk_bytes
from warmstack.plan.load import cache_has_tiers, uses_lmcache
from warmstack.plan.model import Finding, Plan, TierPlan
from warmstack.spec import DeploymentSpec
from warmstack.units import GIB

DEFAULT_CHUNK_SIZE = 256
FIRST_LMI_WITH_LMCACHE = 17


def check_cpu_tier(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS040."""
    for served in plan.models:
        size = cache_of(spec, served).tiers.cpu
        tier = _of_kind(served.host.tiers, "cpu")
        path = (*served.path, "cache", "tiers", "cpu")
        pool = served.host.tier_pool_bytes
        if tier is None:
            if size.kind in ("auto", "percent") and not cache_of(spec, served).lmcache.auto_config:
                yield finding("WS040", f"nothing is left of {plan.endpoint.instance.name}'s RAM for a CPU tier", path)
            continue
        if tier.bytes_per_instance > pool:
            message = (
                f"cache.tiers.cpu is {tier.bytes_per_instance / GIB:.0f} GiB; {pool / GIB:.0f} GiB of "
                f"{plan.endpoint.instance.name}'s {served.host.memory_bytes // GIB} GiB RAM are left after system, "
                "weights staging and processes"
            )
            yield finding("WS040", message, path)
        elif tier.bytes_per_worker < GIB:
            message = f"cache.tiers.cpu is {tier.bytes_per_instance / GIB:.1f} GiB, less than 1 GiB for each worker"
            yield finding("WS040", message, path)


def check_disk_tier(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS041, WS043 and WS126."""
    instance = plan.endpoint.instance
    for served in plan.models:
        size = cache_of(spec, served).tiers.disk.size
        path = (*served.path, "cache", "tiers", "disk")
        if size.kind == "none":
            continue
        if served.server == "sglang":
            if cache_of(spec, served).tiers.cpu.kind == "none":
                message = "sglang's disk tier lies below its CPU tier; write cache.tiers.cpu too"
                yield finding("WS043", message, path)
                continue
            message = f"the disk tier of {served.server_image.version} is the folder {SGLANG_DISK}"
            yield finding("WS126", message, path)
        if not instance.nvme_bytes:
            known = "has no NVMe" if instance.nvme_bytes == 0 else "has no NVMe that the catalog knows of"
            yield finding("WS041", f"{instance.name} {known}", path)
            continue
        tier = _of_kind(served.host.tiers, "disk")
        if tier is None or tier.bytes_per_instance > served.host.disk_pool_bytes or tier.bytes_per_worker < GIB:
            asked = 0 if tier is None else tier.bytes_per_instance
            message = (
                f"cache.tiers.disk is {asked / GIB:.0f} GiB; {served.host.disk_pool_bytes / GIB:.0f} GiB of "
                f"{instance.name}'s {instance.nvme_bytes / GIB:.0f} GiB NVMe are left beside the weights"
            )
            yield finding("WS041", message, path)


def check_auto_config(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS042."""
    for served in plan.models:
        cache = cache_of(spec, served)
        if not cache.lmcache.auto_config:
            continue
        path = (*served.path, "cache", "lmcache", "auto_config")
        if served.server != "lmi":
            yield finding("WS042", f"auto_config belongs to the lmi server, not {served.server}", path)
        elif not served.server_image.supports_lmcache_auto_config:
            yield finding("WS042", f"{served.server_image.version} has no auto_config; LMI 19 is the first", path)
        if cache_has_tiers(cache):
            yield finding("WS042", "auto_config sizes the tiers itself; remove cache.tiers", path)
        if engine_of(spec, served).options.get("enable_expert_parallel") is True:
            yield finding("WS042", "auto_config does not work with enable_expert_parallel", path)


def check_lmcache_in_image(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS043: LMI carries LMCache since release 17."""
    for served in plan.models:
        release = served.server_image.lmi_release
        if release is not None and release < FIRST_LMI_WITH_LMCACHE and cache_has_tiers(cache_of(spec, served)):
            message = f"{served.server_image.version} carries no LMCache; LMI {FIRST_LMI_WITH_LMCACHE} is the first"
            yield finding("WS043", message, (*served.path, "cache", "tiers"))


def check_direct_io(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS044."""
    for served in plan.models:
        cache = cache_of(spec, served)
        disk = _of_kind(served.host.tiers, "disk")
        if not cache.tiers.disk.direct_io or disk is None or served.server == "sglang":
            continue
        chunk, one = chunk_bytes(served.memory, cache.lmcache.chunk_size), chunk_bytes(served.memory, 1)
        if chunk % DISK_BLOCK_BYTES:
            step = DISK_BLOCK_BYTES // math.gcd(DISK_BLOCK_BYTES, one)
            better = -(-cache.lmcache.chunk_size // step) * step
            message = (
                f"a chunk of {cache.lmcache.chunk_size} tokens is {chunk} bytes a worker; chunk_size {better} fits"
            )
            yield finding("WS044", message, (*served.path, "cache", "lmcache", "chunk_size"))


def check_lmcache_version(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS045."""
    for served in plan.models:
        if uses_lmcache(engine_of(spec, served), cache_of(spec, served)):
            message = f"the LMCache version inside {served.server} {served.server_image.version} is not known"
            yield finding("WS045", message, (*served.path, "cache"))


def check_no_effect(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS047."""
    for served in plan.models:
        cache = cache_of(spec, served)
        path = (*served.path, "cache")
        if cache.tiers.disk.direct_io and (cache.tiers.disk.size.kind == "none" or served.server == "sglang"):
            why = "sglang has no such setting" if served.server == "sglang" else "disk.size is none"
            yield finding("WS047", f"direct_io belongs to LMCache's disk tier, and {why}", (*path, "tiers", "disk"))
        if cache.lmcache.chunk_size != DEFAULT_CHUNK_SIZE and (not cache_has_tiers(cache) or served.server == "sglang"):
            why = (
                "sglang's cache is not LMCache" if served.server == "sglang" else "there is no tier to store chunks in"
            )
            yield finding("WS047", f"chunk_size has no effect: {why}", (*path, "lmcache", "chunk_size"))


def check_host_cache_size(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS048: SGLang's host cache keeps a copy of what the GPU holds."""
    del spec
    for served in plan.models:
        tier = _of_kind(served.host.tiers, "cpu")
        if served.server == "sglang" and tier is not None and tier.bytes_per_worker < served.memory.kv_bytes_per_gpu:
            tier_gib, gpu_gib = tier.bytes_per_worker / GIB, served.memory.kv_bytes_per_gpu / GIB
            message = f"the CPU tier has {tier_gib:.0f} GiB a rank, the GPU {gpu_gib:.0f} GiB of KV: it adds little"
            yield finding("WS048", message, (*served.path, "cache", "tiers", "cpu"))


def check_hybrid_models(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS046."""
    for served in plan.models:
        hybrid = served.shape.linear_attention is not None or served.shape.mamba is not None
        if hybrid and uses_lmcache(engine_of(spec, served), cache_of(spec, served)):
            message = f"{served.model_id} mixes attention with other layers, and LMCache's connector cannot hold those"
            yield finding("WS046", message, (*served.path, "cache"))


def _of_kind(tiers: tuple[TierPlan, ...], kind: str) -> TierPlan | None:
    return next((one for one in tiers if one.kind == kind), None)


CHECKS = (
    check_cpu_tier,
    check_disk_tier,
    check_auto_config,
    check_lmcache_in_image,
    check_direct_io,
    check_lmcache_version,
    check_hybrid_models,
    check_no_effect,
    check_host_cache_size,
)
