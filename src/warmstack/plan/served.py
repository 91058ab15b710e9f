"""One served model, step by step: image, degree, memory, tiers, settings. Each step takes the one before."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from warmstack.plan.endpoint import routing_strategy
from warmstack.plan.engine import NAMES, EngineInputs, engine_settings, extra_environment
from warmstack.plan.environment import render_environment
from warmstack.plan.findings import finding
from warmstack.plan.host import HostUse, memory_request_mb, plan_host
from warmstack.plan.images import carried_files, plan_image
from warmstack.plan.load import load_of
from warmstack.plan.memory import Load, fit
from warmstack.plan.model import AdapterPlan, Derived, Finding, GpuMemoryPlan, ServedModel, SpecPath
from warmstack.plan.naming import physical_name
from warmstack.plan.options import CheckedOptions, canonical_name, check_options, data_parallel_ranks, whole_number
from warmstack.plan.parallel import degrees
from warmstack.plan.reasons import Choices, served_derived
from warmstack.plan.request import Request
from warmstack.plan.speculative import plan_draft
from warmstack.plan.split import Split, lmi_workers, split_of, too_large
from warmstack.plan.timeouts import StartTimes, start_times
from warmstack.spec import TierSize

# A request's tokens assumed when max_num_seqs is derived: long enough for retrieval and chat turns.
ASSUMED_REQUEST_TOKENS = 4096
MOST_SEQUENCES = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A served model with the reasons of its values and what the steps found."""

    model: ServedModel
    derived: tuple[Derived, ...]
    findings: tuple[Finding, ...]


def plan_served(request: Request) -> Served:
    """Return the plan of one served model; sizes that do not fit are kept, with a finding that says so."""
    options = check_options(
        request.engine.options,
        request.catalog.flags[request.engine.server],
        (*request.path, "engine", "options"),
    )
    load = load_of(request, options)
    split, split_findings = split_of(request, load)
    memory, length, length_given = _memory(request, load, split)
    sequences, sequences_given = _sequences(request, options, memory, length)
    copies = max(1, request.instance.gpu_count // split.accelerators)
    workers = copies if request.component is not None else lmi_workers(request, split)
    use = HostUse(
        instance=request.instance,
        accelerators=request.instance.gpu_count // workers if request.component is None else split.accelerators,
        copies=workers,
        memory=memory,
        ranks=data_parallel_ranks(request.engine.options),
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
    draft = plan_draft(
        request.engine.speculative, request.texts.get((*request.path, "engine", "speculative", "draft_config"))
    )
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
        sessions=sessions,
        adapter_ranks=tuple(one.rank for one in adapters),
        startup_timeout_seconds=times.startup_seconds,
        built=request.has_built_image,
        carried=carried_files(request, host, memory),
    )
    settings = engine_settings(inputs)
    entries, unwritable = render_environment(request.image, request.catalog.flags[request.engine.server], settings)
    environment = dict(sorted((entries | extra_environment(inputs)).items()))
    findings = [*options.findings, *split_findings, *_typed_choices(request)]
    findings += [finding(one.check, one.message, _option_path(request, one.setting)) for one in unwritable]
    findings += _late_starts(request, times)
    findings += too_large(request, load, memory)
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
        image=plan_image(request),
        carried=inputs.carried,
        draft=draft,
        token_secret=None if request.model.weights.hub is None else request.model.weights.hub.token_secret,
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


def _memory(request: Request, load: Load, split: Split) -> tuple[GpuMemoryPlan, int, bool]:
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
    flags = request.catalog.flags[request.engine.server]
    for name in request.engine.options:
        if canonical_name(name, flags) == setting:
            return (*request.path, "engine", "options", name)
    return (*request.path, "engine")
