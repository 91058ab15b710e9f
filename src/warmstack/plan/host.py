"""RAM and NVMe of one instance: system, staging, processes, and the tiers below the GPU.

Assumptions: the system keeps 10 % of the RAM; every worker process takes 4 GiB beside its pinned pool; loading a
copy passes its weights through RAM once (staging); weights mounted from S3 or downloaded lie on the instance's
NVMe, once for each copy, with 10 % to spare; 5 % of the NVMe is the file system's.
"""

from __future__ import annotations

from dataclasses import dataclass

from warmstack.catalog import InstanceType
from warmstack.plan.model import GpuMemoryPlan, HostMemoryPlan, TierPlan
from warmstack.spec import TierSize
from warmstack.units import GIB, MIB

SYSTEM_SHARE = 0.10
PROCESS_BYTES = 4 * GIB
AUTO_CPU_SHARE = 0.60
AUTO_DISK_SHARE = 0.80
NVME_FILE_SYSTEM_SHARE = 0.05
WEIGHTS_ON_DISK = 1.1
MIN_REQUEST_MB = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class HostUse:
    """How one served model uses its instance.

    Args:
        instance: the instance type.
        accelerators: GPUs a copy takes; the copy's share of RAM and NVMe is its share of the GPUs.
        copies: copies of it on a full instance.
        memory: what its copies hold on the GPUs.
        ranks: data parallel ranks of a copy; each is a group of workers with its own pool.
        stored_bytes: its weights as they lie on disk and pass through RAM.
        cpu: the size of the CPU tier, for the whole instance.
        disk: the size of the disk tier, for the whole instance.
    """

    instance: InstanceType
    accelerators: int
    copies: int
    memory: GpuMemoryPlan
    ranks: int
    stored_bytes: int
    cpu: TierSize
    disk: TierSize


def plan_host(use: HostUse) -> HostMemoryPlan:
    """Return where the RAM and the NVMe go. Sizes that do not fit are kept: the checks speak of them."""
    workers = use.copies * workers_of(use)
    system = int(use.instance.memory_bytes * SYSTEM_SHARE)
    staging = use.copies * use.stored_bytes
    processes = workers * PROCESS_BYTES
    pool = max(0, use.instance.memory_bytes - system - staging - processes)
    on_disk = int(use.copies * use.stored_bytes * WEIGHTS_ON_DISK)
    disk_pool = max(0, int((use.instance.nvme_bytes or 0) * (1 - NVME_FILE_SYSTEM_SHARE)) - on_disk)
    tiers: list[TierPlan] = []
    cpu_bytes = tier_bytes(use.cpu, pool, AUTO_CPU_SHARE)
    if cpu_bytes:
        tiers.append(_tier(use, "cpu", cpu_bytes, use.memory.kv_tokens))
    disk_bytes = tier_bytes(use.disk, disk_pool, AUTO_DISK_SHARE)
    if disk_bytes:
        # LMCache writes through: what is on the GPU is in RAM too, so disk begins behind the larger of the two.
        above = max([use.memory.kv_tokens, *(one.tokens_per_copy for one in tiers)])
        tiers.append(_tier(use, "disk", disk_bytes, above))
    return HostMemoryPlan(
        memory_bytes=use.instance.memory_bytes,
        system_bytes=system,
        staging_bytes=staging,
        process_bytes=processes,
        tier_pool_bytes=pool,
        nvme_bytes=use.instance.nvme_bytes,
        nvme_weights_bytes=on_disk,
        disk_pool_bytes=disk_pool,
        tiers=tuple(tiers),
    )


def workers_of(use: HostUse) -> int:
    """Return the worker processes of one copy: one for each GPU it computes on."""
    return use.memory.tensor_parallel_degree * use.ranks


def tier_bytes(size: TierSize, pool_bytes: int, auto_share: float) -> int:
    """Return the bytes of a tier on one instance, given what is left for tiers."""
    if size.kind == "none":
        return 0
    if size.kind == "bytes":
        return size.value
    return int(pool_bytes * (auto_share if size.kind == "auto" else size.value / 100))


def _tier(use: HostUse, kind: str, per_instance: int, pays_beyond: int) -> TierPlan:
    workers = workers_of(use)
    # The share of a copy follows its GPUs, so that components beside it find theirs.
    per_copy = per_instance * use.accelerators // use.instance.gpu_count
    # Guard: LMCache and SGLang count whole GiB per worker; rounding down keeps the sum within the instance.
    per_worker = per_copy // workers // GIB * GIB
    per_token = use.memory.kv_bytes_per_token
    return TierPlan(
        kind="cpu" if kind == "cpu" else "disk",
        bytes_per_instance=per_instance,
        bytes_per_worker=per_worker,
        tokens_per_copy=per_worker * workers // per_token if per_token else 0,
        pays_beyond_tokens=pays_beyond,
    )


def memory_request_mb(use: HostUse, host: HostMemoryPlan) -> int:
    """Return the RAM (MiB) that one copy asks for: processes, staging and its CPU tier, within its share."""
    workers = workers_of(use)
    cpu = sum(one.bytes_per_worker for one in host.tiers if one.kind == "cpu") * workers
    wanted = workers * PROCESS_BYTES + use.stored_bytes + cpu
    share = (use.instance.memory_bytes - host.system_bytes) * use.accelerators // use.instance.gpu_count
    return max(MIN_REQUEST_MB, min(wanted, share) // MIB)
