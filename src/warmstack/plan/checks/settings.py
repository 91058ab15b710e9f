"""The rendered environment, speculative decoding, and what updates do."""

from __future__ import annotations

from collections.abc import Iterator

from warmstack.plan.checks.parts import cache_of, engine_of
from warmstack.plan.findings import finding
from warmstack.plan.load import cache_has_tiers
from warmstack.plan.model import Finding, Plan
from warmstack.plan.options import whole_number
from warmstack.spec import DeploymentSpec

# API CreateModel, ContainerDefinition.Environment.
MOST_ENTRIES = 100
MOST_CHARACTERS = 1024
MOST_BYTES = 32 * 1024


def check_environment(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS086."""
    del spec
    for served in plan.models:
        path = (*served.path, "engine", "options")
        entries = served.environment
        if len(entries) > MOST_ENTRIES:
            message = f"the environment has {len(entries)} entries; SageMaker accepts {MOST_ENTRIES}"
            yield finding("WS086", message, path)
        for key, value in entries.items():
            if len(value) > MOST_CHARACTERS or len(key) > MOST_CHARACTERS:
                message = f"{key} has {len(value)} characters; SageMaker accepts {MOST_CHARACTERS}"
                yield finding("WS086", message, path)
        size = sum(len(key.encode()) + len(value.encode()) for key, value in entries.items())
        if size > MOST_BYTES:
            yield finding("WS086", f"the environment has {size:,} bytes; SageMaker accepts {MOST_BYTES:,}", path)


def check_batched_tokens(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS083: vLLM refuses to start with fewer batched tokens than sequences."""
    for served in plan.models:
        tokens = whole_number(engine_of(spec, served).options, "max_num_batched_tokens")
        if tokens is not None and tokens < served.max_num_seqs:
            message = f"max_num_batched_tokens is {tokens}; it must be at least max_num_seqs, {served.max_num_seqs}"
            yield finding("WS083", message, (*served.path, "engine", "options", "max_num_batched_tokens"))
        chunked = engine_of(spec, served).options.get("enable_chunked_prefill", True)
        if tokens is not None and chunked is False and tokens < served.max_model_len:
            least = f"at least max_model_len, {served.max_model_len}, without chunked prefill"
            message = f"max_num_batched_tokens is {tokens}; it must be {least}"
            yield finding("WS083", message, (*served.path, "engine", "options", "max_num_batched_tokens"))


def check_switched_off(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS094 and, for the tiers, WS082."""
    for served in plan.models:
        options, cache = engine_of(spec, served).options, cache_of(spec, served)
        path = (*served.path, "engine", "options")
        routed = plan.routing_strategy in ("PREFIX_AWARE", "KV_AWARE") or spec.endpoint.sessions is not None
        for name, off in (("enable_prefix_caching", False), ("disable_radix_cache", True)):
            if options.get(name) is off and (routed or served.host.tiers):
                message = (
                    f"{name} is {str(off).lower()}: nothing is reused, but routing, sessions or tiers are there for it"
                )
                yield finding("WS094", message, (*path, name))
        if not cache_has_tiers(cache) and not cache.lmcache.auto_config:
            continue
        for name in ("kv_transfer_config", "kv_offloading_size", "enable_hierarchical_cache", "enable_lmcache"):
            if name in options:
                yield finding("WS082", f"option {name} repeats cache.tiers, which sets it", (*path, name))


def check_updates(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS070 and WS071."""
    if not spec.components:
        return
    message = (
        "an edit of routing, AMI, metrics or instances replaces the endpoint configuration under running components"
    )
    yield finding("WS070", message, ("components",))
    for served in plan.models:
        if served.copies_max > served.copies_min:
            message = f"an update of component {served.component} may start again from copies.min, {served.copies_min}"
            yield finding("WS071", message, (*served.path, "copies"))


def check_update_room(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS072."""
    if not spec.components:
        return
    gpus = plan.endpoint.instance.gpu_count * plan.endpoint.instances_max
    used = sum(one.copies_max * one.accelerators for one in plan.models)
    most = max(one.accelerators for one in plan.models)
    if used <= gpus < used + most:
        message = f"all copies take {used} of {gpus} GPUs at instances.max; an update that adds {most} has no room"
        yield finding("WS072", message, ("endpoint", "instances"))


def check_flag_snapshot(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS087."""
    for served in plan.models:
        engine = served.server_image.engine_version
        options = engine_of(spec, served).options
        if options and engine is not None and engine not in served.flags_version:
            message = f"options were checked against {served.flags_version}; the image has {engine}"
            yield finding("WS087", message, (*served.path, "engine", "options"))


CHECKS = (
    check_environment,
    check_batched_tokens,
    check_switched_off,
    check_updates,
    check_update_room,
    check_flag_snapshot,
)
