"""What an adapter has to fit: one served model of a plan."""

from __future__ import annotations

from dataclasses import dataclass

from warmstack.adapters.problems import AdapterError
from warmstack.catalog import ModelShape
from warmstack.plan import Plan, ServedModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The model and the server that the adapter is for.

    Args:
        component: the component's name in the spec, or None.
        server: lmi, vllm or sglang.
        server_version: the image's version.
        lmi_release: the number after ``lmi`` in the image's tag, or None with another server.
        built: whether Warmstack builds its image, which runs an adapter's formatters on vLLM and SGLang too.
        lora_enabled: whether the plan's engine settings turn adapters on.
        max_lora_rank: the largest rank that the engine has room for, or None where the plan does not set it.
        model_id: the base model.
        shape: its shape.
    """

    component: str | None
    server: str
    server_version: str
    lmi_release: int | None
    built: bool
    lora_enabled: bool
    max_lora_rank: int | None
    model_id: str
    shape: ModelShape


def target_of(plan: Plan, component: str | None) -> Target:
    """Return what an adapter of a component has to fit.

    Args:
        plan: the plan of the spec.
        component: the component's name, or None to take the only model, or the only component with adapters.

    Raises:
        AdapterError: there is no such component, or the spec leaves open which one is meant.
    """
    names = [one.component for one in plan.models if one.component is not None]
    if component is not None:
        found = [one for one in plan.models if one.component == component]
        if not found:
            has = f"it has {', '.join(names)}" if names else "it has none"
            raise AdapterError(f"--component is {component!r}; the spec has no component of that name, {has}")
    else:
        found = list(plan.models)
        if len(found) > 1:
            found = [one for one in found if one.adapters]
        if len(found) != 1:
            raise AdapterError(f"the spec has several components; name one with --component: {', '.join(names)}")
    return _target(found[0])


def _target(served: ServedModel) -> Target:
    rank = served.engine_settings.get("max_lora_rank")
    return Target(
        component=served.component,
        server=served.server,
        server_version=served.server_image.version,
        lmi_release=served.server_image.lmi_release,
        built=served.image.build is not None,
        lora_enabled=bool(served.adapters) or served.engine_settings.get("enable_lora") is True,
        max_lora_rank=rank if isinstance(rank, int) else None,
        model_id=served.model_id,
        shape=served.shape,
    )
