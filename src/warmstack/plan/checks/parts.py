"""The spec's parts behind a served model."""

from __future__ import annotations

from warmstack.plan.model import ServedModel
from warmstack.spec import CacheSpec, ComponentSpec, DeploymentSpec, EngineSpec, ModelSpec


def component_of(spec: DeploymentSpec, served: ServedModel) -> ComponentSpec | None:
    """Return the component that the served model comes from, or None when the variant hosts it."""
    return spec.components[int(served.path[1])] if served.path else None


def model_of(spec: DeploymentSpec, served: ServedModel) -> ModelSpec:
    """Return the spec of the model that is served."""
    component = component_of(spec, served)
    model = spec.model if component is None else component.model
    assert model is not None  # DeploymentSpec: components, or a model of its own
    return model


def engine_of(spec: DeploymentSpec, served: ServedModel) -> EngineSpec:
    """Return the spec of the engine that serves it."""
    component = component_of(spec, served)
    return spec.engine if component is None else component.engine


def cache_of(spec: DeploymentSpec, served: ServedModel) -> CacheSpec:
    """Return the spec of its cache."""
    component = component_of(spec, served)
    return spec.cache if component is None else component.cache
