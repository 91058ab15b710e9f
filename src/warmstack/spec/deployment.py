"""The root of the language: one deployment is one endpoint."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from warmstack.catalog import registry_domain
from warmstack.spec.fields import NAME_RULE, Duration, ListItemName, S3Archive, SpecModel, default, described
from warmstack.spec.serving import CacheSpec, EngineSpec, ModelSpec

RoutingStrategy = Literal["LEAST_OUTSTANDING_REQUESTS", "RANDOM", "PREFIX_AWARE", "KV_AWARE"]

# API ProductionVariant.InferenceAmiVersion, those for GPUs: drivers 535 (CUDA 12.2), 550 (12.4) and 580 (13.0).
AmiVersion = Literal[
    "al2-ami-sagemaker-inference-gpu-2",
    "al2-ami-sagemaker-inference-gpu-2-1",
    "al2-ami-sagemaker-inference-gpu-3-1",
    "al2023-ami-sagemaker-inference-gpu-4-1",
]

PUBLIC_REGISTRY = "public.ecr.aws/"
"""Images there can be built upon anywhere; SageMaker itself pulls from private registries only."""

RESERVED_KEYS = frozenset({"rollout", "network", "encryption", "observability", "schedules", "instance_pools"})
"""Keys that later versions will give a meaning to. Until they have resources they are refused by name."""


class TargetSpec(SpecModel):
    """The account and Region to deploy into."""

    account: Annotated[
        str,
        Field(
            pattern=r"^[0-9]{12}$",
            examples=["111122223333"],
            json_schema_extra=described("12 digits in quotes"),
        ),
    ]
    """The AWS account, twelve digits in quotes."""
    region: Annotated[
        str,
        Field(
            pattern=r"^[a-z]{2,4}(-[a-z]+)+-[0-9]$",
            examples=["us-west-2"],
            json_schema_extra=described("an AWS Region, such as us-west-2"),
        ),
    ]
    """The AWS Region."""


def _registry_domain(uri: str | None) -> str | None:
    if uri is not None and not uri.startswith(PUBLIC_REGISTRY):
        region, host = uri.split(".")[3], uri.split("/")[0]
        if host.split(".", 4)[4] != registry_domain(region):
            raise ValueError(f"image.base is on {host}; registries of {region} do not have that domain")
    return uri


class ImageSpec(SpecModel):
    """How the container image comes about."""

    build: Annotated[Literal["none", "docker", "codebuild"], Field(examples=["none"])] = "none"
    """none: the stock image. docker: built where you deploy from. codebuild: built by AWS CodeBuild in the account."""
    base: Annotated[
        str | None,
        Field(
            pattern=r"^([0-9]{12}\.dkr\.ecr\.[a-z0-9-]+\.[a-z0-9-]+(\.[a-z0-9-]+)+|public\.ecr\.aws)"
            r"/[a-z0-9]+([._/-][a-z0-9]+)*(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}|@sha256:[0-9a-f]{64})$",
            max_length=255,
            examples=["111122223333.dkr.ecr.us-west-2.amazonaws.com/lmi-mirror:0.38.0-lmi29.0.0-cu130"],
            json_schema_extra=described("an ECR image with its tag or digest"),
        ),
        # After the pattern: it takes the host apart.
        AfterValidator(_registry_domain),
    ] = None
    """An image to use, or to build on, instead of the registry's own: of the same server and version (a mirror)."""


class InstancesSpec(SpecModel):
    """How many instances the endpoint has."""

    min: Annotated[
        int,
        Field(
            ge=1,
            le=1000,
            examples=[2],
            json_schema_extra=described("it must be at least 1 (scale to zero is not supported yet)"),
        ),
    ] = 1
    """Instances that always run, and that a deploy starts with."""
    max: Annotated[int | None, Field(ge=1, le=1000, examples=[4])] = None
    """Instances that managed scaling may reach (components only). Default: `min`."""

    @model_validator(mode="after")
    def _ordered(self) -> InstancesSpec:
        if self.max is not None and self.max < self.min:
            raise ValueError(f"instances.max is {self.max}; it must not be below instances.min, {self.min}")
        return self


class RoutingSpec(SpecModel):
    """How SageMaker chooses the instance, or the copy of a component, for a request."""

    strategy: Annotated[RoutingStrategy | None, Field(examples=["PREFIX_AWARE"])] = None
    """Default: PREFIX_AWARE with two or more instances, else LEAST_OUTSTANDING_REQUESTS."""
    prefix_length: Annotated[
        int | None,
        Field(
            ge=1024,
            le=65536,
            examples=[4096],
            json_schema_extra=described("SageMaker accepts 1024..65536 bytes", unit="bytes"),
        ),
    ] = None
    """PREFIX_AWARE: bytes of the body that decide (characters of messages on the OpenAI path). Default: 4096."""
    concurrency_threshold: Annotated[
        int | None,
        Field(
            ge=1,
            le=1024,
            examples=[16],
            json_schema_extra=described("SageMaker accepts 1..1024 requests", unit="in-flight requests"),
        ),
    ] = None
    """PREFIX_AWARE: in-flight requests at which the next one spills. Default: half of max_num_seqs."""


def _ttl(seconds: int) -> int:
    if not 60 <= seconds <= 86_400:
        raise ValueError(f"ttl is {seconds}s; it must be from 1m to 24h (SageMaker documents no limit of its own)")
    return seconds


class SessionsSpec(SpecModel):
    """Stateful sessions: every request of a session goes to the instance that opened it."""

    ttl: Annotated[
        Duration,
        AfterValidator(_ttl),
        Field(examples=["20m"], json_schema_extra=described("from 1m to 24h", "seconds") | {"default": "20m"}),
    ] = 1200
    """How long a session lives; fixed when it is opened, not renewed by use."""
    sliding: bool = False
    """Renew a session by every use (images of ours for sglang only; whether SageMaker follows is not documented)."""


class MetricsSpec(SpecModel):
    """What the endpoint publishes to CloudWatch (EndpointConfig.MetricsConfig)."""

    enhanced: bool = False
    """Metrics per instance, container and accelerator."""
    publish_frequency: Annotated[
        Literal["10s", "30s", "60s", "120s", "180s", "240s", "300s"], Field(examples=["60s"])
    ] = "60s"
    """How often metrics are published."""


class TimeoutsSpec(SpecModel):
    """Start-up timeouts; SageMaker accepts 60s..3600s for each."""

    download: Annotated[Duration | None, Field(examples=["30m"], json_schema_extra=described(unit="seconds"))] = None
    """For the weights. Default: from their size."""
    startup: Annotated[Duration | None, Field(examples=["30m"], json_schema_extra=described(unit="seconds"))] = None
    """For the container until /ping answers. Default: from the weights' size."""

    @model_validator(mode="after")
    def _in_range(self) -> TimeoutsSpec:
        for name, value in (("download", self.download), ("startup", self.startup)):
            if value is not None and not 60 <= value <= 3600:
                raise ValueError(f"timeouts.{name} is {value}s; SageMaker accepts 60s..3600s")
        return self


class EndpointSpec(SpecModel):
    """The endpoint and its one production variant."""

    instance_type: Annotated[
        str,
        Field(
            pattern=r"^ml\.[a-z0-9-]+\.[a-z0-9]+$",
            max_length=60,
            examples=["ml.p4de.24xlarge"],
            json_schema_extra=described("a SageMaker instance type, such as ml.p4de.24xlarge"),
        ),
    ]
    """The instance type (`warmstack catalog instances`)."""
    instances: InstancesSpec = default(InstancesSpec)
    """How many instances. Default: one."""
    routing: RoutingSpec = default(RoutingSpec)
    """How requests find an instance or copy."""
    sessions: SessionsSpec | None = None
    """Stateful sessions. Default: off."""
    metrics: MetricsSpec = default(MetricsSpec)
    """CloudWatch metrics."""
    timeouts: TimeoutsSpec = default(TimeoutsSpec)
    """Start-up timeouts."""
    network_isolation: bool = False
    """No network access from the container: no hub, no Secrets Manager."""
    inference_ami_version: Annotated[AmiVersion | None, Field(examples=["al2023-ami-sagemaker-inference-gpu-4-1"])] = (
        None
    )
    """The instances' AMI. Default: the one the image's CUDA version needs."""


class AdapterSpec(SpecModel):
    """A LoRA adapter, served as an inference component on the copies of its base."""

    name: ListItemName
    """The adapter's name."""
    artifact: Annotated[S3Archive, Field(examples=["s3://acme-adapters/legal-3f2a.tar.gz"])]
    """The archive: adapter_config.json and adapter_model.safetensors at its root."""
    rank: Annotated[int, Field(ge=1, le=512, examples=[16])] = 16
    """The LoRA rank (`r` in adapter_config.json)."""


class CopiesSpec(SpecModel):
    """How many copies of a component run."""

    min: Annotated[
        int,
        Field(
            ge=1,
            le=1000,
            examples=[2],
            json_schema_extra=described("it must be at least 1 (scale to zero is not supported yet)"),
        ),
    ] = 1
    """Copies that always run, and that a deploy starts with."""
    max: Annotated[int | None, Field(ge=1, le=1000, examples=[8])] = None
    """Copies that target tracking may reach. Default: `min`."""
    target_concurrency: Annotated[int | None, Field(ge=1, le=1024, examples=[16])] = None
    """In-flight requests per copy that target tracking aims at. Default: half of max_num_seqs."""

    @model_validator(mode="after")
    def _ordered(self) -> CopiesSpec:
        if self.max is not None and self.max < self.min:
            raise ValueError(f"copies.max is {self.max}; it must not be below copies.min, {self.min}")
        return self


class ComponentSpec(SpecModel):
    """One inference component: a model with its own copies on the endpoint's instances."""

    name: ListItemName
    """The component's name."""
    accelerators: Annotated[int | None, Field(ge=1, le=72, examples=[4])] = None
    """GPUs a copy takes. Default: its tensor parallel degree."""
    copies: CopiesSpec = default(CopiesSpec)
    """How many copies. Default: one."""
    adapters: tuple[AdapterSpec, ...] = ()
    """LoRA adapters on this component."""
    model: ModelSpec
    """Overrides the deployment's `model`, key by key."""
    engine: EngineSpec = default(EngineSpec)
    """Overrides the deployment's `engine`, key by key."""
    cache: CacheSpec = default(CacheSpec)
    """Overrides the deployment's `cache`, key by key."""


def _no_reserved_tags(tags: dict[str, str]) -> dict[str, str]:
    reserved = sorted(key for key in tags if key.lower().startswith("aws:"))
    if reserved:
        raise ValueError(f"tags has {reserved[0]!r}; keys that start with aws: are AWS's own")
    return tags


class DeploymentSpec(SpecModel):
    """A deployment: one endpoint, as the user said it.

    With ``components`` the shared ``model``, ``engine`` and ``cache`` have been merged into each of them, and
    the deployment's own are unset; without, the variant hosts the model itself.
    """

    name: Annotated[
        str,
        Field(
            pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$",
            max_length=40,
            examples=["support-assistant"],
            json_schema_extra=described(NAME_RULE),
        ),
    ]
    """The deployment's name."""
    environment: Annotated[
        str,
        Field(
            pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$",
            max_length=20,
            examples=["prod"],
            json_schema_extra=described(NAME_RULE),
        ),
    ] = "dev"
    """The stage. It enters every physical name: {name}-{environment}[-{component}[-{adapter}]]."""
    target: TargetSpec | None = None
    """Where to deploy. Default: environment-agnostic, wherever the CDK CLI's credentials point."""
    model: ModelSpec | None = None
    """The model to serve."""
    engine: EngineSpec = default(EngineSpec)
    """The server and its settings."""
    image: ImageSpec = default(ImageSpec)
    """The container image."""
    cache: CacheSpec = default(CacheSpec)
    """Tiers of the KV cache below the GPU."""
    endpoint: EndpointSpec
    """The endpoint and its instances."""
    components: tuple[ComponentSpec, ...] = ()
    """Inference components. Omitted: the variant hosts the model itself, where sessions are documented."""
    acknowledge: dict[
        Annotated[str, Field(pattern=r"^WS[0-9]{3}$")], Annotated[str, Field(min_length=3, max_length=300)]
    ] = Field(default={}, examples=[{"WS062": "measured, accepted"}])
    """Silences one warning with its reason. Never an error; unused ones are warnings."""
    tags: Annotated[
        dict[
            Annotated[str, Field(pattern=r"^[A-Za-z0-9 _.:/=+@-]{1,128}$")],
            Annotated[str, Field(pattern=r"^[A-Za-z0-9 _.:/=+@-]{1,256}$")],
        ],
        AfterValidator(_no_reserved_tags),
    ] = Field(default={}, examples=[{"team": "search"}], max_length=45)
    """Tags on every resource."""

    @model_validator(mode="after")
    def _something_to_serve(self) -> DeploymentSpec:
        if not self.components and self.model is None:
            raise ValueError("nothing to serve: write 'model', or 'components' that each have one")
        return self
