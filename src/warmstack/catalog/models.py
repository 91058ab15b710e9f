"""The models of the catalog: shapes read from the config.json fields that the package carries."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from warmstack.catalog._data import read_json
from warmstack.catalog.configs import shape_from_config
from warmstack.catalog.shapes import ModelShape

SOURCE = "catalog"


def load_models() -> Mapping[str, ModelShape]:
    """Return the shapes by model id, aliases included: an alias carries its own id."""
    configs = read_json("models.json")["models"]
    shapes = {
        model_id: shape_from_config(config, model_id=model_id, source=SOURCE) for model_id, config in configs.items()
    }
    for alias, entry in read_json("aliases.json")["aliases"].items():
        config = {**configs[entry["same_as"]], **entry["changes"]}
        shapes[alias] = shape_from_config(config, model_id=alias, source=SOURCE)
    return MappingProxyType(shapes)
