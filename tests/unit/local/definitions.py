"""Endpoints for tests, as the assembly defines them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warmstack.assembly import (
    ComponentDefinition,
    EndpointDefinition,
    ModelDefinition,
    RoutingDefinition,
    VariantDefinition,
)

ACCOUNT = "111122223333"
REGION = "us-west-2"
PREFIX_AWARE = RoutingDefinition(strategy="PREFIX_AWARE", prefix_length=1024, concurrency_threshold=4)


def model(name: str = "model", *, environment: Mapping[str, str] | None = None, **changes: Any) -> ModelDefinition:
    values: dict[str, Any] = {
        "name": name,
        "logical_id": name.title(),
        "image": "vllm:0.30.0",
        "environment": environment or {},
        "server": "vllm",
        "model_data": None,
        "staged": None,
        "execution_role": None,
    }
    return ModelDefinition(**values | changes)


def variant(
    name: str = "primary", *, instances: int = 2, routing: RoutingDefinition | None = None, **changes: Any
) -> VariantDefinition:
    values: dict[str, Any] = {
        "name": name,
        "instance_type": "ml.g5.12xlarge",
        "initial_instance_count": instances,
        "weight": 1.0,
        "routing": routing or RoutingDefinition(strategy="LEAST_OUTSTANDING_REQUESTS"),
        "model": model(),
        "min_instance_count": None,
        "max_instance_count": None,
        "download_timeout_seconds": None,
        "startup_timeout_seconds": None,
    }
    return VariantDefinition(**values | changes)


def component(name: str = "chat", *, copies: int = 2, base: str | None = None, **changes: Any) -> ComponentDefinition:
    values: dict[str, Any] = {
        "logical_id": name.title(),
        "name": name,
        "variant_name": "primary",
        "copy_count": 0 if base else copies,
        "model": model(environment={"SM_VLLM_ENABLE_LORA": "true"}),
        "base": base,
        "artifact_url": f"s3://acme-adapters/{name}.tar.gz" if base else None,
        "accelerators": None if base else 1.0,
        "cpu_cores": None,
        "min_memory_mib": None,
        "max_memory_mib": None,
        "placement": None,
        "download_timeout_seconds": None,
        "startup_timeout_seconds": None,
    }
    return ComponentDefinition(**values | changes)


def endpoint(
    name: str = "demo",
    *,
    variants: tuple[VariantDefinition, ...] | None = None,
    components: tuple[ComponentDefinition, ...] = (),
) -> EndpointDefinition:
    hosts = variants or (variant(model=None) if components else variant(),)
    return EndpointDefinition(
        logical_id="Endpoint",
        stack="stack",
        account=ACCOUNT,
        region=REGION,
        name=name,
        config_name=f"{name}-config",
        variants=hosts,
        components=components,
    )


SESSIONS = {"SAGEMAKER_ENABLE_STATEFUL_SESSIONS": "true", "SAGEMAKER_SESSIONS_EXPIRATION": "600"}


def session_endpoint(instances: int = 2) -> EndpointDefinition:
    return endpoint(variants=(variant(instances=instances, model=model(environment=SESSIONS)),))
