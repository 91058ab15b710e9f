"""The server images of SageMaker: LMI, vLLM and SGLang, what each can do, and where it is pulled from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from warmstack.catalog._data import read_json
from warmstack.errors import CatalogError

SERVERS = ("lmi", "vllm", "sglang")

# Observed: what sagemaker.core.image_uris.retrieve (sagemaker-core 2.27.0) answers for a region of each
# partition.
_DOMAINS = (
    (r"cn-", "amazonaws.com.cn"),
    (r"eusc-", "amazonaws.eu"),
    (r"us-isob-", "sc2s.sgov.gov"),
    (r"us-isof-", "csp.hci.ic.gov"),
    (r"us-iso-", "c2s.ic.gov"),
    (r"eu-isoe-", "cloud.adc-e.uk"),
    (r"(af|ap|ca|eu|il|me|mx|sa|us|us-gov)-[a-z]+-[0-9]+$", "amazonaws.com"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerImage:
    """One tag of one server.

    Attributes:
        server: ``lmi``, ``vllm`` or ``sglang``.
        version: what a spec names: the LMI tag, ``0.30.0`` (Ubuntu) or ``server-v2.6`` (Amazon Linux 2023).
        repository: the ECR repository, ``djl-inference``.
        tag: the image tag.
        lmi_release: the number after ``lmi`` in the tag; None for the other servers.
        engine_version: the vLLM or SGLang version inside; None where no source states it.
        cuda: the CUDA version that the tag states, ``13.0``; None where it states none.
        registries: region to account id of the private registry that holds the image there.
        supports_sessions: SageMaker's stateful sessions work.
        supports_adapters: adapter inference components work.
        supports_lmcache_auto_config: LMI's ``lmcache_auto_config`` exists.
        renders_false_booleans: a false engine option reaches the engine as ``--no-<flag>``; elsewhere false
            is dropped without a word.
        inference_ami_version: the InferenceAmiVersion that the image needs; None leaves the platform's
            default.
        needs_explicit_async: LMI's async handler must be chosen by three settings.
        notes: what else is known, and what is not.
        source: where these facts come from.
        as_of: their date.
    """

    server: str
    version: str
    repository: str
    tag: str
    lmi_release: int | None
    engine_version: str | None
    cuda: str | None
    registries: Mapping[str, str]
    supports_sessions: bool
    supports_adapters: bool
    supports_lmcache_auto_config: bool
    renders_false_booleans: bool
    inference_ami_version: str | None
    needs_explicit_async: bool
    notes: tuple[str, ...]
    source: str
    as_of: str


def registry_domain(region: str) -> str | None:
    """Return the domain of a Region's registries, ``amazonaws.com``, or None where it is not known."""
    return next((domain for pattern, domain in _DOMAINS if re.match(pattern, region)), None)


def image_uri(image: ServerImage, region: str) -> str:
    """Return the address of an image in a region: ``<account>.dkr.ecr.<region>.<domain>/<repository>:<tag>``.

    Raises:
        CatalogError: the image is not published in that region, or the region's domain is not known.
    """
    account = image.registries.get(region)
    if account is None:
        raise CatalogError(
            f"{image.server} image {image.tag} is not published in region {region!r}; "
            f"it is in {', '.join(sorted(image.registries))}"
        )
    domain = registry_domain(region)
    if domain is not None:
        return f"{account}.dkr.ecr.{region}.{domain}/{image.repository}:{image.tag}"
    raise CatalogError(f"the registry domain of region {region!r} is not known to the catalog")


def version_key(version: str) -> tuple[int, ...]:
    """Return the numbers in a version as a key to sort by: ``0.5.20`` comes after ``0.5.9``."""
    return tuple(int(number) for number in re.findall(r"[0-9]+", version))


def load_images() -> tuple[ServerImage, ...]:
    """Return the images: LMI, vLLM, SGLang, each newest first, the Ubuntu images before the AL2023 ones."""
    generated, kept = read_json("images.json"), read_json("servers.json")
    images = list(_lmi_images(generated, kept))
    for server in ("vllm", "sglang"):
        images.extend(_container_images(server, generated, kept))
    return tuple(images)


def _lmi_images(generated: Mapping[str, Any], kept: Mapping[str, Any]) -> list[ServerImage]:
    facts = kept["lmi"]
    since, explicit_async_through = facts["since"], facts["explicit_async_through"]
    by_tag = {entry["tag"]: entry for entry in generated["frameworks"]["djl-lmi"].values()}
    images = []
    for row in facts["images"]:
        release: int = row["release"]
        neighbour: str | None = row["registries_of"]
        entry = by_tag[row["tag"]] if neighbour is None else generated["frameworks"]["djl-lmi"][neighbour]
        cuda = _cuda_of_tag(row["tag"])
        source = f"{kept['source']}; {facts['since_source']}"
        if neighbour is not None:
            source += f"; registries: the region list of {neighbour} in {generated['source']}"
        images.append(
            ServerImage(
                server="lmi",
                version=row["tag"],
                repository=entry["repository"],
                tag=row["tag"],
                lmi_release=release,
                engine_version=row["engine_version"],
                cuda=cuda,
                registries=MappingProxyType(generated["registries"][entry["registries"]]),
                supports_sessions=release >= since["supports_sessions"],
                supports_adapters=release >= since["supports_adapters"],
                supports_lmcache_auto_config=release >= since["supports_lmcache_auto_config"],
                renders_false_booleans=release >= since["renders_false_booleans"],
                inference_ami_version=_inference_ami(cuda, kept),
                needs_explicit_async=release <= explicit_async_through,
                notes=tuple(row["notes"]),
                source=source,
                as_of=kept["as_of"],
            )
        )
    return sorted(images, key=lambda image: image.lmi_release or 0, reverse=True)


def _container_images(server: str, generated: Mapping[str, Any], kept: Mapping[str, Any]) -> list[ServerImage]:
    """Return the Ubuntu images, newest first, and after them the Amazon Linux 2023 images, newest first.

    The Ubuntu images come first because they are the default: their version is the engine's version.
    """
    facts, frameworks = kept[server], generated["frameworks"]
    images = []
    for framework, prefix in ((server, ""), (f"{server}-server", "server-v")):
        versions = [v for v in frameworks[framework] if not prefix or v not in facts["moving"]]
        for version in sorted(versions, key=version_key, reverse=True):
            entry = frameworks[framework][version]
            engine = facts["server_engine_versions"].get(version) if prefix else version
            cuda = _cuda_of_tag(entry["tag"])
            thirteen = cuda is None and _at_least(engine, facts["cuda_13_since_engine"])
            notes = []
            if engine is None:
                notes.append("the engine version inside is not stated by any source; CUDA and AMI are not known")
            elif thirteen:
                notes.append("the tag states no CUDA version; by its engine version it is a CUDA 13 image")
            images.append(
                ServerImage(
                    server=server,
                    version=prefix + version,
                    repository=entry["repository"],
                    tag=entry["tag"],
                    lmi_release=None,
                    engine_version=engine,
                    cuda="13.0" if thirteen else cuda,
                    registries=MappingProxyType(generated["registries"][entry["registries"]]),
                    supports_sessions=facts["supports_sessions"],
                    supports_adapters=facts["supports_adapters"],
                    supports_lmcache_auto_config=False,
                    renders_false_booleans=False,
                    inference_ami_version=_inference_ami("13.0" if thirteen else cuda, kept),
                    needs_explicit_async=False,
                    notes=tuple(notes),
                    source=f"{generated['source']}; {facts['features_source']}",
                    as_of=generated["as_of"],
                )
            )
    return images


def _at_least(engine: str | None, minimum: str) -> bool:
    return engine is not None and version_key(engine) >= version_key(minimum)


def _cuda_of_tag(tag: str) -> str | None:
    match = re.search(r"-cu([0-9]+)([0-9])(?:-|$)", tag)
    return None if match is None else f"{match[1]}.{match[2]}"


def _inference_ami(cuda: str | None, kept: Mapping[str, Any]) -> str | None:
    # Why: only CUDA 13 is tied to an AMI by a source. The older images run on the platform's default.
    if cuda is not None and version_key(cuda)[0] >= 13:
        return str(kept["cuda_13_inference_ami"])
    return None
