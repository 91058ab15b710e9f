"""The models of the catalog: shapes read from the config.json fields that the package carries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from warmstack.catalog._data import read_json
from warmstack.catalog.configs import shape_from_config
from warmstack.catalog.shapes import ModelShape

SOURCE = "catalog"


class _Shapes(Mapping[str, ModelShape]):
    """Shapes by model id, each read from its config when it is first asked for.

    Why: a plan asks for one or two of more than a hundred, and reading all of them would be a tenth of its time.
    """

    def __init__(self, configs: Mapping[str, Mapping[str, Any]]) -> None:
        self._configs = configs
        self._shapes: dict[str, ModelShape] = {}

    def __getitem__(self, model_id: str) -> ModelShape:
        if model_id not in self._shapes:
            config = self._configs[model_id]
            self._shapes[model_id] = shape_from_config(config, model_id=model_id, source=SOURCE)
        return self._shapes[model_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._configs)

    def __len__(self) -> int:
        return len(self._configs)


def load_models() -> Mapping[str, ModelShape]:
    """Return the shapes by model id, aliases included: an alias carries its own id."""
    configs = dict(read_json("models.json")["models"])
    for alias, entry in read_json("aliases.json")["aliases"].items():
        configs[alias] = {**configs[entry["same_as"]], **entry["changes"]}
    return _Shapes(configs)
