"""What fits: GPUs, context, copies, instances."""

from __future__ import annotations

from collections.abc import Iterator

from warmstack.plan.checks.parts import cache_of, engine_of, model_of
from warmstack.plan.findings import finding
from warmstack.plan.model import Finding, Plan, ServedModel
from warmstack.plan.options import data_parallel_ranks, whole_number
from warmstack.plan.parallel import largest
from warmstack.plan.split import LEAST_KV_TOKENS
from warmstack.spec import DeploymentSpec
from warmstack.units import GIB


def check_context(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS021, WS022, WS023 and WS035."""
    for served in plan.models:
        model, path = model_of(spec, served), (*served.path, "model", "max_model_len")
        most = served.shape.max_position_embeddings
        memory = served.memory
        fits = memory.kv_tokens >= LEAST_KV_TOKENS
        if model.max_model_len is None and most is None:
            message = f"{served.model_id} states no context length; write model.max_model_len"
            yield finding("WS035", message, path)
            continue
        if model.max_model_len is None:
            if fits and most is not None and served.max_model_len < most:
                message = (
                    f"max_model_len is {served.max_model_len:,} of the model's {most:,} tokens: what one copy holds"
                )
                yield finding("WS023", message, path)
            continue
        if most is not None and model.max_model_len > most and "hf_overrides" not in engine_of(spec, served).options:
            message = f"max_model_len is {model.max_model_len}; {served.model_id} was made for {most} tokens"
            yield finding("WS021", message, path)
        elif fits and model.max_model_len > memory.kv_tokens:
            message = (
                f"max_model_len is {model.max_model_len}; one copy holds {memory.kv_tokens} tokens of KV, "
                "and the engine refuses to start when one full request does not fit"
            )
            yield finding("WS022", message, path)


def check_idle_gpus(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS025 and WS026: a variant that hosts the model itself should use every GPU with one engine."""
    gpus = plan.endpoint.instance.gpu_count
    for served in plan.models:
        degree, ranks = served.memory.tensor_parallel_degree, data_parallel_ranks(engine_of(spec, served).options)
        used = degree * ranks
        if served.component is not None or used >= gpus:
            continue
        path = (*served.path, "engine", "tensor_parallel_degree")
        most = largest(served.shape, max(1, gpus // ranks))
        sessions, auto = spec.endpoint.sessions is not None, cache_of(spec, served).lmcache.auto_config
        one_worker = served.server != "lmi" or sessions or auto
        what = "they stay idle" if one_worker else "LMI would start several workers, each with its own cache"
        idle = f"tensor_parallel_degree {degree} leaves {gpus - used} of {gpus} GPUs over: {what}"
        if degree < most and (sessions or auto):
            reason = "sessions need one worker" if sessions else "LMCache's auto_config needs one worker"
            yield finding("WS026", f"{idle}; {reason}, so it must be {most}", path)
        elif sessions or auto:
            yield finding("WS025", f"{idle}; an instance type with {used} GPUs would have none over", path)
        else:
            copies = gpus // used * plan.endpoint.instances_min
            form = f"components: [{{name: chat, accelerators: {used}, copies: {{min: {copies}}}}}]"
            yield finding("WS025", f"{idle}; as a component they are used: {form}", path)


def check_copies(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS029: all copies at their maximum (error) or minimum (error above max, else they wait for scaling)."""
    if not spec.components or any(one.copies_per_instance == 0 for one in plan.models):
        return
    instance = plan.endpoint.instance
    for which, counts in (
        ("min", [one.copies_min for one in plan.models]),
        ("max", [one.copies_max for one in plan.models]),
    ):
        needed = _instances_for(plan.models, counts, instance.gpu_count)
        if needed > plan.endpoint.instances_max:
            gpus = sum(count * one.accelerators for count, one in zip(counts, plan.models, strict=True))
            message = (
                f"copies.{which} of all components take {gpus} GPUs, {needed} x {instance.name}; "
                f"endpoint.instances.max is {plan.endpoint.instances_max}"
            )
            yield finding("WS029", message, ("endpoint", "instances"))
            return


def check_idle_instances(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS017."""
    if not spec.components or any(one.copies_per_instance == 0 for one in plan.models):
        return
    most = [one.copies_max for one in plan.models]
    # Spread copies want an instance each; packed ones as few as hold them.
    spread = max((one.copies_max for one in plan.models if one.spread), default=0)
    needed = max(_instances_for(plan.models, most, plan.endpoint.instance.gpu_count), spread)
    if plan.endpoint.instances_min > needed:
        message = f"instances.min is {plan.endpoint.instances_min}; all copies at their maximum need {needed}"
        yield finding("WS017", message, ("endpoint", "instances", "min"))


def check_idle_component_gpus(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS018."""
    del spec
    if not plan.endpoint.uses_components or any(one.copies_per_instance == 0 for one in plan.models):
        return
    gpus = plan.endpoint.instance.gpu_count * plan.endpoint.instances_min
    used = sum(one.copies_max * one.accelerators for one in plan.models)
    if gpus - used >= min(one.accelerators for one in plan.models):
        message = f"all copies at their maximum take {used} of the {gpus} GPUs that always run"
        yield finding("WS018", message, ("components",))


def check_loading_room(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS049."""
    del spec
    for served in plan.models:
        host = served.host
        over = host.system_bytes + host.staging_bytes + host.process_bytes - host.memory_bytes
        if over > 0:
            message = (
                f"system, processes and weights on their way come to {over / GIB:.1f} GiB more than the "
                f"{host.memory_bytes / GIB:.0f} GiB of RAM: loading reads from disk more than once"
            )
            yield finding("WS049", message, served.path or ("endpoint", "instance_type"))


def _instances_for(models: tuple[ServedModel, ...], counts: list[int], gpus: int) -> int:
    """Return the instances that hold the copies: first fit, largest first, as no copy spans instances."""
    free: list[int] = []
    copies = sorted(
        (one.accelerators for one, count in zip(models, counts, strict=True) for _ in range(count)),
        reverse=True,
    )
    for size in copies:
        for index, left in enumerate(free):
            if left >= size:
                free[index] -= size
                break
        else:
            free.append(gpus - size)
    return len(free)


def check_parallelism(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS031."""
    for served in plan.models:
        options = engine_of(spec, served).options
        path = (*served.path, "engine", "options")
        for name in ("pipeline_parallel_size", "pipeline_parallel_degree", "pp_size"):
            if options.get(name, 1) != 1:
                message = f"{name} is {options[name]}; the plan counts one group of GPUs a copy"
                yield finding("WS031", message, (*path, name))
        ranks, degree = data_parallel_ranks(options), served.memory.tensor_parallel_degree
        gpus = plan.endpoint.instance.gpu_count
        has = served.accelerators if served.component is not None else gpus
        if has < ranks * degree <= gpus or (served.component is None and ranks * degree > gpus >= degree):
            each = f"{degree} GPU{'s' if degree > 1 else ''}"
            message = f"{ranks} data parallel ranks of {each} take {ranks * degree}; a copy has {has}"
            yield finding("WS031", message, path)
        if served.server == "lmi" and ranks > 1 and spec.endpoint.sessions is None and not served.adapters:
            message = (
                f"LMI starts a worker for each {degree} of the GPUs, and each would ask for {ranks} ranks of its own"
            )
            yield finding("WS031", message, path)
        if options.get("enable_dp_attention") is True and degree % (whole_number(options, "dp_size") or 1):
            message = f"with enable_dp_attention, dp_size must divide tensor_parallel_degree, {degree}"
            yield finding("WS031", message, (*path, "dp_size"))


def check_variant_scaling(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS032."""
    low, high = plan.endpoint.instances_min, plan.endpoint.instances_max
    if not spec.components and low != high:
        message = f"instances.min is {low} and instances.max is {high}; without components they must be equal"
        yield finding("WS032", message, ("endpoint", "instances", "max"))


def check_replicated_heads(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS034."""
    del spec
    for served in plan.models:
        degree, heads = served.memory.tensor_parallel_degree, served.shape.num_key_value_heads
        if served.shape.mla is None and degree > heads:
            message = f"{degree} GPUs share {heads} KV heads: each token's KV is held {degree // heads} times"
            yield finding("WS034", message, (*served.path, "engine", "tensor_parallel_degree"))


CHECKS = (
    check_context,
    check_idle_gpus,
    check_copies,
    check_idle_instances,
    check_idle_component_gpus,
    check_loading_room,
    check_parallelism,
    check_variant_scaling,
    check_replicated_heads,
)
