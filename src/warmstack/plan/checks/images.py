"""Images, AMI, names and price."""

from __future__ import annotations

import json
from collections.abc import Iterator

from warmstack.plan.checks.parts import engine_of
from warmstack.plan.findings import finding
from warmstack.plan.model import Finding, Plan, SpecPath
from warmstack.spec import PUBLIC_REGISTRY, DeploymentSpec

# IAM: characters of a role's inline policies in all, white space not counted. CloudFormation: a template's limits.
MOST_POLICY_CHARACTERS = 10_240
MOST_RESOURCES = 500
MOST_OUTPUTS = 200
OWN_OUTPUTS = 3  # beside one for each component
MOST_TEMPLATE_BYTES = 1_048_576
# Estimates on the safe side: a resource and a tag as `cdk synth` writes them, names in one SSM parameter.
RESOURCE_BYTES = 1_000
TAG_BYTES = 60
LIST_CHARACTERS = 4_000


def check_version_pinned(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS004."""
    for served in plan.models:
        if engine_of(spec, served).version is None:
            version = served.server_image.version
            message = f"engine.version is absent; write version: {version}, or an upgrade of Warmstack moves the image"
            yield finding("WS004", message, (*served.path, "engine"))


def check_build(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS006, WS008 and WS016."""
    if spec.image.base is not None:
        kinds = sorted({f"{one.server} {one.server_image.version}" for one in plan.models})
        if len(kinds) > 1:
            message = f"image.base is one image, but the components use {' and '.join(kinds)}"
            yield finding("WS016", message, ("image", "base"))
        if spec.target is None and not spec.image.base.startswith(PUBLIC_REGISTRY):
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
        if spec.image.base.startswith(PUBLIC_REGISTRY):
            return
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
    policy = len(json.dumps(_policy(plan), separators=(",", ":")))
    if policy > MOST_POLICY_CHARACTERS:
        message = f"the execution role's policy would have {policy:,} characters; IAM takes {MOST_POLICY_CHARACTERS:,}"
        yield finding("WS014", message, path)
    scaled = sum(one.target_concurrency is not None for one in plan.models)
    lists = sum(-(-sum(len(one.name) + 1 for one in served.adapters) // LIST_CHARACTERS) for served in plan.models)
    adapters = sum(len(one.adapters) for one in plan.models)
    models = len(plan.models)
    tagged = 3 + models + (models if spec.components else 0) + adapters
    resources = tagged + 2 * scaled + lists
    if resources > MOST_RESOURCES:
        message = f"the stack would have about {resources} resources; CloudFormation takes {MOST_RESOURCES}"
        yield finding("WS015", message, path)
    outputs = OWN_OUTPUTS + models
    if outputs > MOST_OUTPUTS:
        yield finding("WS015", f"the stack would have {outputs} outputs; CloudFormation takes {MOST_OUTPUTS}", path)
    tags = sum(TAG_BYTES + len(key) + len(value) for key, value in plan.tags.items())
    size = RESOURCE_BYTES * resources + tagged * tags
    if size > MOST_TEMPLATE_BYTES:
        message = f"the template would have about {size:,} bytes; CloudFormation takes {MOST_TEMPLATE_BYTES:,}"
        yield finding("WS015", message, ("tags",) if plan.tags else path)


def _policy(plan: Plan) -> dict[str, object]:
    """Return the role's policy as IAM will count it: with the target's names, or else the longest there are."""
    names = {
        "${AWS::Partition}": "aws-us-gov",
        "${AWS::Region}": plan.region or "us-isof-south-1",
        "${AWS::AccountId}": "0" * 12,
        "${Registry}": "0" * 12,
        "${ImageRepositoryArn}": f"arn:aws-us-gov:ecr:us-isof-south-1:{'0' * 12}:repository/{'x' * 80}",
    }

    def named(text: str) -> str:
        for name, value in names.items():
            text = text.replace(name, value)
        return text

    statements = [
        {
            "Sid": one.sid,
            "Effect": "Allow",
            "Action": list(one.actions),
            "Resource": [named(resource) for resource in one.resources],
            "Condition": {operator: dict(keys) for operator, keys in one.condition.items()},
        }
        for one in plan.permissions
    ]
    return {"Version": "2012-10-17", "Statement": statements}


CHECKS = (check_version_pinned, check_build, check_registry, check_ami, check_price, check_names, check_limits)
