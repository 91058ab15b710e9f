"""What an endpoint runs against what is defined: every difference in one phrase."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from warmstack.assembly import ComponentDefinition, ModelDefinition, VariantDefinition
from warmstack.operate.verification.live import LiveComponent, container_of

# The text stands for what only a deployment knows.
_OPEN = "${"
# Guard: another app's template may set a token in plain text; it must not reach a log.
_SECRET = re.compile(r"TOKEN$|SECRET|PASSWORD|CREDENTIAL|API_?KEY|ACCESS_?KEY", re.IGNORECASE)
DEFAULT_STRATEGY = "RANDOM"


def variant_differences(defined: VariantDefinition, live: Mapping[str, Any]) -> Iterator[str]:
    """Yield how a variant of an endpoint configuration differs from its definition.

    Args:
        defined: The definition.
        live: An entry of ProductionVariants of DescribeEndpointConfig.
    """
    pools = live.get("InstancePools") or ()
    instance_type = live.get("InstanceType") or (pools[0].get("InstanceType") if pools else None)
    yield from _differs("the instance type", instance_type, defined.instance_type)
    yield from _differs("InitialInstanceCount", live.get("InitialInstanceCount"), defined.initial_instance_count)
    routing = routing_of(live)
    wanted = defined.routing
    yield from _differs("RoutingStrategy", routing[0], wanted.strategy)
    yield from _differs("PrefixLength", routing[1], wanted.prefix_length)
    yield from _differs("ConcurrencyThreshold", routing[2], wanted.concurrency_threshold)
    scaling = live.get("ManagedInstanceScaling") or {}
    enabled = scaling.get("Status") == "ENABLED"
    yield from _differs(
        "the least instances of managed scaling",
        scaling.get("MinInstanceCount") if enabled else None,
        defined.min_instance_count if defined.max_instance_count is not None else None,
    )
    yield from _differs(
        "the most instances of managed scaling",
        scaling.get("MaxInstanceCount") if enabled else None,
        defined.max_instance_count,
    )
    for name, value in (
        ("ModelDataDownloadTimeoutInSeconds", defined.download_timeout_seconds),
        ("ContainerStartupHealthCheckTimeoutInSeconds", defined.startup_timeout_seconds),
    ):
        # Not told by every control plane; what is told must be right.
        if name in live:
            yield from _differs(name, live[name], value)
    hosts = live.get("ModelName") is not None
    if hosts != (defined.model is not None):
        yield (
            "it hosts a model itself, and components are defined" if hosts else "it hosts no model, and one is defined"
        )


def routing_of(live: Mapping[str, Any]) -> tuple[str, int | None, int | None]:
    """Return the strategy, PrefixLength and ConcurrencyThreshold of a variant of an endpoint configuration."""
    routing = live.get("RoutingConfig") or {}
    prefix = routing.get("PrefixAwareRoutingConfig") or {}
    strategy = str(routing.get("RoutingStrategy") or DEFAULT_STRATEGY)
    return strategy, prefix.get("PrefixLength"), prefix.get("ConcurrencyThreshold")


def model_differences(defined: ModelDefinition, live: Mapping[str, Any], *, whole: bool) -> Iterator[str]:
    """Yield how a Model differs from its definition.

    Args:
        defined: The definition.
        live: The answer of DescribeModel.
        whole: Whether the definition has every variable, so that a further one is a difference.
    """
    container = container_of(live)
    yield from _image_differs(container.get("Image"), defined.image)
    environment = container.get("Environment") or {}
    yield from _environment_differs(environment, defined.environment)
    if whole:
        for name in sorted(set(environment) - set(defined.environment)):
            yield f"{name} is set, and not defined"
    source = ((container.get("ModelDataSource") or {}).get("S3DataSource") or {}).get("S3Uri")
    data = source or container.get("ModelDataUrl")
    if defined.model_data is None or _OPEN not in defined.model_data:
        yield from _differs("the weights", data, defined.model_data)


def base_differences(defined: ComponentDefinition, live: LiveComponent) -> Iterator[str]:
    """Yield how a base component differs from its definition: what a copy asks for, and a container of its own."""
    wanted = needs_defined(defined)
    # A control plane that tells none of them is the local endpoint's, which runs from the template.
    for name in wanted if live.needs else ():
        yield from _differs(name, live.needs.get(name), wanted[name])
    if live.model_name is not None:
        return
    if live.image is not None:
        yield from _image_differs(live.image, defined.model.image)
    if live.environment is not None:
        yield from _environment_differs(live.environment, defined.model.environment)


def needs_defined(defined: ComponentDefinition) -> Mapping[str, float]:
    """Return what a copy of a component asks for, by the names of ComputeResourceRequirements; zeros are left out."""
    values = {
        "NumberOfAcceleratorDevicesRequired": defined.accelerators,
        "NumberOfCpuCoresRequired": defined.cpu_cores,
        "MinMemoryRequiredInMb": defined.min_memory_mib,
        "MaxMemoryRequiredInMb": defined.max_memory_mib,
    }
    return {name: int(value) if float(value).is_integer() else value for name, value in values.items() if value}


def needs_of(live: LiveComponent) -> str:
    """Return what a copy of a component asks for, in words."""
    return ", ".join(f"{name} {value}" for name, value in live.needs.items())


def open_parts(defined: ModelDefinition) -> Iterator[str]:
    """Yield what of a model cannot be known from its template."""
    if _OPEN in defined.image:
        tag = _tag(defined.image)
        yield "the image but for its tag" if tag and _OPEN not in tag else "the image"
    if defined.model_data is not None and _OPEN in defined.model_data:
        yield "the weights"


def _environment_differs(live: Mapping[str, str], defined: Mapping[str, str]) -> Iterator[str]:
    for name, value in sorted(defined.items()):
        if _OPEN in value:
            continue
        if not _SECRET.search(name):
            yield from _differs(name, live.get(name), value)
        elif live.get(name) != value:
            yield f"{name} differs"


def _image_differs(live: str | None, defined: str) -> Iterator[str]:
    if _OPEN not in defined:
        yield from _differs("the image", live, defined)
        return
    tag = _tag(defined)
    # Of a repository whose name CloudFormation makes, the tag alone can be held to.
    if tag and _OPEN not in tag and _tag(live or "") != tag:
        yield f"the image is {_shown(live)}, the tag that is defined is {tag}"


def _tag(image: str) -> str:
    """Return the tag of an image, or nothing: a registry may have a port."""
    return image.rsplit("/", 1)[-1].partition(":")[2]


def _differs(name: str, live: object, defined: object) -> Iterator[str]:
    if live != defined:
        yield f"{name} is {_shown(live)}, defined is {_shown(defined)}"


def _shown(value: object) -> str:
    return "nothing" if value is None else str(value)
