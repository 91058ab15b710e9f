"""Weights, secrets and network isolation."""

from __future__ import annotations

from collections.abc import Iterator

from warmstack.plan.checks.parts import engine_of, model_of
from warmstack.plan.findings import finding
from warmstack.plan.load import LOADED_FROM_A_CHECKPOINT
from warmstack.plan.model import Finding, Plan, SpecPath
from warmstack.spec import TOKEN, DeploymentSpec, TargetSpec

# Publishers whose model cards ask to accept their terms before anything can be downloaded.
PARTITIONS = (
    ("cn-", "aws-cn"),
    ("us-gov-", "aws-us-gov"),
    ("us-iso-", "aws-iso"),
    ("us-isob-", "aws-iso-b"),
    ("us-isof-", "aws-iso-f"),
    ("eu-isoe-", "aws-iso-e"),
    ("eusc-", "aws-eusc"),
)
GATED = ("meta-llama/", "google/gemma")


def check_hub(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS100, WS101, WS102, WS103 and WS105."""
    for served in plan.models:
        model = model_of(spec, served)
        path = (*served.path, "model", "weights")
        hub = model.weights.hub
        speculative = engine_of(spec, served).speculative
        if spec.endpoint.network_isolation:
            if hub is not None:
                message = f"{model.id} comes from the hub, which network_isolation cuts off"
                yield finding("WS100", message, path)
            if speculative is not None and speculative.draft is not None and not speculative.draft.endswith("/"):
                message = f"the draft {speculative.draft} comes from the hub, which network_isolation cuts off"
                yield finding("WS100", message, (*served.path, "engine", "speculative", "draft"))
        if hub is None:
            continue
        if hub.token_secret is not None and spec.image.build == "none":
            message = "token_secret cannot be read by a stock image, and a template would show the token to everyone"
            yield finding("WS101", message, (*path, "hub", "token_secret"))
        if hub.token_secret is not None and spec.target is not None:
            yield from _of_the_target(hub.token_secret, spec.target, (*path, "hub", "token_secret"))
        if spec.image.build == "none" and model.id.startswith(GATED):
            message = f"{model.id} is given out by the hub only to those with access, and a stock image has no token"
            yield finding("WS103", message, path)
        if hub.revision is None:
            yield finding("WS102", f"{model.id} is taken at whatever the hub serves when a copy starts", path)


def _of_the_target(arn: str, target: TargetSpec, path: SpecPath) -> Iterator[Finding]:
    """A role reads no secret of another partition; one of another account only with that account's consent."""
    _, partition, _, region, account, *_ = arn.split(":")
    if partition != partition_of(target.region):
        message = f"token_secret is in the partition {partition}; {target.region} is in {partition_of(target.region)}"
        yield finding("WS105", message, path)
    elif account != target.account or region != target.region:
        message = f"token_secret is in {account}, {region}; the endpoint is in {target.account}, {target.region}"
        yield finding("WS105", message, path, "note")


def partition_of(region: str) -> str:
    """Return the AWS partition of a Region."""
    return next((name for start, name in PARTITIONS if region.startswith(start)), "aws")


def check_tokenizer(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS100: another tokenizer than the model's own comes from the hub too."""
    if not spec.endpoint.network_isolation:
        return
    for served in plan.models:
        for name in ("tokenizer", "tokenizer_path"):
            value = engine_of(spec, served).options.get(name)
            if isinstance(value, str) and not value.startswith("/"):
                message = f"{name} {value} comes from the hub, which network_isolation cuts off"
                yield finding("WS100", message, (*served.path, "engine", "options", name))


def check_quantized_checkpoint(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS036."""
    for served in plan.models:
        method = model_of(spec, served).quantization
        own = served.shape.quantization
        if method not in LOADED_FROM_A_CHECKPOINT or (own is not None and _family(own.method) == _family(method)):
            continue
        has = f"says {own.method}" if own is not None else "says nothing of it"
        message = (
            f"quantization is {method}, which loads checkpoints quantized so; the config of {served.model_id} {has}"
        )
        yield finding("WS036", message, (*served.path, "model", "quantization"))


def _family(method: str) -> str:
    return method.partition("_")[0]


def check_secret_values(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS104."""
    del spec
    for served in plan.models:
        for key, value in served.environment.items():
            if TOKEN.search(value):
                message = (
                    f"{key} holds what looks like a token, and DescribeModel shows it to all who may read the model"
                )
                yield finding("WS104", message, (*served.path, "engine", "options"))


CHECKS = (check_hub, check_tokenizer, check_quantized_checkpoint, check_secret_values)
