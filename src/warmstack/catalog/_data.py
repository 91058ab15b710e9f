"""The data files of the catalog, read from the package (a checkout or an installed wheel)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from warmstack.errors import CatalogError

_FOLDER = Path(__file__).with_name("data")


def read_json(name: str, folder: Path = _FOLDER) -> Mapping[str, Any]:
    """Return the JSON object in ``data/<name>``.

    Raises:
        CatalogError: the file is missing, is not a JSON object, or names neither its source nor its date.
    """
    try:
        text = (folder / name).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise CatalogError(f"the catalog's data file {name} is not in this installation") from error
    document = json.loads(text)
    # Why: a fact without a source and a date cannot be checked by anyone, so such a file is not loaded.
    if not isinstance(document, dict) or not {"source", "as_of"} <= document.keys():
        raise CatalogError(f"the catalog's data file {name} states no source and as_of")
    return cast("Mapping[str, Any]", document)
