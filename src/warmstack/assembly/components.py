"""Inference components, bases and adapters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast, get_args

from warmstack.assembly.definitions import ComponentDefinition, ModelDefinition, Placement, VariantDefinition
from warmstack.assembly.fields import Fields
from warmstack.assembly.identities import name_in
from warmstack.assembly.models import Tell, notice, read_component_container
from warmstack.assembly.variants import TIMEOUT_SECONDS, FindModel

MOST_COPIES = 100_000
MOST_MIB = 1_000_000_000


def read_components(
    found: Sequence[tuple[Fields, str]], variants: Sequence[VariantDefinition], find_model: FindModel, tell: Tell
) -> tuple[ComponentDefinition, ...]:
    """Read the components of one endpoint.

    Args:
        found: Their properties and their names.
        variants: The endpoint's variants.
        find_model: Answers the model that a property names.
        tell: Takes notices.
    """
    specified = [(fields, name, _specification(fields, variants, tell)) for fields, name in found]
    is_adapter = [_is_there(spec, "BaseInferenceComponentName") for _, _, spec in specified]
    bases = [
        _read_base(fields, name, spec, variants=variants, find_model=find_model, tell=tell)
        for (fields, name, spec), adapter in zip(specified, is_adapter, strict=True)
        if not adapter
    ]
    by_name = {one.name: one for one in bases}
    adapters = [
        _read_adapter(fields, name, spec, by_name, tell)
        for (fields, name, spec), adapter in zip(specified, is_adapter, strict=True)
        if adapter
    ]
    return (*bases, *(one for one in adapters if one is not None))


def _is_there(fields: Fields, name: str) -> bool:
    return name in fields


def _specification(fields: Fields, variants: Sequence[VariantDefinition], tell: Tell) -> Fields:
    """Return the specification, or that of several which is for an instance type that there is."""
    if "Specification" in fields:
        return fields.inside("Specification")
    several = fields.each("Specifications")
    if not several:
        fields.wrong("Specification", "is missing; a component has one")
        return fields.inside("Specification")
    types = {one.instance_type for one in variants}
    chosen = next((one for one in several if one.text("InstanceType") in types), several[0])
    if len(several) > 1:
        tell(
            notice(fields.template, fields.logical_id, "Specifications", f"{chosen.path} is served for every instance")
        )
    return chosen


def _read_base(
    fields: Fields,
    name: str,
    spec: Fields,
    *,
    variants: Sequence[VariantDefinition],
    find_model: FindModel,
    tell: Tell,
) -> ComponentDefinition:
    container = spec.inside("Container")
    model: ModelDefinition | None = None
    if "ModelName" in spec:
        model = find_model(spec, "ModelName")
    elif "Container" in spec:
        model = read_component_container(container, name, tell)
    else:
        spec.wrong("ModelName", "is missing, and so are Container and BaseInferenceComponentName")
    copies = fields.inside("RuntimeConfig").whole("CopyCount", 0, MOST_COPIES)
    return _define(
        fields,
        name,
        spec,
        variant_name=_variant_name(fields, variants),
        copy_count=1 if copies is None else copies,
        model=model or _NO_MODEL,
        base=None,
        artifact_url=container.best_text("ArtifactUrl", _told_of_the_model),
    )


def _read_adapter(
    fields: Fields, name: str, spec: Fields, bases: Mapping[str, ComponentDefinition], tell: Tell
) -> ComponentDefinition | None:
    named = spec.required_text("BaseInferenceComponentName")
    if named is None:
        return None
    base = bases.get(name_in(named))
    if base is None:
        there = ", ".join(bases) or "no base component"
        spec.wrong("BaseInferenceComponentName", f"is {name_in(named)!r}; its endpoint has {there}")
        return None

    def tell_of(place: str, value: object) -> None:
        why = f"{getattr(value, 'why', value)}; the address is given as far as it is known"
        tell(notice(fields.template, fields.logical_id, place, why))

    artifact = spec.inside("Container").best_text("ArtifactUrl", tell_of)
    if artifact is None:
        spec.inside("Container").wrong("ArtifactUrl", "is missing; an adapter has its archive there")
    return _define(
        fields,
        name,
        spec,
        variant_name=base.variant_name,
        copy_count=0,
        model=base.model,
        base=base.name,
        artifact_url=artifact,
    )


def _define(
    fields: Fields,
    name: str,
    spec: Fields,
    *,
    variant_name: str,
    copy_count: int,
    model: ModelDefinition,
    base: str | None,
    artifact_url: str | None,
) -> ComponentDefinition:
    needs = spec.inside("ComputeResourceRequirements")
    startup = spec.inside("StartupParameters")
    placement = spec.inside("SchedulingConfig").choice("PlacementStrategy", get_args(Placement))
    return ComponentDefinition(
        logical_id=fields.logical_id,
        name=name,
        variant_name=variant_name,
        copy_count=copy_count,
        model=model,
        base=base,
        artifact_url=artifact_url,
        accelerators=needs.number("NumberOfAcceleratorDevicesRequired", 1, 10_000),
        cpu_cores=needs.number("NumberOfCpuCoresRequired", 0.25, 100_000),
        min_memory_mib=needs.whole("MinMemoryRequiredInMb", 128, MOST_MIB),
        max_memory_mib=needs.whole("MaxMemoryRequiredInMb", 128, MOST_MIB),
        placement=cast(Placement | None, placement),
        download_timeout_seconds=startup.whole("ModelDataDownloadTimeoutInSeconds", *TIMEOUT_SECONDS),
        startup_timeout_seconds=startup.whole("ContainerStartupHealthCheckTimeoutInSeconds", *TIMEOUT_SECONDS),
    )


def _variant_name(fields: Fields, variants: Sequence[VariantDefinition]) -> str:
    by_name = {one.name: one for one in variants}
    if "VariantName" in fields or len(by_name) != 1:
        name = fields.required_text("VariantName") or ""
    else:
        name = next(iter(by_name))
    if name and name not in by_name:
        fields.wrong("VariantName", f"is {name!r}; its endpoint has {', '.join(by_name) or 'no variant'}")
    elif name and by_name[name].model is not None:
        fields.wrong("VariantName", f"is {name!r}, which serves a model itself; a variant has a model or components")
    return name


# Stands where a problem says that there is no model; the reading ends with it.
_NO_MODEL = ModelDefinition(
    name="", logical_id="", image="", environment={}, server=None, model_data=None, staged=None, execution_role=None
)


def _told_of_the_model(place: str, value: object) -> None:
    """What is not known of a container's archive is told where its model is read."""
