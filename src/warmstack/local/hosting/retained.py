"""What an endpoint keeps of its variants when it takes another configuration: ``RetainAllVariantProperties``. Pure.

UpdateEndpoint takes counts and weights from the new configuration, unless it is told to retain them; then
``ExcludeRetainedVariantProperties`` names those that are taken all the same (botocore 1.44.8).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from warmstack.assembly import EndpointDefinition, VariantDefinition
from warmstack.local.platform.endpoints import Endpoint, Variant

COUNT = "DesiredInstanceCount"
WEIGHT = "DesiredWeight"


def retained(members: Mapping[str, Any]) -> frozenset[str]:
    """Return which properties the members of UpdateEndpoint retain."""
    if members.get("RetainAllVariantProperties") is not True:
        return frozenset()
    excluded = members.get("ExcludeRetainedVariantProperties") or ()
    return frozenset({COUNT, WEIGHT} - {str(one.get("VariantPropertyType")) for one in excluded})


def with_retained(definition: EndpointDefinition, endpoint: Endpoint, kept: frozenset[str]) -> EndpointDefinition:
    """Return a definition with the live properties of the variants that the endpoint has already.

    Args:
        definition: The endpoint with its new configuration.
        endpoint: The endpoint as it runs.
        kept: Which properties it retains.
    """
    variants = tuple(
        _with_retained(one, endpoint.variants[one.name], kept) if one.name in endpoint.variants else one
        for one in definition.variants
    )
    return replace(definition, variants=variants)


def _with_retained(new: VariantDefinition, live: Variant, kept: frozenset[str]) -> VariantDefinition:
    if WEIGHT in kept:
        new = replace(new, weight=live.definition.weight)
    if COUNT in kept:
        # Of a variant with a model nothing scales here: what was asked for is more than what this machine had room for.
        is_host = live.definition.model is None
        count = len(live.instances) if is_host else live.definition.initial_instance_count
        if new.max_instance_count is not None:
            count = min(max(count, new.min_instance_count or 0), new.max_instance_count)
        new = replace(new, initial_instance_count=count)
    return new
