"""Images of ours: where they are built, and what only they can carry."""

from __future__ import annotations

from collections.abc import Iterator

from warmstack.plan.checks.parts import engine_of, model_of
from warmstack.plan.findings import finding
from warmstack.plan.images import FIRST_LMI_WITH_OUTPUT_FORMATTERS
from warmstack.plan.model import Finding, Plan
from warmstack.spec import PUBLIC_REGISTRY, DeploymentSpec, formatter_kinds


def check_place(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS110 and WS111."""
    base = spec.image.base
    public = base is not None and base.startswith(PUBLIC_REGISTRY)
    if spec.image.build == "none":
        if public:
            message = f"image.base is {base}, which is public; SageMaker pulls from private registries only"
            yield finding("WS111", message, ("image", "base"))
        return
    for image in plan.images:
        if image.mode == "docker" and image.base_uri is None:
            message = f"the image for {image.name} has no base: docker builds it before anyone knows the Region"
            yield finding("WS110", message, ("image", "build"))


def check_carried(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS112, WS114 and, for options, WS082."""
    for served in plan.models:
        model = model_of(spec, served)
        for name, value in (("chat_template", model.chat_template), ("formatters", model.formatters)):
            path = (*served.path, "model", name)
            if value is not None and spec.image.build == "none":
                yield finding("WS112", f"{name} travels in an image of ours, and image.build is none", path)
        if model.formatters is not None and served.server == "lmi" and model.weights.s3 is None:
            message = "LMI looks for formatters beside the weights, and hub weights have no folder before they load"
            yield finding("WS114", message, (*served.path, "model", "formatters"))
        if model.chat_template is not None and "chat_template" in engine_of(spec, served).options:
            message = "option chat_template repeats model.chat_template"
            yield finding("WS082", message, (*served.path, "engine", "options", "chat_template"))


def check_formatters_on_lmi(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS115 and WS116: what LMI does with the output formatter of a base model."""
    for served in plan.models:
        code = served.carried.formatters
        if served.server != "lmi" or code is None or "output_formatter" not in formatter_kinds(code):
            continue
        path = (*served.path, "model", "formatters")
        if spec.endpoint.sessions is not None:
            message = (
                "LMI gives an output formatter the replies to sessions too, and loses their header: none would open"
            )
            yield finding("WS115", message, path)
        release = served.server_image.lmi_release
        if release is not None and release < FIRST_LMI_WITH_OUTPUT_FORMATTERS:
            message = (
                f"{served.server_image.version} formats an output again after the output formatter; "
                f"LMI {FIRST_LMI_WITH_OUTPUT_FORMATTERS} is the first that does not"
            )
            yield finding("WS116", message, path)


def check_needless(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS113."""
    del spec
    for image in plan.images:
        carries = any(one.lmcache or one.chat_template or one.formatters for one in image.models)
        # On vLLM only an image of ours runs the formatters that adapters may bring.
        carries = carries or (image.server == "vllm" and image.serves_adapters)
        if image.server != "sglang" and not carries and not image.reads_hub_token:
            message = f"the image for {image.name} would carry nothing that the stock image lacks"
            yield finding("WS113", message, ("image", "build"))


CHECKS = (check_place, check_carried, check_formatters_on_lmi, check_needless)
