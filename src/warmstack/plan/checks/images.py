"""Images, AMI, names and price."""

from __future__ import annotations

from collections.abc import Iterator

from warmstack.plan.checks.parts import engine_of
from warmstack.plan.findings import finding
from warmstack.plan.model import Finding, Plan, SpecPath
from warmstack.spec import DeploymentSpec


def check_version_pinned(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS004."""
    for served in plan.models:
        if engine_of(spec, served).version is None:
            version = served.server_image.version
            message = f"engine.version is absent; write version: {version}, or an upgrade of Warmstack moves the image"
            yield finding("WS004", message, (*served.path, "engine"))


def check_build(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS005 and WS008."""
    del plan
    if spec.image.build != "none":
        message = f"image.build is {spec.image.build}, which is not supported yet; write none, the stock image"
        yield finding("WS005", message, ("image", "build"))
    if spec.image.base is not None:
        message = "image.base is taken to be what engine.version says; Warmstack cannot look inside"
        yield finding("WS008", message, ("image", "base"))


def check_registry(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS006."""
    if spec.target is None:
        return
    if spec.image.base is not None:
        region = spec.image.base.split(".")[3]
        if region != spec.target.region:
            message = (
                f"image.base is in {region}; SageMaker pulls only from the endpoint's own Region, {spec.target.region}"
            )
            yield finding("WS006", message, ("image", "base"))
        return
    for served in plan.models:
        if spec.target.region not in served.server_image.registries:
            message = f"{served.server} {served.server_image.version} has no registry in {spec.target.region}"
            yield finding("WS006", message, ("target", "region"))


def check_ami(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS007 and WS013."""
    given = spec.endpoint.inference_ami_version
    if given is None:
        for served in plan.models:
            if served.server_image.cuda is None:
                message = f"no source states the CUDA version of {served.server} {served.server_image.version}"
                yield finding("WS013", message, (*served.path, "engine", "version"))
        return
    for served in plan.models:
        needed = served.server_image.inference_ami_version
        if needed is not None and given != needed:
            message = (
                f"inference_ami_version is {given}; {served.server} {served.server_image.version} is built for "
                f"CUDA {served.server_image.cuda} and needs {needed}"
            )
            yield finding("WS007", message, ("endpoint", "inference_ami_version"))


def check_price(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS009."""
    del spec
    if plan.cost.instance_usd_per_hour is None:
        message = f"no price is known for {plan.endpoint.instance.name}; the cost is left out"
        yield finding("WS009", message, ("endpoint", "instance_type"))


def check_names(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS010."""
    del spec
    seen: dict[str, str] = {}
    for index, served in enumerate(plan.models):
        named: list[tuple[str | None, str, SpecPath]] = [
            (served.physical_name, f"component {served.component}", ("components", index, "name"))
        ]
        for number, adapter in enumerate(served.adapters):
            place: SpecPath = ("components", index, "adapters", number, "name")
            named.append((adapter.physical_name, f"adapter {adapter.name} of {served.component}", place))
        for name, what, path in named:
            if name is None:
                continue
            if name in seen:
                yield finding("WS010", f"{what} would be named {name}, which {seen[name]} is named already", path)
            seen.setdefault(name, what)


CHECKS = (check_version_pinned, check_build, check_registry, check_ami, check_price, check_names)
