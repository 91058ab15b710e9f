"""The catalog: facts about instances, models, images and flags, with look-ups that name what is near."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from warmstack.catalog.flags import FlagTable, load_flags
from warmstack.catalog.images import SERVERS, ServerImage, load_images
from warmstack.catalog.instances import InstanceType, load_instances
from warmstack.catalog.models import load_models
from warmstack.catalog.shapes import ModelShape
from warmstack.errors import CatalogError


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """Facts with a source and a date, and no opinion.

    Attributes:
        instances: instance types by name.
        models: model shapes by id.
        images: server images, each server's newest first.
        flags: flag tables by server.
    """

    instances: Mapping[str, InstanceType]
    models: Mapping[str, ModelShape]
    images: tuple[ServerImage, ...]
    flags: Mapping[str, FlagTable]

    def instance(self, name: str) -> InstanceType:
        """Return an instance type.

        Raises:
            CatalogError: the catalog does not hold it; the message names the nearest ones.
        """
        found = self.instances.get(name)
        if found is None:
            raise CatalogError(f"instance type {name!r} is not in the catalog{_near(name, self.instances)}")
        return found

    def model(self, model_id: str) -> ModelShape:
        """Return the shape of a model.

        Raises:
            CatalogError: the catalog does not hold it; the message names the nearest ones and the way out.
        """
        found = self.models.get(model_id)
        if found is None:
            raise CatalogError(
                f"model {model_id!r} is not in the catalog{_near(model_id, self.models)}; "
                "for any other model, give the path of its config.json"
            )
        return found

    def image(self, server: str, version: str | None = None) -> ServerImage:
        """Return an image of a server.

        Args:
            server: ``lmi``, ``vllm`` or ``sglang``.
            version: a version or a full tag; None is the newest (for vLLM and SGLang the newest Ubuntu
                image).

        Raises:
            CatalogError: no such server or version; the message names the nearest versions.
        """
        images = [image for image in self.images if image.server == server]
        if not images:
            raise CatalogError(f"server {server!r} is not known; it is one of {', '.join(SERVERS)}")
        if version is None:
            return images[0]
        for image in images:
            if version in (image.version, image.tag):
                return image
        versions = [image.version for image in images]
        # Why: people write a part of the tag, 0.38.0 or lmi29, which no measure of likeness finds.
        partly = [known for known in versions if version and version in known][:3]
        near = f"; did you mean {' or '.join(partly)}?" if partly else _near(version, versions)
        near = near or f"; the newest are {', '.join(versions[:3])}"
        raise CatalogError(f"{server} version {version!r} is not in the catalog{near}")

    def with_models(self, extra: Mapping[str, ModelShape]) -> Catalog:
        """Return a catalog that holds these shapes too; they win over the catalog's own."""
        return replace(self, models=MappingProxyType({**self.models, **extra}))


def _near(name: str, names: Iterable[str]) -> str:
    """Return ``; did you mean …?`` with up to three names, or nothing.

    Names are compared without case and without an ``ml.`` or an owner in front, which people leave out.
    """
    by_key: dict[str, list[str]] = {}
    for known in names:
        for key in {known.lower(), _bare(known)}:
            by_key.setdefault(key, []).append(known)
    keys = difflib.get_close_matches(name.lower(), by_key, n=3, cutoff=0.6)
    keys += [k for k in difflib.get_close_matches(_bare(name), by_key, n=3, cutoff=0.6) if k not in keys]
    matches = list(dict.fromkeys(known for key in keys for known in by_key[key]))[:3]
    return f"; did you mean {' or '.join(matches)}?" if matches else ""


def _bare(name: str) -> str:
    return name.lower().removeprefix("ml.").rsplit("/", 1)[-1]


@functools.cache
def load_catalog() -> Catalog:
    """Return the catalog that the package carries. It is read once and never changes."""
    return Catalog(
        instances=load_instances(),
        models=load_models(),
        images=load_images(),
        flags=load_flags(),
    )
