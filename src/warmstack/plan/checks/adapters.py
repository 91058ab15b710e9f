"""LoRA adapters."""

from __future__ import annotations

from collections.abc import Iterator

from warmstack.plan.engine import NAMES
from warmstack.plan.findings import finding
from warmstack.plan.model import Finding, Plan
from warmstack.plan.options import whole_number
from warmstack.spec import DeploymentSpec


def check_adapters(spec: DeploymentSpec, plan: Plan) -> Iterator[Finding]:
    """WS090, WS091 and WS092."""
    del spec
    for served in plan.models:
        if not served.adapters:
            continue
        path = (*served.path, "adapters")
        # An image of ours puts a server with adapters before sglang.
        if not served.server_image.supports_adapters and not (served.server == "sglang" and served.image.build):
            message = f"{served.server} {served.server_image.version} cannot register adapters at run time"
            yield finding("WS090", message, path)
            continue
        if served.engine_settings.get("enable_lora") is False:
            message = "enable_lora is false, but the component has adapters"
            yield finding("WS090", message, (*served.path, "engine", "options", "enable_lora"))
        most = whole_number(served.engine_settings, "max_lora_rank")
        for index, adapter in enumerate(served.adapters):
            if most is not None and adapter.rank > most:
                message = f"adapter {adapter.name} has rank {adapter.rank}; max_lora_rank is {most}"
                yield finding("WS091", message, (*path, index, "rank"))
        kept_name, slots_name = NAMES[served.server]["adapters_kept"], NAMES[served.server]["adapter_slots"]
        kept = whole_number(served.engine_settings, kept_name)
        slots = whole_number(served.engine_settings, slots_name)
        if kept is not None and slots is not None and kept < slots:
            message = f"{kept_name} is {kept}; the engine demands at least {slots_name}, {slots}"
            yield finding("WS083", message, (*served.path, "engine", "options", kept_name))
        if kept is not None and len(served.adapters) > kept:
            message = (
                f"{len(served.adapters)} adapters, of which the CPU keeps {kept}; the others are read from disk again"
            )
            yield finding("WS092", message, path)


CHECKS = (check_adapters,)
