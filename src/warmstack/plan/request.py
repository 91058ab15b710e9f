"""What one served model is planned from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warmstack.catalog import Catalog, InstanceType, ModelShape, ServerImage
from warmstack.plan.model import SpecPath
from warmstack.spec import CacheSpec, ComponentSpec, DeploymentSpec, EngineSpec, ModelSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One model to plan: the spec's parts and the catalog's facts about them.

    Args:
        spec: the whole deployment.
        component: the component, or None when the variant hosts the model.
        path: the place in the spec.
        model: the model's spec.
        engine: the engine's spec.
        cache: the cache's spec.
        shape: the model's shape.
        instance: the instance type.
        image: the image's facts.
        catalog: for the flag tables.
        texts: what the files hold that the spec names, by the place of the field.
    """

    spec: DeploymentSpec
    component: ComponentSpec | None
    path: SpecPath
    model: ModelSpec
    engine: EngineSpec
    cache: CacheSpec
    shape: ModelShape
    instance: InstanceType
    image: ServerImage
    catalog: Catalog
    texts: Mapping[SpecPath, str]

    @property
    def has_built_image(self) -> bool:
        """Whether the model runs in an image of ours."""
        return self.spec.image.build != "none"
