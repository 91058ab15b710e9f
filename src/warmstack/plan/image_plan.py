"""The plan's part about images: what a model runs in, what an image carries, and what is to be built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Setting = str | int | float | bool | Mapping[str, object] | tuple[object, ...]
"""The value of one engine setting, before it is written for a server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftPlan:
    """What is known of the draft of speculative decoding.

    Args:
        method: eagle, eagle3, ngram or draft_model.
        draft: the draft as the spec names it, or None with ngram.
        config_known: whether the spec names the draft's config.json.
        architecture: the first of its ``architectures``, or None.
        kind: what the config.json says it is: eagle3, eagle or model; None when it does not say.
        hidden_size: the width of the target that it was made for, or None.
        vocab_size: its vocabulary, or None.
    """

    method: str
    draft: str | None
    config_known: bool
    architecture: str | None
    kind: str | None
    hidden_size: int | None
    vocab_size: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedFiles:
    """What an image carries for one served model, because an environment cannot.

    Args:
        folder: where, relative to /opt/warmstack.
        lmcache: LMCache's settings by its own keys; empty for no file.
        chat_template: the text of the chat template, or None; in the JSON document its sha256.
        formatters: the text of the file with formatters, or None; in the JSON document its sha256.
    """

    folder: str
    lmcache: Mapping[str, Setting]
    chat_template: str | None
    formatters: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePlan:
    """The container image of a served model.

    Args:
        repository: the repository's name.
        tag: the tag.
        uri: the whole reference for ``Fn::Sub``; ``${Registry}`` stands for the account that
            ``Plan.registries`` holds for the Region. A literal with ``image.base``.
        build: the name of the image that is built on this one and used instead, or None for this one.
    """

    repository: str
    tag: str
    uri: str
    build: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageBuild:
    """One image to build: all served models of one server and version share it.

    Args:
        name: its name; the construct id and the folder of its build context.
        mode: ``docker`` (where the CDK CLI runs) or ``codebuild`` (in the account).
        server: lmi, vllm or sglang.
        version: the version of the image that it is built on.
        engine_version: the engine's version, or None where it is not known.
        base: the image that it is built on.
        base_uri: its whole reference, or None while the Region is not known.
        base_registry: the host of the base's registry, for ``Fn::Sub``.
        base_region: the Region to log in to it, for ``Fn::Sub``.
        base_repository_arn: the base's repository, for ``Fn::Sub``, or None where it is public.
        models: what it carries for each model, sorted by folder.
        reads_hub_token: whether a container reads a hub token from Secrets Manager when it starts.
        serves_adapters: whether a model on it has adapters, which may bring formatters of their own.
        meaning_hash: sha256 (hex) of the part of the spec that the image is made from. Not of the whole spec: an
            edit of the instance count would then replace the image, and with it every model.
    """

    name: str
    mode: Literal["docker", "codebuild"]
    server: Literal["lmi", "vllm", "sglang"]
    version: str
    engine_version: str | None
    base: ImagePlan
    base_uri: str | None
    base_registry: str
    base_region: str
    base_repository_arn: str | None
    models: tuple[CarriedFiles, ...]
    reads_hub_token: bool
    serves_adapters: bool
    meaning_hash: str
