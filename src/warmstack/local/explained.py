"""What an order would start, in words: for `--dry-run`."""

from __future__ import annotations

from typing import Any

from warmstack.assembly import Assembly, EndpointDefinition, ModelDefinition, VariantDefinition
from warmstack.local.dialects.notices import dialect_notices
from warmstack.local.order import EngineKind, UpOrder
from warmstack.local.platform.start_plan import StartPlan, base_components


def explained(order: UpOrder, assembly: Assembly, plan: StartPlan) -> dict[str, Any]:
    """Return what would start.

    Args:
        order: What was asked for.
        assembly: What was read.
        plan: How many of what start.
    """
    return {
        "engine": order.engine.value,
        "endpoints": [
            {
                "name": endpoint.name,
                "stack": endpoint.stack,
                "region": endpoint.region,
                "account": endpoint.account,
                "lines": _lines(endpoint, plan),
            }
            for endpoint in assembly.endpoints
        ],
        "notices": [str(notice) for notice in assembly.notices],
        "reductions": list(plan.reductions),
        "replacements": list(_replacements(order, assembly)),
    }


def _replacements(order: UpOrder, assembly: Assembly) -> tuple[str, ...]:
    real = order.engine is not EngineKind.SIMULATED
    said = dialect_notices(assembly, real=real, defects=order.defects)
    from warmstack.local.engines import read_model
    from warmstack.local.real.replacements import STAND_IN, fatal_settings, replacements

    if not real:
        return (*fatal_settings(assembly), *said)

    model = read_model(order.model) if order.model else STAND_IN
    return (*replacements(assembly, model, order.kv_cache_bytes), *said)


def _lines(endpoint: EndpointDefinition, plan: StartPlan) -> list[str]:
    lines = []
    for variant in endpoint.variants:
        size = plan.instances[endpoint.name, variant.name]
        lines.append(
            f"variant {variant.name}: {size.given} of {size.asked} {variant.instance_type}, {_routing(variant)}"
        )
        if variant.model is not None:
            lines.append(f"  {_model(variant.model)}")
    for component in base_components(endpoint):
        count = plan.copies[endpoint.name, component.name]
        lines.append(f"component {component.name}: {count.given} of {count.asked} copies, {_model(component.model)}")
        lines += [f"  adapter {one.name}" for one in endpoint.components if one.base == component.name]
    return lines


def _routing(variant: VariantDefinition) -> str:
    routing = variant.routing
    if routing.prefix_length is None:
        return routing.strategy
    return f"{routing.strategy} (prefix {routing.prefix_length}, threshold {routing.concurrency_threshold})"


def _model(model: ModelDefinition) -> str:
    return f"{model.server or 'unknown'} server, {model.image or 'no image'}"
