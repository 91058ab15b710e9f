"""Images, AMI, names and price."""

from __future__ import annotations

from collections.abc import Iterator

from warmstack.plan.checks.parts import engine_of
from warmstack.plan.findings import finding
from warmstack.plan.model import Finding, Plan, SpecPath
from warmstack.spec import DeploymentSpec

# IAM: characters of a role's inline policies in all, white space not counted. CloudFormation: a template's limits.
MOST_POLICY_CHARACTERS = 10_240
MOST_RESOURCES = 500
MOST_OUTPUTS = 200
# Quotes, commas, and what pseudo parameters become: an estimate on the safe side.
POLICY_OVERHEAD = 4


def check_version_pinned(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS004."""
    for served in plan.models:
        if engine_of(spec, served).version is None:
            version = served.server_image.version
            message = f"engine.version is absent; write version: {version}, or an upgrade of Warmstack moves the image"
            yield finding("WS004", message, (*served.path, "engine"))


def check_build(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS005, WS006, WS008 and WS016."""
    if spec.image.build != "none":
        message = f"image.build is {spec.image.build}, which is not supported yet; write none, the stock image"
        yield finding("WS005", message, ("image", "build"))
    if spec.image.base is not None:
        kinds = sorted({f"{one.server} {one.server_image.version}" for one in plan.models})
        if len(kinds) > 1:
            message = f"image.base is one image, but the components use {' and '.join(kinds)}"
            yield finding("WS016", message, ("image", "base"))
        if spec.target is None:
            region = spec.image.base.split(".")[3]
            message = f"image.base is in {region}, and without target the stack may go to another Region"
            yield finding("WS006", message, ("image", "base"), "warning")
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


def check_limits(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS014 and WS015."""
    path: SpecPath = ("components",) if spec.components else ()
    policy = sum(
        len("".join((one.sid, *one.actions, *one.resources, str(dict(one.condition)))))
        + POLICY_OVERHEAD * len(one.resources)
        for one in plan.permissions
    )
    if policy > MOST_POLICY_CHARACTERS:
        message = (
            f"the execution role's policy would have about {policy:,} characters; IAM takes {MOST_POLICY_CHARACTERS:,}"
        )
        yield finding("WS014", message, path)
    scaled = sum(one.target_concurrency is not None for one in plan.models)
    listed = sum(bool(one.adapters) for one in plan.models)
    adapters = sum(len(one.adapters) for one in plan.models)
    models = len(plan.models)
    resources = 3 + models + (models if spec.components else 0) + adapters + 2 * scaled + listed
    if resources > MOST_RESOURCES:
        message = f"the stack would have about {resources} resources; CloudFormation takes {MOST_RESOURCES}"
        yield finding("WS015", message, path)
    if models > MOST_OUTPUTS - 2:
        yield finding("WS015", f"the stack would have {models + 2} outputs; CloudFormation takes {MOST_OUTPUTS}", path)


CHECKS = (check_version_pinned, check_build, check_registry, check_ami, check_price, check_names, check_limits)
