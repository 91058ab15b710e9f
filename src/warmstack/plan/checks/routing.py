"""Routing strategies, and what undoes them."""

from __future__ import annotations

from collections.abc import Iterator

from warmstack.plan.checks.parts import engine_of
from warmstack.plan.findings import finding
from warmstack.plan.model import Finding, Plan
from warmstack.plan.options import DATA_PARALLEL
from warmstack.spec import DeploymentSpec

SMALL_THRESHOLD = 4


def check_prefix_settings(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS050."""
    wanted = spec.endpoint.routing
    if plan.routing_strategy == "PREFIX_AWARE":
        return
    for name in ("prefix_length", "concurrency_threshold"):
        if getattr(wanted, name) is not None:
            message = f"{name} is set, but the strategy is {plan.routing_strategy}"
            yield finding("WS050", message, ("endpoint", "routing", name))


def check_two_instances(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS051 and WS052."""
    del spec
    if plan.routing_strategy != "PREFIX_AWARE":
        return
    low, high = plan.endpoint.instances_min, plan.endpoint.instances_max
    path = ("endpoint", "routing", "strategy")
    if high < 2:
        yield finding("WS051", "PREFIX_AWARE with one instance never applies; write instances: {min: 2}", path, "error")
    elif low < 2:
        yield finding("WS051", "PREFIX_AWARE applies only while two instances run; instances.min is 1", path)
    for index, served in enumerate(plan.models):
        if served.component is None or served.copies_min >= 2:
            continue
        message = (
            f"component {served.component} has copies.min {served.copies_min}; with one copy there is nothing to choose"
        )
        yield finding("WS052", message, ("components", index, "copies", "min"))


def check_threshold(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS053."""
    threshold = spec.endpoint.routing.concurrency_threshold
    if threshold is None or plan.routing_strategy != "PREFIX_AWARE":
        return
    weakest = min(plan.models, key=lambda one: one.max_num_seqs)
    if threshold > weakest.max_num_seqs:
        who = weakest.component or "the model"
        message = (
            f"concurrency_threshold is {threshold}; {who} runs {weakest.max_num_seqs} requests at once, the rest queue"
        )
        yield finding("WS053", message, ("endpoint", "routing", "concurrency_threshold"))


def check_small_threshold(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS058."""
    threshold = plan.endpoint.routing.concurrency_threshold
    if threshold is not None and threshold < SMALL_THRESHOLD:
        given = spec.endpoint.routing.concurrency_threshold is not None
        why = "given" if given else "half of what the weakest copy runs at once"
        message = f"concurrency_threshold is {threshold} ({why}): nearly every concurrent request spills to a cold copy"
        yield finding("WS058", message, ("endpoint", "routing", "concurrency_threshold"))


def check_kv_aware(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS054 and WS055."""
    del spec
    if plan.routing_strategy != "KV_AWARE":
        return
    path = ("endpoint", "routing", "strategy")
    for served in plan.models:
        if served.server != "vllm":
            yield finding(
                "WS054",
                f"KV_AWARE with the {served.server} server: SageMaker names only the vLLM container",
                path,
            )
    yield finding("WS055", "CloudFormation's schema does not list KV_AWARE; a deploy may be refused", path)


def check_data_parallel(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS056."""
    routed = plan.routing_strategy in ("PREFIX_AWARE", "KV_AWARE")
    if not routed and spec.endpoint.sessions is None:
        return
    for served in plan.models:
        options = engine_of(spec, served).options
        for name in DATA_PARALLEL:
            if options.get(name, 1) != 1:
                message = (
                    f"{name} is {options[name]}: a request that finds its copy may still meet the wrong rank's cache"
                )
                yield finding("WS056", message, (*served.path, "engine", "options", name))


def check_adapters_with_prefix(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS057."""
    del spec
    if plan.routing_strategy == "PREFIX_AWARE" and any(one.adapters for one in plan.models):
        message = (
            "adapters run on the copies of their base; whether their requests are routed by prefix is not documented"
        )
        yield finding("WS057", message, ("endpoint", "routing"))


CHECKS = (
    check_prefix_settings,
    check_two_instances,
    check_threshold,
    check_small_threshold,
    check_kv_aware,
    check_data_parallel,
    check_adapters_with_prefix,
)
