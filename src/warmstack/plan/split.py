"""The tensor parallel degree of one model and the GPUs of a copy, and what to say when nothing fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warmstack.plan.findings import finding
from warmstack.plan.memory import Load, fit
from warmstack.plan.model import Finding, GpuMemoryPlan
from warmstack.plan.options import data_parallel_ranks
from warmstack.plan.parallel import allows, largest, nearest, smallest_that_fits
from warmstack.plan.request import Request
from warmstack.units import GIB

# One copy must hold at least this much KV to be worth starting.
LEAST_KV_TOKENS = 1024
# What "fits" means for a degree when the spec names no max_model_len.
LEAST_CONTEXT_TOKENS = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """How a model is split over GPUs.

    Args:
        degree: the tensor parallel degree.
        accelerators: GPUs of a copy: the degree times its data parallel ranks.
        reason: how the degree came about.
        given: whether the spec gave it.
    """

    degree: int
    accelerators: int
    reason: str
    given: bool


def split_of(request: Request, load: Load) -> tuple[Split, list[Finding]]:
    """Choose the tensor parallel degree and the GPUs of a copy."""
    ranks = data_parallel_ranks(request.engine.options)
    gpus = max(1, request.instance.gpu_count // ranks)
    wanted = request.engine.tensor_parallel_degree
    place = (*request.path, "engine", "tensor_parallel_degree")
    accelerators = request.component.accelerators if request.component is not None else None
    if wanted is None and accelerators is not None:
        wanted, place = max(1, accelerators // ranks), (*request.path, "accelerators")
    findings: list[Finding] = []
    if wanted is not None:
        if not allows(request.shape, wanted):
            near = " or ".join(str(one) for one in nearest(request.shape, wanted, max(gpus, wanted)))
            message = (
                f"{place[-1]} is {wanted}; {request.model.id} has {request.shape.num_attention_heads} attention heads "
                f"and {request.shape.num_key_value_heads} KV heads, so it must be {near}"
            )
            findings.append(finding("WS024", message, place))
        whole = wanted * ranks
        reason = "given in the spec" if place[-1] == "tensor_parallel_degree" else "follows from accelerators"
        split = Split(degree=wanted, accelerators=accelerators or whole, reason=reason, given=True)
    elif request.component is None:
        degree = largest(request.shape, gpus)
        heads, on = request.shape.num_attention_heads, f"{gpus} GPU{'s' if gpus > 1 else ''}"
        reason = f"the largest divisor of {heads} heads on {on}: one engine for all"
        split = Split(degree=degree, accelerators=request.instance.gpu_count, reason=reason, given=False)
    else:
        degree, reason = _smallest(request, load, gpus)
        split = Split(degree=degree, accelerators=degree * ranks, reason=reason, given=False)
    most = request.instance.gpu_count
    if split.accelerators > most:
        degrees = f"{split.degree} x {ranks} data parallel ranks is" if ranks > 1 else "is"
        what = "accelerators is" if accelerators is not None else f"tensor_parallel_degree {degrees}"
        message = f"{what} {split.accelerators}; {request.instance.name} has {most} GPU{'s' if most > 1 else ''}"
        findings.append(finding("WS028", message, place))
    if accelerators is not None and split.degree * ranks != accelerators:
        of_ranks = f" x {ranks} data parallel ranks" if ranks > 1 else ""
        message = (
            f"tensor_parallel_degree is {split.degree}{of_ranks} and accelerators is {accelerators}; they must be equal"
        )
        findings.append(finding("WS027", message, place))
    return split, findings


def _smallest(request: Request, load: Load, gpus: int) -> tuple[int, str]:
    own = request.shape.max_position_embeddings or LEAST_CONTEXT_TOKENS
    wanted = request.model.max_model_len or min(own, LEAST_CONTEXT_TOKENS)
    degree = smallest_that_fits(
        request.shape,
        gpus,
        lambda one: fit(load, request.instance, one, None).kv_tokens >= wanted,
    )
    if degree is None:
        return largest(request.shape, gpus), "no degree fits; the largest is shown"
    return degree, f"the smallest that holds the weights and {wanted:,} tokens of KV"


def lmi_workers(request: Request, split: Split) -> int:
    """Return how many engines a variant runs: LMI starts one for each group of GPUs, unless something forces one."""
    forced = request.spec.endpoint.sessions is not None or request.cache.lmcache.auto_config
    forced = forced or request.engine.options.get("enable_lora") is True
    if request.engine.server != "lmi" or forced:
        return 1
    return max(1, request.instance.gpu_count // split.degree)


def too_large(request: Request, load: Load, memory: GpuMemoryPlan) -> Iterator[Finding]:
    """WS020, with the cheapest instance type of the catalog that would do."""
    if memory.kv_tokens >= LEAST_KV_TOKENS:
        return
    degree, share = memory.tensor_parallel_degree, memory.gpu_memory_utilization
    need = memory.weight_bytes / degree + memory.overhead_bytes_per_gpu
    where = f"each of {degree} GPUs" if degree > 1 else "the GPU"
    message = (
        f"{request.model.id} needs about {need / GIB:.1f} GiB on {where} before any KV; {share:.0%} of a GPU of "
        f"{request.instance.name} is {memory.gpu_memory_bytes * share / GIB:.1f} GiB"
    )
    wanted = request.model.max_model_len or LEAST_CONTEXT_TOKENS
    priced = [one for one in request.catalog.instances.values() if one.usd_per_hour is not None]
    for instance in sorted(priced, key=lambda one: (one.usd_per_hour or 0, one.name)):
        if fit(load, instance, largest(request.shape, instance.gpu_count), None).kv_tokens >= wanted:
            message += f"; the cheapest that holds it and {wanted:,} tokens is {instance.name}"
            break
    yield finding("WS020", message, (*request.path, "model", "id"))
