"""The endpoint, its variant and its routing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warmstack.catalog import InstanceType
from warmstack.plan.model import Derived, EndpointPlan, RoutingPlan, ServedModel
from warmstack.plan.naming import physical_name
from warmstack.spec import DeploymentSpec

# Never changes: SageMaker refuses an update that renames a variant (DG, deployment guardrail exclusions).
VARIANT_NAME = "primary"
DEFAULT_PREFIX_LENGTH = 4096
MOST_THRESHOLD = 1024


def plan_endpoint(spec: DeploymentSpec, instance: InstanceType, models: Sequence[ServedModel]) -> EndpointPlan:
    """Return the endpoint's plan."""
    endpoint = spec.endpoint
    return EndpointPlan(
        name=physical_name(spec.name, spec.environment),
        variant_name=VARIANT_NAME,
        instance=instance,
        instances_min=endpoint.instances.min,
        instances_max=endpoint.instances.max or endpoint.instances.min,
        uses_components=bool(spec.components),
        routing=_routing(spec, models),
        session_ttl_seconds=None if endpoint.sessions is None else endpoint.sessions.ttl,
        inference_ami_version=endpoint.inference_ami_version or _ami(models),
        enhanced_metrics=endpoint.metrics.enhanced,
        metric_frequency_seconds=int(endpoint.metrics.publish_frequency[:-1]),
        network_isolation=endpoint.network_isolation,
    )


def _ami(models: Sequence[ServedModel]) -> str | None:
    return next(
        (one.server_image.inference_ami_version for one in models if one.server_image.inference_ami_version),
        None,
    )


def routing_strategy(spec: DeploymentSpec) -> str:
    """Return the strategy: the spec's, or PREFIX_AWARE as soon as two instances always run."""
    default = "PREFIX_AWARE" if spec.endpoint.instances.min >= 2 else "LEAST_OUTSTANDING_REQUESTS"
    return spec.endpoint.routing.strategy or default


def _routing(spec: DeploymentSpec, models: Sequence[ServedModel]) -> RoutingPlan:
    wanted = spec.endpoint.routing
    strategy = routing_strategy(spec)
    if strategy != "PREFIX_AWARE":
        return RoutingPlan(strategy=strategy, prefix_length=None, concurrency_threshold=None)
    weakest = min(one.max_num_seqs for one in models)
    return RoutingPlan(
        strategy=strategy,
        prefix_length=wanted.prefix_length or DEFAULT_PREFIX_LENGTH,
        concurrency_threshold=wanted.concurrency_threshold or min(MOST_THRESHOLD, -(-weakest // 2)),
    )


def endpoint_derived(spec: DeploymentSpec, plan: EndpointPlan) -> Iterator[Derived]:
    """Yield the endpoint's values with their reasons."""
    wanted = spec.endpoint.routing
    yield Derived(
        name="endpoint",
        value=plan.name,
        reason="{name}-{environment}, at most 63 characters",
        given=False,
    )
    yield Derived(
        name="routing.strategy",
        value=plan.routing.strategy,
        reason="given in the spec"
        if wanted.strategy
        else "two or more instances: a prefix finds the instance that has it"
        if plan.routing.strategy == "PREFIX_AWARE"
        else "one instance at the minimum: a prefix has nothing to choose from",
        given=wanted.strategy is not None,
    )
    if plan.routing.prefix_length is not None:
        yield Derived(
            name="routing.prefix_length",
            value=f"{plan.routing.prefix_length} bytes of the body (characters of messages on the OpenAI path)",
            reason="given in the spec"
            if wanted.prefix_length
            else "long enough to tell conversations apart, short enough that their turns agree",
            given=wanted.prefix_length is not None,
        )
        yield Derived(
            name="routing.concurrency_threshold",
            value=f"{plan.routing.concurrency_threshold} in-flight requests",
            reason="given in the spec"
            if wanted.concurrency_threshold
            else "ceil(max_num_seqs / 2) of the weakest copy",
            given=wanted.concurrency_threshold is not None,
        )
    yield Derived(
        name="inference_ami_version",
        value=plan.inference_ami_version or "the platform's default",
        reason="given in the spec" if spec.endpoint.inference_ami_version else "the driver that the image's CUDA needs",
        given=spec.endpoint.inference_ami_version is not None,
    )
