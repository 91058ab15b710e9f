"""One served model, step by step: image, degree, memory, tiers, settings. Each step takes the one before."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from warmstack.catalog import Catalog, InstanceType, ModelShape, ServerImage
from warmstack.plan.endpoint import routing_strategy
from warmstack.plan.engine import MAX_LORAS, NAMES, EngineInputs, engine_settings, extra_environment, rank_slot
from warmstack.plan.environment import render_environment
from warmstack.plan.findings import finding
from warmstack.plan.host import HostUse, memory_request_mb, plan_host
from warmstack.plan.memory import (
    DEFAULT_UTILIZATION,
    SGLANG_MEM_FRACTION,
    Load,
    draft_head_bytes,
    fit,
    lora_slot_bytes,
)
from warmstack.plan.model import (
    AdapterPlan,
    Derived,
    Finding,
    GpuMemoryPlan,
    ImagePlan,
    ServedModel,
    SpecPath,
)
from warmstack.plan.naming import physical_name
from warmstack.plan.options import CheckedOptions, check_options, data_parallel_ranks, number, whole_number
from warmstack.plan.parallel import allows, degrees, largest, nearest, smallest_that_fits
from warmstack.plan.parameters import parameter_count, weight_bytes
from warmstack.plan.reasons import Choices, served_derived
from warmstack.plan.timeouts import StartTimes, start_times
from warmstack.spec import CacheSpec, ComponentSpec, DeploymentSpec, EngineSpec, ModelSpec, TierSize
from warmstack.units import GIB

# A request's tokens assumed when max_num_seqs is derived: long enough for retrieval and chat turns.
ASSUMED_REQUEST_TOKENS = 4096
MOST_SEQUENCES = 256
# Methods that need a checkpoint quantized by them; the others quantize 16-bit weights while loading.
LOADED_FROM_A_CHECKPOINT = frozenset(
    {
        "awq",
        "awq_marlin",
        "gptq",
        "gptq_marlin",
        "modelopt",
        "modelopt_fp8",
        "modelopt_fp4",
        "compressed-tensors",
        "mxfp4",
    }
)
# One copy must hold at least this much KV to be worth starting.
LEAST_KV_TOKENS = 1024
# What "fits" means for a degree when the spec names no max_model_len.
LEAST_CONTEXT_TOKENS = 8192
_BYTES_OF_KV_DTYPE = {"fp8": 1, "nvf": 1, "mxf": 1, "int": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One model to plan: the spec's parts and the catalog's facts about them.

    Args:
        spec: the whole deployment.
        component: the component, or None when the variant hosts the model.
        path: the place in the spec.
        model: the model's spec.
        engine: the engine's spec.
        cache: the cache's spec.
        shape: the model's shape.
        instance: the instance type.
        image: the image's facts.
        catalog: for the flag tables.
    """

    spec: DeploymentSpec
    component: ComponentSpec | None
    path: SpecPath
    model: ModelSpec
    engine: EngineSpec
    cache: CacheSpec
    shape: ModelShape
    instance: InstanceType
    image: ServerImage
    catalog: Catalog


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A served model with the reasons of its values and what the steps found."""

    model: ServedModel
    derived: tuple[Derived, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Split:
    degree: int
    accelerators: int
    reason: str
    given: bool


def plan_served(request: Request) -> Served:
    """Return the plan of one served model; sizes that do not fit are kept, with a finding that says so."""
    options = check_options(
        request.engine.options,
        request.catalog.flags[request.engine.server],
        (*request.path, "engine", "options"),
    )
    load = _load(request, options)
    split, split_findings = _split(request, load)
    memory, length, length_given = _memory(request, load, split)
    sequences, sequences_given = _sequences(request, options, memory, length)
    copies = max(1, request.instance.gpu_count // split.accelerators)
    workers = copies if request.component is not None else _lmi_workers(request, split)
    use = HostUse(
        instance=request.instance,
        accelerators=request.instance.gpu_count // workers if request.component is None else split.accelerators,
        copies=workers,
        memory=memory,
        stored_bytes=load.stored_bytes,
        cpu=TierSize(kind="none") if request.cache.lmcache.auto_config else request.cache.tiers.cpu,
        disk=TierSize(kind="none") if request.cache.lmcache.auto_config else request.cache.tiers.disk.size,
    )
    host = plan_host(use)
    timeouts = request.spec.endpoint.timeouts
    times = start_times(
        load.stored_bytes,
        from_hub=request.model.weights.s3 is None,
        download=timeouts.download,
        startup=timeouts.startup,
    )
    sessions = request.spec.endpoint.sessions
    adapters = request.component.adapters if request.component is not None else ()
    inputs = EngineInputs(
        model=request.model,
        engine=request.engine,
        cache=request.cache,
        image=request.image,
        options=options.settings,
        memory=memory,
        host=host,
        max_model_len=length,
        max_num_seqs=sequences,
        session_ttl_seconds=None if sessions is None else sessions.ttl,
        adapter_ranks=tuple(one.rank for one in adapters),
        startup_timeout_seconds=times.startup_seconds,
    )
    settings = engine_settings(inputs)
    entries, unwritable = render_environment(request.image, request.catalog.flags[request.engine.server], settings)
    environment = dict(sorted((entries | extra_environment(inputs)).items()))
    findings = [*options.findings, *split_findings, *_typed_choices(request)]
    findings += [finding(one.check, one.message, _option_path(request, one.setting)) for one in unwritable]
    findings += _late_starts(request, times)
    findings += _too_large(request, load, memory)
    names = (request.spec.name, request.spec.environment)
    component = request.component
    model = ServedModel(
        component=None if component is None else component.name,
        physical_name=None if component is None else physical_name(*names, component.name),
        path=request.path,
        model_id=request.model.id,
        shape=request.shape,
        weights_s3=request.model.weights.s3,
        server=request.engine.server,
        server_image=request.image,
        flags_version=request.catalog.flags[request.engine.server].version,
        image=_image(request),
        engine_settings=settings,
        environment=environment,
        memory=memory,
        host=host,
        max_model_len=length,
        max_num_seqs=sequences,
        accelerators=split.accelerators,
        copies_per_instance=copies if component is None or split.accelerators <= request.instance.gpu_count else 0,
        copies_min=request.spec.endpoint.instances.min if component is None else component.copies.min,
        copies_max=_copies_max(request),
        target_concurrency=_target(request, sequences),
        memory_request_mb=memory_request_mb(use, host),
        download_timeout_seconds=times.download_seconds,
        startup_timeout_seconds=times.startup_seconds,
        spread=component is not None and routing_strategy(request.spec) == "PREFIX_AWARE",
        adapters=tuple(
            AdapterPlan(
                name=one.name,
                physical_name=physical_name(*names, component.name if component else "", one.name),
                artifact=one.artifact,
                rank=one.rank,
            )
            for one in adapters
        ),
    )
    choices = Choices(
        degree_reason=split.reason,
        degree_given=split.given,
        allowed_degrees=degrees(request.shape, request.instance.gpu_count),
        version_given=request.engine.version is not None,
        length_given=length_given,
        sequences_given=sequences_given,
        share_given=NAMES[request.engine.server]["share"] in options.settings,
        download_given=timeouts.download is not None,
        startup_given=timeouts.startup is not None,
        request_tokens=min(length, ASSUMED_REQUEST_TOKENS),
    )
    derived = tuple(served_derived(model, choices))
    return Served(model=model, derived=derived, findings=tuple(findings))


def uses_lmcache(engine: EngineSpec, cache: CacheSpec) -> bool:
    """Return whether the engine runs with LMCache's connector."""
    return engine.server != "sglang" and (cache_has_tiers(cache) or cache.lmcache.auto_config)


def cache_has_tiers(cache: CacheSpec) -> bool:
    """Return whether the spec asks for a tier below the GPU."""
    return cache.tiers.cpu.kind != "none" or cache.tiers.disk.size.kind != "none"


def _too_large(request: Request, load: Load, memory: GpuMemoryPlan) -> Iterator[Finding]:
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


def _lmi_workers(request: Request, split: _Split) -> int:
    """Return how many engines a variant runs: LMI starts one for each group of GPUs, unless something forces one."""
    forced = request.spec.endpoint.sessions is not None or request.cache.lmcache.auto_config
    if request.engine.server != "lmi" or forced:
        return 1
    return max(1, request.instance.gpu_count // split.degree)


def _late_starts(request: Request, times: StartTimes) -> Iterator[Finding]:
    for name, has, wants in (
        ("download", times.download_seconds, times.wanted_download_seconds),
        ("startup", times.startup_seconds, times.wanted_startup_seconds),
    ):
        if wants <= has:
            continue
        given = getattr(request.spec.endpoint.timeouts, name)
        why = f"timeouts.{name} is {has} s" if given else "SageMaker waits at most 3600 s"
        path = ("endpoint", "timeouts", name) if given else (*request.path, "model")
        yield finding("WS033", f"{name} of {request.model.id} may take {wants} s; {why}", path)


def _load(request: Request, options: CheckedOptions) -> Load:
    weights = weight_bytes(
        request.shape, dtype=_none_if_auto(request.model.dtype), quantization=request.model.quantization
    )
    share_name = NAMES[request.engine.server]["share"]
    default = SGLANG_MEM_FRACTION if request.engine.server == "sglang" else DEFAULT_UTILIZATION
    kv_dtype = str(options.settings.get("kv_cache_dtype", "auto"))
    adapters = request.component.adapters if request.component is not None else ()
    extra = _draft_bytes(request)
    if adapters:
        slots = whole_number(options.settings, "max_loras") or MAX_LORAS
        rank = whole_number(options.settings, "max_lora_rank") or rank_slot(max(one.rank for one in adapters))
        extra += slots * lora_slot_bytes(request.shape, rank)
    return Load(
        shape=request.shape,
        parameter_count=parameter_count(request.shape),
        weight_bytes=weights.total_bytes,
        stored_bytes=_stored_bytes(request, weights.total_bytes),
        kv_dtype_bytes=_BYTES_OF_KV_DTYPE.get(kv_dtype[:3], 4 if request.model.dtype == "float32" else 2),
        gpu_memory_utilization=number(options.settings, share_name) or default,
        extra_bytes=extra,
        outside_share=request.engine.server == "sglang",
        windows_grow=uses_lmcache(request.engine, request.cache),
    )


def _stored_bytes(request: Request, loaded_bytes: int) -> int:
    """Return the bytes of the weights as they lie in S3 or on the hub, which is what a start has to move."""
    if request.model.quantization in LOADED_FROM_A_CHECKPOINT:
        return loaded_bytes
    return weight_bytes(request.shape, dtype=None, quantization=None).total_bytes


def _draft_bytes(request: Request) -> int:
    """Return the bytes of a speculative draft on the GPUs; a draft that the catalog does not know counts nothing."""
    speculative = request.engine.speculative
    if speculative is None or speculative.draft is None:
        return 0
    if speculative.method in ("eagle", "eagle3"):
        return draft_head_bytes(request.shape)
    shape = request.catalog.models.get(speculative.draft)
    known = shape is not None and shape.complete
    return weight_bytes(shape, dtype=None, quantization=None).total_bytes if known and shape is not None else 0


def _none_if_auto(dtype: str) -> str | None:
    return None if dtype == "auto" else dtype


def _split(request: Request, load: Load) -> tuple[_Split, list[Finding]]:
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
        split = _Split(degree=wanted, accelerators=accelerators or whole, reason=reason, given=True)
    elif request.component is None:
        degree = largest(request.shape, gpus)
        heads, on = request.shape.num_attention_heads, f"{gpus} GPU{'s' if gpus > 1 else ''}"
        reason = f"the largest divisor of {heads} heads on {on}: one engine for all"
        split = _Split(degree=degree, accelerators=request.instance.gpu_count, reason=reason, given=False)
    else:
        degree, reason = _smallest(request, load)
        split = _Split(degree=degree, accelerators=degree * ranks, reason=reason, given=False)
    most = request.instance.gpu_count
    if split.accelerators > most:
        what = "accelerators" if accelerators is not None else "tensor_parallel_degree"
        message = f"{what} is {split.accelerators}; {request.instance.name} has {most} GPU{'s' if most > 1 else ''}"
        findings.append(finding("WS028", message, place))
    if accelerators is not None and split.degree * ranks != accelerators:
        of_ranks = f" x {ranks} data parallel ranks" if ranks > 1 else ""
        message = (
            f"tensor_parallel_degree is {split.degree}{of_ranks} and accelerators is {accelerators}; they must be equal"
        )
        findings.append(finding("WS027", message, place))
    return split, findings


def _smallest(request: Request, load: Load) -> tuple[int, str]:
    own = request.shape.max_position_embeddings or LEAST_CONTEXT_TOKENS
    wanted = request.model.max_model_len or min(own, LEAST_CONTEXT_TOKENS)
    degree = smallest_that_fits(
        request.shape,
        request.instance.gpu_count,
        lambda one: fit(load, request.instance, one, None).kv_tokens >= wanted,
    )
    if degree is None:
        return largest(request.shape, request.instance.gpu_count), "no degree fits; the largest is shown"
    return degree, f"the smallest that holds the weights and {wanted:,} tokens of KV"


def _memory(request: Request, load: Load, split: _Split) -> tuple[GpuMemoryPlan, int, bool]:
    """Return the memory plan and max_model_len: given, or the model's own, cut to what fits."""
    given = request.model.max_model_len
    first = fit(load, request.instance, split.degree, given)
    if given is not None:
        return first, given, True
    most = request.shape.max_position_embeddings or max(1024, first.kv_tokens)
    length = most if first.kv_tokens >= most else max(1024, first.kv_tokens // 1024 * 1024)
    return fit(load, request.instance, split.degree, length), length, False


def _sequences(request: Request, options: CheckedOptions, memory: GpuMemoryPlan, length: int) -> tuple[int, bool]:
    given = whole_number(options.settings, NAMES[request.engine.server]["sequences"])
    if given is not None:
        return given, True
    room = memory.kv_tokens // min(length, ASSUMED_REQUEST_TOKENS)
    return (1 << min(int(math.log2(room)), int(math.log2(MOST_SEQUENCES)))) if room >= 1 else 1, False


def _copies_max(request: Request) -> int:
    if request.component is None:
        return request.spec.endpoint.instances.max or request.spec.endpoint.instances.min
    return request.component.copies.max or request.component.copies.min


def _target(request: Request, sequences: int) -> int | None:
    component = request.component
    if component is None or _copies_max(request) == component.copies.min:
        return None
    return component.copies.target_concurrency or -(-sequences // 2)


def _typed_choices(request: Request) -> list[Finding]:
    """Check the typed fields that a server has choices for against its own list."""
    flags = request.catalog.flags[request.engine.server].flags
    found: list[Finding] = []
    for field, name, value in (
        ("quantization", NAMES[request.engine.server]["quantization"], request.model.quantization),
        ("dtype", "dtype", request.model.dtype),
    ):
        flag = flags.get(name)
        if value is not None and flag is not None and flag.choices and value not in flag.choices:
            message = f"{field} is {value}; {request.engine.server} accepts {', '.join(flag.choices)}"
            found.append(finding("WS083", message, (*request.path, "model", field)))
    return found


def _option_path(request: Request, setting: str) -> SpecPath:
    written = {"max_rolling_batch_size": "max_num_seqs"}.get(setting, setting)
    for name in (setting, written):
        if name in request.engine.options:
            return (*request.path, "engine", "options", name)
    return (*request.path, "engine")


def _image(request: Request) -> ImagePlan:
    base = request.spec.image.base
    if base is not None:
        repository, _, tag = base.partition("/")[2].partition("@" if "@" in base else ":")
        return ImagePlan(repository=repository, tag=tag, uri=base)
    image = request.image
    uri = f"${{Registry}}.dkr.ecr.${{AWS::Region}}.${{AWS::URLSuffix}}/{image.repository}:{image.tag}"
    return ImagePlan(repository=image.repository, tag=image.tag, uri=uri)
