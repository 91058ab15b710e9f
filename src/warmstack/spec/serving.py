"""What is served and by what: model, engine and cache. A component may override each of the three."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from warmstack.spec.fields import S3Prefix, SecretArn, SpecModel, Tier, TierSize, default, described

Server = Literal["lmi", "vllm", "sglang"]


class HubWeights(SpecModel):
    """Weights that the container downloads from the Hugging Face hub when it starts."""

    revision: Annotated[
        str | None,
        Field(
            max_length=200,
            pattern=r"^[A-Za-z0-9._/-]+$",
            examples=["main", "a09a35458c70"],
            json_schema_extra=described("a branch, tag or commit"),
        ),
    ] = None
    """The branch, tag or commit to download. A commit keeps copies equal; without it the newest is taken."""
    token_secret: Annotated[
        SecretArn | None,
        Field(examples=["arn:aws:secretsmanager:us-west-2:111122223333:secret:hub-token-AbCdEf"]),
    ] = None
    """The secret that holds the hub token of a gated model. Needs an image of our own to read it."""


class Weights(SpecModel):
    """Where the weights come from: exactly one of the two."""

    s3: Annotated[S3Prefix | None, Field(examples=["s3://acme-models/qwen2.5-72b/"])] = None
    """The prefix with the model's files; SageMaker mounts it at /opt/ml/model, read-only."""
    hub: Annotated[HubWeights | None, Field(examples=[{"revision": "main"}])] = None
    """Download from the hub at start-up: slower, needs internet access, and every new copy pays it again."""

    @model_validator(mode="after")
    def _one_source(self) -> Weights:
        if (self.s3 is None) == (self.hub is None):
            raise ValueError(
                "weights has to name exactly one source, s3 or hub; over an inherited one, write null for the other"
            )
        return self


class ModelSpec(SpecModel):
    """The model to serve."""

    id: Annotated[
        str,
        Field(
            pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)?$",
            max_length=200,
            examples=["Qwen/Qwen2.5-72B-Instruct"],
            json_schema_extra=described("a model id such as Qwen/Qwen2.5-72B-Instruct"),
        ),
    ]
    """The model's hub id. Its shape comes from the catalog (`warmstack catalog models`) or from `config`."""
    config: Annotated[str | None, Field(min_length=1, max_length=500, examples=["models/my-model/config.json"])] = None
    """A Hugging Face config.json to take the shape from, relative to the file this is written in."""
    weights: Weights = default(Weights, hub=HubWeights.model_construct())
    """Where the weights come from. Default: the hub, by `id`."""
    max_model_len: Annotated[
        int | None, Field(ge=1, le=16_777_216, examples=[32768], json_schema_extra=described(unit="tokens"))
    ] = None
    """The longest prompt plus output, in tokens. Default: the model's own, cut to what one copy can hold."""
    dtype: Annotated[Literal["auto", "bfloat16", "float16", "float32"], Field(examples=["bfloat16"])] = "auto"
    """The type the weights are loaded in. Default: the one in the model's config.json."""
    quantization: Annotated[
        str | None,
        Field(
            pattern=r"^[a-z0-9_-]+$",
            max_length=40,
            examples=["fp8", "awq"],
            json_schema_extra=described("a method in the server's own words, lower case"),
        ),
    ] = None
    """The quantization method to load with. Default: the one in the model's config.json, if any."""
    chat_template: Annotated[str | None, Field(min_length=1, max_length=500, examples=["templates/chat.jinja"])] = None
    """A Jinja chat template, relative to the file this is written in; the image carries it. Default: the model's."""
    formatters: Annotated[str | None, Field(min_length=1, max_length=500, examples=["code/formatters.py"])] = None
    """A Python file with @input_formatter and @output_formatter, relative to this file; the image carries it."""


class SpeculativeSpec(SpecModel):
    """Speculative decoding: a cheap draft proposes tokens, the model verifies them in one step."""

    method: Annotated[Literal["eagle", "eagle3", "ngram", "draft_model"], Field(examples=["eagle3"])]
    """How tokens are drafted. EAGLE and EAGLE3 drafts are not interchangeable."""
    draft: Annotated[str | None, Field(min_length=1, max_length=500, examples=["drafts/eagle3/"])] = None
    """The draft: a folder inside the weights prefix that ends with '/', or a hub id. Not with `ngram`."""
    draft_config: Annotated[str | None, Field(min_length=1, max_length=500, examples=["drafts/eagle3/config.json"])] = (
        None
    )
    """The draft's config.json, relative to this file: method, hidden size and vocabulary are checked against it."""
    num_speculative_tokens: Annotated[int, Field(ge=1, le=32, examples=[4])] = 4
    """How many tokens are drafted a step."""
    prompt_lookup_max: Annotated[int | None, Field(ge=1, le=64, examples=[4])] = None
    """Only with `ngram`: the longest run of tokens to look up in the prompt."""
    prompt_lookup_min: Annotated[int | None, Field(ge=1, le=64, examples=[2])] = None
    """Only with `ngram`: the shortest run of tokens to look up in the prompt."""

    @model_validator(mode="after")
    def _matches_method(self) -> SpeculativeSpec:
        if self.method == "ngram" and self.draft is not None:
            raise ValueError("method ngram drafts from the prompt itself; remove 'draft'")
        if self.method == "ngram" and self.draft_config is not None:
            raise ValueError("method ngram has no draft model; remove 'draft_config'")
        if self.method != "ngram" and self.draft is None:
            raise ValueError(f"method {self.method} needs 'draft': a folder inside the weights prefix or a hub id")
        if self.method != "ngram" and (self.prompt_lookup_max, self.prompt_lookup_min) != (None, None):
            raise ValueError(f"prompt_lookup_max and prompt_lookup_min belong to method ngram, not {self.method}")
        low, high = self.prompt_lookup_min, self.prompt_lookup_max
        if low is not None and high is not None and low > high:
            raise ValueError(f"prompt_lookup_min is {low}; it must not exceed prompt_lookup_max, {high}")
        return self


def _options(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("options is a mapping of the server's own flag names to values")
    for key in value:
        if re.fullmatch(r"[a-z][a-z0-9_]*", key) is None:
            fixed = re.sub(r"[^a-z0-9]+", "_", key.lower()).strip("_")
            raise ValueError(
                f"option {key!r}: write the flag's name with underscores, such as {fixed or 'max_num_seqs'}"
            )
    return value


class EngineSpec(SpecModel):
    """The server and its engine settings."""

    server: Annotated[Server, Field(examples=["lmi"])] = "lmi"
    """The server: lmi (DJL's LMI container), vllm or sglang (the deep learning containers)."""
    version: Annotated[
        str | None,
        Field(
            pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$",
            examples=["0.38.0-lmi29.0.0-cu130", "0.30.0"],
            json_schema_extra=described("a version of `warmstack catalog images`"),
        ),
    ] = None
    """The image version (`warmstack catalog images`). Default: the newest, with a warning: upgrades move it."""
    tensor_parallel_degree: Annotated[int | None, Field(ge=1, le=72, examples=[4])] = None
    """GPUs that one copy is split over. Default: the smallest that fits (components), else all GPUs."""
    speculative: SpeculativeSpec | None = None
    """Speculative decoding. Default: off."""
    options: Annotated[
        Mapping[str, Any],
        AfterValidator(_options),
        WithJsonSchema({"type": "object", "propertyNames": {"pattern": "^[a-z][a-z0-9_]*$"}}),
        Field(examples=[{"max_num_seqs": 64}]),
    ] = {}
    """The server's own flags, underscores for hyphens, checked against its flag list. Typed fields stay out."""


class DiskTier(SpecModel):
    """The tier on the instance's NVMe."""

    size: Tier = default(TierSize, kind="none")
    """Of the NVMe left beside the weights, shared by copies and workers. Default: none."""
    direct_io: bool = False
    """Read and write past the page cache (O_DIRECT)."""

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: object) -> object:
        return value if isinstance(value, dict | DiskTier) else {"size": value}


class RemoteTier(SpecModel):
    """A store outside the instance that all of them share: Redis, or a bucket in S3."""

    url: Annotated[
        str,
        Field(
            pattern=r"^(rediss?://[A-Za-z0-9][A-Za-z0-9.-]{0,252}(:[0-9]{1,5})?(/[0-9]{1,3})?"
            r"|s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/?)$",
            max_length=300,
            examples=["redis://kv.acme.internal:6379", "s3://acme-kv-cache/"],
            json_schema_extra=described(
                "redis://host:port (or rediss://), or s3://bucket/, without a password", secret=True
            ),
        ),
    ]
    """`redis://host:port`, `rediss://host:port` or `s3://bucket/`. A password does not belong here."""
    region: Annotated[
        str | None,
        Field(
            pattern=r"^[a-z]{2,4}(-[a-z]+)+-[0-9]$",
            examples=["us-west-2"],
            json_schema_extra=described("an AWS Region, such as us-west-2"),
        ),
    ] = None
    """The bucket's Region. Default: the target's."""

    @model_validator(mode="after")
    def _reachable(self) -> RemoteTier:
        port = re.search(r":([0-9]+)(?:/[0-9]+)?$", self.url.removeprefix("redis:").removeprefix("rediss:"))
        if port is not None and not 1 <= int(port[1]) <= 65535:
            raise ValueError(f"url has the port {port[1]}; it must be from 1 to 65535")
        host = self.url.split("://", 1)[1].split("/", 1)[0].split(":", 1)[0]
        if ".." in host or host.endswith((".", "-")):
            raise ValueError(f"url names the host {host!r}, which is no valid name")
        if self.url.startswith("s3://") and "." in host:
            # LMCache asks bucket.s3.region…, and that certificate covers one label only.
            raise ValueError(f"url names the bucket {host!r}; a bucket with a dot has no certificate that fits")
        return self

    @model_validator(mode="after")
    def _region_of_a_bucket(self) -> RemoteTier:
        if self.region is not None and not self.url.startswith("s3://"):
            raise ValueError("region belongs to an s3:// url; remove it")
        return self


class TiersSpec(SpecModel):
    """Where KV blocks go when they leave the GPU."""

    cpu: Annotated[Tier, Field(examples=["60%", "400GiB", "auto", "none"])] = default(TierSize, kind="none")
    """RAM, all copies and workers of an instance together: auto, none, a share of what is left, or a size."""
    disk: Annotated[
        DiskTier,
        Field(examples=["2TiB", {"size": "2TiB", "direct_io": True}]),
    ] = default(DiskTier)
    """NVMe: a size like `cpu`'s, or {size, direct_io}."""
    remote: RemoteTier | None = None
    """A store that the instances share (lmi and vllm). Default: none."""


class LmcacheSpec(SpecModel):
    """LMCache's own settings, in its own words."""

    chunk_size: Annotated[int, Field(ge=16, le=8192, examples=[256], json_schema_extra=described(unit="tokens"))] = 256
    """Tokens that are stored and found together."""
    auto_config: bool = False
    """Let the LMI container size LMCache itself (LMI 19 and newer); then `tiers` stay out."""
    enable_blending: bool = False
    """Reuse chunks wherever they stand in a prompt, not only as its prefix. Experimental in LMCache."""
    blend_recompute_ratios: Annotated[
        tuple[Annotated[float, Field(gt=0, le=1)], ...], Field(min_length=1, max_length=8, examples=[[0.15]])
    ] = (0.15,)
    """Only with `enable_blending`: the share of a reused chunk's tokens that is computed again."""
    blend_check_layers: Annotated[
        tuple[Annotated[int, Field(ge=0, le=1000)], ...], Field(min_length=1, max_length=8, examples=[[1]])
    ] = (1,)
    """Only with `enable_blending`: the layers at which LMCache chooses the tokens to compute again."""

    @model_validator(mode="after")
    def _blending_fits(self) -> LmcacheSpec:
        if len(self.blend_recompute_ratios) != len(self.blend_check_layers):
            raise ValueError(
                f"blend_recompute_ratios has {len(self.blend_recompute_ratios)} values and blend_check_layers "
                f"{len(self.blend_check_layers)}; each layer has its ratio"
            )
        written = {"blend_recompute_ratios", "blend_check_layers"} & self.model_fields_set
        if written and not self.enable_blending:
            raise ValueError(f"{sorted(written)[0]} belongs to enable_blending: true")
        return self


class CacheSpec(SpecModel):
    """The KV cache beyond the GPU."""

    tiers: TiersSpec = default(TiersSpec)
    """Sizes of the tiers below the GPU. Default: none."""
    lmcache: LmcacheSpec = default(LmcacheSpec)
    """Settings of LMCache, which holds the tiers on lmi and vllm."""
