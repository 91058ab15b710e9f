"""The images to build: one for each server and version, with what the models on it need beside the environment."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping

from warmstack.catalog import image_uri
from warmstack.errors import CatalogError
from warmstack.plan.image_plan import CarriedFiles, ImageBuild, ImagePlan, Setting
from warmstack.plan.lmcache import lmcache_settings
from warmstack.plan.model import GpuMemoryPlan, HostMemoryPlan, ServedModel
from warmstack.plan.request import Request
from warmstack.spec import PUBLIC_REGISTRY, DeploymentSpec

INSIDE = "/opt/warmstack"
"""Where the images carry what an environment cannot."""
LMCACHE_FILE = "lmcache.yaml"
TEMPLATE_FILE = "chat_template.jinja"
FORMATTERS_FILE = "formatters.py"
FIRST_LMI_WITH_OUTPUT_FORMATTERS = 20
"""DJL Serving, release branches: what an output formatter returns is sent as it is since this release."""


def plan_image(request: Request) -> ImagePlan:
    """Return where the served model's image is; with a build, the image that it is built on."""
    base = request.spec.image.base
    build = None if request.spec.image.build == "none" else build_name(request)
    if base is not None:
        repository, _, tag = base.partition("/")[2].partition("@" if "@" in base else ":")
        return ImagePlan(repository=repository, tag=tag, uri=base, build=build)
    image = request.image
    uri = f"${{Registry}}.dkr.ecr.${{AWS::Region}}.${{AWS::URLSuffix}}/{image.repository}:{image.tag}"
    return ImagePlan(repository=image.repository, tag=image.tag, uri=uri, build=build)


def build_name(request: Request) -> str:
    """Return the name of the built image that the model shares with others of its server and version."""
    return f"{request.engine.server}-{re.sub(r'[^a-z0-9.-]+', '-', request.image.version.lower())}"


def model_folder(request: Request) -> str:
    """Return the model's folder in the image, below :data:`INSIDE`."""
    return f"models/{'model' if request.component is None else request.component.name}"


def carried_files(request: Request, host: HostMemoryPlan, memory: GpuMemoryPlan) -> CarriedFiles:
    """Return what the image carries for one model; the settings are empty where the server takes none."""
    lmcache: Mapping[str, Setting] = {}
    if request.engine.server != "sglang" and not request.cache.lmcache.auto_config:
        target = request.spec.target
        lmcache = lmcache_settings(request.cache, host, memory, None if target is None else target.region)
    return CarriedFiles(
        folder=model_folder(request),
        lmcache=lmcache,
        chat_template=request.texts.get((*request.path, "model", "chat_template")),
        formatters=request.texts.get((*request.path, "model", "formatters")),
    )


def repository_arn(image: ImagePlan) -> str:
    """Return the ARN of the repository that an image of a private registry lies in, for ``Fn::Sub``."""
    host = image.uri.partition("/")[0].split(".")
    return f"arn:${{AWS::Partition}}:ecr:{host[3]}:{host[0]}:repository/{image.repository}"


def plan_builds(spec: DeploymentSpec, models: Iterable[ServedModel]) -> tuple[ImageBuild, ...]:
    """Return the images to build, by name; none where the stock images are used."""
    if spec.image.build == "none":
        return ()
    shared: dict[str, list[ServedModel]] = {}
    for model in models:
        shared.setdefault(str(model.image.build), []).append(model)
    region = None if spec.target is None else spec.target.region
    return tuple(_build(spec, name, users, region) for name, users in sorted(shared.items()))


def _build(spec: DeploymentSpec, name: str, users: list[ServedModel], region: str | None) -> ImageBuild:
    first = users[0]
    files = tuple(sorted((one.carried for one in users), key=lambda one: one.folder))
    base_uri = spec.image.base or _literal(first, region)
    host = first.image.uri.partition("/")[0]
    public = first.image.uri.startswith(PUBLIC_REGISTRY)
    meaning = {
        "server": first.server,
        "version": first.server_image.version,
        "base": spec.image.base,
        "models": [
            [one.folder, dict(one.lmcache), _digest(one.chat_template), _digest(one.formatters)] for one in files
        ],
    }
    text = json.dumps(meaning, sort_keys=True, separators=(",", ":"))
    return ImageBuild(
        name=name,
        mode="codebuild" if spec.image.build == "codebuild" else "docker",
        server=first.server,
        version=first.server_image.version,
        engine_version=first.server_image.engine_version,
        base=first.image,
        base_uri=base_uri,
        base_registry=host,
        base_region="${AWS::Region}" if public else host.split(".")[3],
        base_repository_arn=None if public else repository_arn(first.image),
        models=files,
        reads_hub_token=any(one.token_secret is not None for one in users),
        serves_adapters=any(one.adapters for one in users),
        meaning_hash=hashlib.sha256(text.encode()).hexdigest(),
    )


def _digest(text: str | None) -> str | None:
    return None if text is None else hashlib.sha256(text.encode()).hexdigest()


def _literal(model: ServedModel, region: str | None) -> str | None:
    try:
        return None if region is None else image_uri(model.server_image, region)
    except CatalogError:
        return None  # WS006 names the Region
