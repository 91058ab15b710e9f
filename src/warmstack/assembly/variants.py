"""Endpoint configurations: production variants and their routing."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast, get_args

from warmstack.assembly.definitions import ModelDefinition, RoutingDefinition, Strategy, VariantDefinition
from warmstack.assembly.fields import Fields
from warmstack.assembly.identities import NAME_RULE, is_name
from warmstack.assembly.models import Tell, notice
from warmstack.assembly.template import Template

# Bounds of botocore 1.44.8's service model (read 2026-11-30).
MOST_INSTANCES = 10_000
MOST_WEIGHT = 1_000_000_000
PREFIX_LENGTH = (1024, 65536)
CONCURRENCY_THRESHOLD = (1, 1024)
TIMEOUT_SECONDS = (60, 3600)

# What an endpoint may have beside its variants, and does not do on this machine.
_NOT_DONE = {
    "DataCaptureConfig": "requests are not captured here",
    "ExplainerConfig": "predictions are not explained here",
    "ShadowProductionVariants": "shadow variants are not served here; no traffic is copied",
}

FindModel = Callable[[Fields, str], ModelDefinition | None]


def read_variants(
    template: Template, logical_id: str, find_model: FindModel, tell: Tell
) -> tuple[VariantDefinition, ...] | None:
    """Read an ``AWS::SageMaker::EndpointConfig``.

    Args:
        template: The template.
        logical_id: The configuration.
        find_model: Answers the model that a property names.
        tell: Takes notices.

    Returns:
        The variants; None where the endpoint is of a kind that is not served.
    """
    fields = Fields(template, logical_id)
    if "AsyncInferenceConfig" in fields:
        why = "asynchronous inference is not served here, so its endpoint is left out"
        tell(notice(template, logical_id, "AsyncInferenceConfig", why))
        return None
    for name, why in _NOT_DONE.items():
        if name in fields:
            tell(notice(template, logical_id, name, why))
    written = fields.each("ProductionVariants")
    if not written:
        fields.wrong("ProductionVariants", "has no variant; an endpoint has at least one")
    served = []
    for one in written:
        if "ServerlessConfig" in one:
            why = "serverless variants are not served here"
            tell(notice(template, logical_id, one.place("ServerlessConfig"), why))
        else:
            served.append(one)
    if written and not served:
        return None
    variants = tuple(_read_variant(one, find_model) for one in served)
    names = [one.name for one in variants]
    for name in dict.fromkeys(one for one in names if one and names.count(one) > 1):
        fields.wrong("ProductionVariants", f"has two variants with the name {name!r}")
    return variants


def _read_variant(fields: Fields, find_model: FindModel) -> VariantDefinition:
    scaling = fields.inside("ManagedInstanceScaling")
    is_scaled = scaling.choice("Status", ("ENABLED", "DISABLED")) == "ENABLED"
    least = scaling.whole("MinInstanceCount", 0, MOST_INSTANCES) if is_scaled else None
    most = scaling.whole("MaxInstanceCount", 1, MOST_INSTANCES) if is_scaled else None
    if least is not None and most is not None and least > most:
        fields.wrong("ManagedInstanceScaling", f"has MinInstanceCount {least} above MaxInstanceCount {most}")
    initial = fields.whole("InitialInstanceCount", 0, MOST_INSTANCES)
    weight = fields.number("InitialVariantWeight", 0, MOST_WEIGHT)
    name = fields.required_text("VariantName") or ""
    if name and not is_name(name):
        fields.wrong("VariantName", f"is {name!r}; {NAME_RULE}")
    return VariantDefinition(
        name=name,
        instance_type=_instance_type(fields),
        initial_instance_count=initial if initial is not None else max(1, least or 0),
        weight=1.0 if weight is None else weight,
        routing=_read_routing(fields.inside("RoutingConfig")),
        model=find_model(fields, "ModelName") if "ModelName" in fields else None,
        min_instance_count=least,
        max_instance_count=most,
        download_timeout_seconds=fields.whole("ModelDataDownloadTimeoutInSeconds", *TIMEOUT_SECONDS),
        startup_timeout_seconds=fields.whole("ContainerStartupHealthCheckTimeoutInSeconds", *TIMEOUT_SECONDS),
    )


def _instance_type(fields: Fields) -> str:
    pools = fields.each("InstancePools")
    if "InstanceType" not in fields and pools:
        return pools[0].required_text("InstanceType") or ""
    return fields.required_text("InstanceType") or ""


def _read_routing(fields: Fields) -> RoutingDefinition:
    strategy = cast(Strategy, fields.choice("RoutingStrategy", get_args(Strategy)) or "RANDOM")
    prefix = fields.inside("PrefixAwareRoutingConfig")
    if strategy != "PREFIX_AWARE":
        if prefix.names():
            fields.wrong("PrefixAwareRoutingConfig", f"stands with {strategy}; it goes with PREFIX_AWARE only")
        return RoutingDefinition(strategy=strategy)
    for name in ("PrefixLength", "ConcurrencyThreshold"):
        if name not in prefix.names():
            prefix.wrong(name, "is missing; PREFIX_AWARE requires it")
    return RoutingDefinition(
        strategy=strategy,
        prefix_length=prefix.whole("PrefixLength", *PREFIX_LENGTH),
        concurrency_threshold=prefix.whole("ConcurrencyThreshold", *CONCURRENCY_THRESHOLD),
    )
