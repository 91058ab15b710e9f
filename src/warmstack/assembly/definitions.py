"""What an assembly says of SageMaker endpoints, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Server = Literal["lmi", "vllm", "sglang"]
Strategy = Literal["RANDOM", "LEAST_OUTSTANDING_REQUESTS", "PREFIX_AWARE", "KV_AWARE"]
Placement = Literal["SPREAD", "BINPACK"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something that is in the template, and that is not served or not known here.

    Args:
        stack: The stack.
        logical_id: The resource.
        what: The property, or the resource's type.
        why: What becomes of it, and why.
    """

    stack: str
    logical_id: str
    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.stack}: {self.logical_id}: {self.what}: {self.why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDefinition:
    """A container and what it serves: an ``AWS::SageMaker::Model``, or the container of a component.

    Args:
        name: Its name; that of the component where the container is a component's own.
        logical_id: The resource.
        image: The image; ``${…}`` stands for what is known only after a deployment. Empty where it names none.
        environment: What the container gets, without variables whose values are not known.
        server: Which server the image is, or None where nothing says so.
        model_data: Where the weights are (S3), or None.
        staged: The folder of the image's build context, where the assembly holds it.
        execution_role: The role's ARN, or None where it is not known.
    """

    name: str
    logical_id: str
    image: str
    environment: Mapping[str, str]
    server: Server | None
    model_data: str | None
    staged: Path | None
    execution_role: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingDefinition:
    """``RoutingConfig`` of a variant.

    Args:
        strategy: RANDOM where the template says nothing (botocore 1.44.8).
        prefix_length: 1024..65536, with PREFIX_AWARE.
        concurrency_threshold: 1..1024, with PREFIX_AWARE.
    """

    strategy: Strategy = "RANDOM"
    prefix_length: int | None = None
    concurrency_threshold: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantDefinition:
    """A production variant.

    Args:
        name: Its name.
        instance_type: The type, or the first of its pools.
        initial_instance_count: Instances at the start.
        weight: Its share of the traffic, against the weights of the others.
        routing: How requests reach instances and copies.
        model: What it serves; None where inference components do.
        min_instance_count: Of managed instance scaling, where that is enabled.
        max_instance_count: Likewise.
        download_timeout_seconds: ModelDataDownloadTimeoutInSeconds.
        startup_timeout_seconds: ContainerStartupHealthCheckTimeoutInSeconds.
    """

    name: str
    instance_type: str
    initial_instance_count: int
    weight: float
    routing: RoutingDefinition
    model: ModelDefinition | None
    min_instance_count: int | None
    max_instance_count: int | None
    download_timeout_seconds: int | None
    startup_timeout_seconds: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentDefinition:
    """An inference component.

    Args:
        logical_id: The resource.
        name: Its name.
        variant_name: The variant; of an adapter that of its base.
        copy_count: Copies at the start; 0 for an adapter, which runs on the copies of its base.
        model: What it serves; of an adapter that of its base.
        base: The name of the base component, for an adapter.
        artifact_url: The archive of an adapter, or the weights of a container of its own.
        accelerators: Accelerators of a copy, or None.
        cpu_cores: Cores of a copy, or None.
        min_memory_mib: Memory of a copy (MinMemoryRequiredInMb), or None.
        max_memory_mib: Likewise at the most.
        placement: How copies are spread over instances.
        download_timeout_seconds: ModelDataDownloadTimeoutInSeconds.
        startup_timeout_seconds: ContainerStartupHealthCheckTimeoutInSeconds.
    """

    logical_id: str
    name: str
    variant_name: str
    copy_count: int
    model: ModelDefinition
    base: str | None
    artifact_url: str | None
    accelerators: float | None
    cpu_cores: float | None
    min_memory_mib: int | None
    max_memory_mib: int | None
    placement: Placement | None
    download_timeout_seconds: int | None
    startup_timeout_seconds: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointDefinition:
    """An endpoint.

    Args:
        logical_id: The resource.
        stack: The stack that it is in.
        account: The account that its ARN names.
        region: Its Region.
        name: Its name.
        config_name: The name of its configuration.
        variants: In the template's order.
        components: Bases before their adapters, otherwise in the template's order.
    """

    logical_id: str
    stack: str
    account: str
    region: str
    name: str
    config_name: str
    variants: tuple[VariantDefinition, ...]
    components: tuple[ComponentDefinition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """The endpoints of a template or cloud assembly.

    Args:
        endpoints: In the order of stacks and templates.
        notices: What is in it besides, and is not served or not known.
        outputs: What each stack would publish, by its name: the outputs that are texts and known before a deployment.
    """

    endpoints: tuple[EndpointDefinition, ...]
    notices: tuple[Notice, ...]
    outputs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
