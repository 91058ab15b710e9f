"""The Plan: everything that is derived from a spec, as frozen data.

Nothing downstream derives anything again: stacks define resources from it, templates format it, the simulator
and the review read it. Text that names AWS resources uses CloudFormation's pseudo parameters in ``${...}`` and
is meant for ``Fn::Sub``, so that one plan serves every account and Region.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from warmstack.catalog import InstanceType, ModelShape, ServerImage
from warmstack.plan.image_plan import CarriedFiles, DraftPlan, ImageBuild, ImagePlan, Setting

SpecPath = tuple[str | int, ...]
Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What a check found.

    Args:
        check: the check's id, such as ``WS062``; `warmstack explain` tells the rest.
        severity: ``error`` stops, ``warning`` stops with ``--strict``, ``note`` never stops.
        message: the value, the rule and the way out.
        path: the place in the spec.
        acknowledged: the reason given in the spec for accepting it, or None.
    """

    check: str
    severity: Severity
    message: str
    path: SpecPath
    acknowledged: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """One derived value and why it is what it is.

    Args:
        name: what it is, such as ``tensor_parallel_degree``.
        value: the value as shown.
        reason: the rule or the text of the spec that gave it.
        given: whether the spec said it itself.
    """

    name: str
    value: str
    reason: str
    given: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuMemoryPlan:
    """What fits on the GPUs of one copy.

    Args:
        tensor_parallel_degree: GPUs a copy is split over.
        gpu_memory_bytes: memory of one GPU, as EC2 lists it.
        gpu_memory_utilization: the share of it that the engine may take.
        parameter_count: parameters of the model.
        weight_bytes: weights of the whole model, as loaded.
        overhead_bytes_per_gpu: runtime, CUDA graphs, activations, adapter slots and draft: an estimate, not a
            measurement.
        kv_bytes_per_gpu: what is left for KV cache on one GPU (0 when the weights do not fit).
        kv_bytes_per_token: KV of one token over the whole copy, with replicated heads counted.
        kv_tokens: tokens of KV that one copy holds.
        max_full_sequences: requests of ``max_model_len`` tokens that fit at once.
    """

    tensor_parallel_degree: int
    gpu_memory_bytes: int
    gpu_memory_utilization: float
    parameter_count: int
    weight_bytes: int
    overhead_bytes_per_gpu: int
    kv_bytes_per_gpu: int
    kv_bytes_per_token: int
    kv_tokens: int
    max_full_sequences: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TierPlan:
    """One tier below the GPU.

    Args:
        kind: ``cpu`` (RAM) or ``disk`` (NVMe).
        bytes_per_instance: all copies and workers of an instance together.
        bytes_per_worker: one tensor parallel rank of one copy, as LMCache and SGLang count.
        tokens_per_copy: tokens that one copy's share holds.
        pays_beyond_tokens: the working set of one copy above which this tier starts to be used.
    """

    kind: Literal["cpu", "disk"]
    bytes_per_instance: int
    bytes_per_worker: int
    tokens_per_copy: int
    pays_beyond_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HostMemoryPlan:
    """The RAM and the NVMe of one instance: where they go.

    Args:
        memory_bytes: the instance's RAM.
        system_bytes: what the system keeps.
        staging_bytes: weights that pass through RAM while copies load.
        process_bytes: the worker processes.
        tier_pool_bytes: what is left for a CPU tier.
        nvme_bytes: the instance's NVMe, or None where the catalog does not know it.
        nvme_weights_bytes: weights that lie on the NVMe.
        disk_pool_bytes: what is left for a disk tier.
        tiers: the tiers, the CPU's first.
    """

    memory_bytes: int
    system_bytes: int
    staging_bytes: int
    process_bytes: int
    tier_pool_bytes: int
    nvme_bytes: int | None
    nvme_weights_bytes: int
    disk_pool_bytes: int
    tiers: tuple[TierPlan, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterPlan:
    """A LoRA adapter as an inference component.

    Args:
        name: the name in the spec; the construct id.
        physical_name: the inference component's name.
        artifact: the archive in S3.
        rank: its LoRA rank.
    """

    name: str
    physical_name: str
    artifact: str
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel:
    """A model that the endpoint serves: the variant's own, or one inference component.

    Args:
        component: the component's name in the spec, or None when the variant hosts the model itself.
        physical_name: the inference component's name, or None.
        path: the place in the spec (``()`` or ``("components", 0)``).
        model_id: the hub id.
        shape: the model's shape.
        weights_s3: the S3 prefix that SageMaker mounts, or None with hub weights.
        server: lmi, vllm or sglang.
        server_image: the catalog's facts about the image.
        flags_version: the engine version whose flags the options were checked against.
        image: where the image is.
        carried: what an image of ours carries for this model.
        draft: what is known of the draft of speculative decoding, or None without.
        token_secret: the secret with the hub token, or None.
        engine_settings: the engine's settings by the server's own flag names.
        environment: the Model's environment, as rendered for the server.
        memory: what fits on the GPUs of a copy.
        host: RAM and NVMe of one instance, as seen from this model.
        max_model_len: tokens.
        max_num_seqs: requests that one copy runs at once.
        accelerators: GPUs a copy takes.
        copies_per_instance: copies that fit on one instance.
        copies_min: copies that always run (with the variant itself: instances).
        copies_max: copies that scaling may reach.
        target_concurrency: in-flight requests per copy for target tracking, or None without scaling.
        memory_request_mb: RAM a copy asks for, MiB (ComputeResourceRequirements.MinMemoryRequiredInMb).
        download_timeout_seconds: ModelDataDownloadTimeoutInSeconds.
        startup_timeout_seconds: ContainerStartupHealthCheckTimeoutInSeconds.
        spread: render SchedulingConfig SPREAD.
        adapters: adapters on this component.
    """

    component: str | None
    physical_name: str | None
    path: SpecPath
    model_id: str
    shape: ModelShape
    weights_s3: str | None
    server: Literal["lmi", "vllm", "sglang"]
    server_image: ServerImage
    flags_version: str
    image: ImagePlan
    carried: CarriedFiles
    draft: DraftPlan | None
    token_secret: str | None
    engine_settings: Mapping[str, Setting]
    environment: Mapping[str, str]
    memory: GpuMemoryPlan
    host: HostMemoryPlan
    max_model_len: int
    max_num_seqs: int
    accelerators: int
    copies_per_instance: int
    copies_min: int
    copies_max: int
    target_concurrency: int | None
    memory_request_mb: int
    download_timeout_seconds: int
    startup_timeout_seconds: int
    spread: bool
    adapters: tuple[AdapterPlan, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutingPlan:
    """ProductionVariant.RoutingConfig.

    Args:
        strategy: LEAST_OUTSTANDING_REQUESTS, RANDOM, PREFIX_AWARE or KV_AWARE.
        prefix_length: bytes of the body that decide (PREFIX_AWARE only, else None).
        concurrency_threshold: in-flight requests at which the next one spills (PREFIX_AWARE only, else None).
    """

    strategy: str
    prefix_length: int | None
    concurrency_threshold: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointPlan:
    """The endpoint and its one production variant.

    Args:
        name: the endpoint's physical name.
        variant_name: the variant's name; it never changes (SageMaker refuses updates that rename it).
        instance: the catalog's facts about the instance type.
        instances_min: instances that always run.
        instances_max: instances that managed scaling may reach.
        uses_components: whether inference components host the models.
        routing: the routing configuration.
        session_ttl_seconds: a session's life, or None without sessions.
        inference_ami_version: the AMI to ask for, or None for the platform's default.
        enhanced_metrics: MetricsConfig.EnableEnhancedMetrics.
        metric_frequency_seconds: MetricsConfig.MetricPublishFrequencyInSeconds.
        network_isolation: EnableNetworkIsolation.
    """

    name: str
    variant_name: str
    instance: InstanceType
    instances_min: int
    instances_max: int
    uses_components: bool
    routing: RoutingPlan
    session_ttl_seconds: int | None
    inference_ami_version: str | None
    enhanced_metrics: bool
    metric_frequency_seconds: int
    network_isolation: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """One statement of the execution role.

    Args:
        sid: the statement's id: letters and digits.
        actions: IAM actions.
        resources: ARNs for ``Fn::Sub`` (``${Registry}`` as in :class:`ImagePlan`), or ``*`` where IAM has no
            resource to name.
        condition: operator → key → value, values for ``Fn::Sub``.
        reason: why the role needs it; enters the acknowledgement of a wildcard.
    """

    sid: str
    actions: tuple[str, ...]
    resources: tuple[str, ...]
    condition: Mapping[str, Mapping[str, tuple[str, ...]]]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaNeed:
    """Instances of one type that the account's quota must allow.

    Args:
        name: the quota's name in Service Quotas.
        steady: instances at the minimum.
        scaled_out: instances at the maximum.
        during_update: instances at the maximum while an update runs.
        reason: how ``during_update`` came about.
    """

    name: str
    steady: int
    scaled_out: int
    during_update: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CostPlan:
    """Dollars for the instances alone, on demand; None where the price is not known.

    Args:
        instance_usd_per_hour: one instance.
        basis: how the price is known.
        as_of: when.
        min_usd_per_hour: at the minimum.
        max_usd_per_hour: at the maximum.
        update_usd_per_hour: at the maximum while an update runs.
        min_usd_per_month: 730 hours at the minimum.
        max_usd_per_month: 730 hours at the maximum.
    """

    instance_usd_per_hour: float | None
    basis: str
    as_of: str | None
    min_usd_per_hour: float | None
    max_usd_per_hour: float | None
    update_usd_per_hour: float | None
    min_usd_per_month: float | None
    max_usd_per_month: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that is derived from one spec.

    Args:
        name: the deployment's name.
        environment: the stage.
        stack_name: the CloudFormation stack's name.
        spec_hash: sha256 of the spec's meaning (hex), independent of comments and key order.
        account: the target's account, or None.
        region: the target's Region, or None when environment-agnostic.
        registries: Region → account of the image registry, for every Region that has all the images; only the
            target's with a target, empty when every image is given by ``image.base``.
        endpoint: the endpoint and its variant.
        models: what it serves, one for each component, or the variant's one.
        images: the images to build; empty with stock images.
        permissions: statements of the execution role.
        quotas: what the account's quotas must allow.
        cost: what the instances cost.
        derived: each derived value and its reason.
        findings: what the checks found, errors first.
        tags: tags on every resource.
    """

    name: str
    environment: str
    stack_name: str
    spec_hash: str
    account: str | None
    region: str | None
    registries: Mapping[str, str]
    endpoint: EndpointPlan
    models: tuple[ServedModel, ...]
    images: tuple[ImageBuild, ...]
    permissions: tuple[Permission, ...]
    quotas: tuple[QuotaNeed, ...]
    cost: CostPlan
    derived: tuple[Derived, ...]
    findings: tuple[Finding, ...]
    tags: Mapping[str, str]

    @property
    def routing_strategy(self) -> str:
        """The routing strategy of the variant."""
        return self.endpoint.routing.strategy
