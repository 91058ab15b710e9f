"""Asset manifests: which folder of a cloud assembly an image is built from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warmstack.assembly.documents import read_document


@dataclass(frozen=True, slots=True, kw_only=True)
class Assets:
    """The folders that a stack publishes.

    Args:
        images: Build contexts by the tag of the image (an asset's hash, as the CDK sets it).
        files: Folders by the key of their archive in the bucket.
    """

    images: Mapping[str, Path] = field(default_factory=dict)
    files: Mapping[str, Path] = field(default_factory=dict)


def read_assets(manifests: Iterable[Path]) -> Assets:
    """Read asset manifests (``*.assets.json``).

    Raises:
        DocumentError: One cannot be read.
    """
    images: dict[str, Path] = {}
    files: dict[str, Path] = {}
    for path in manifests:
        manifest = read_document(path)
        for asset in _values(manifest.get("dockerImages")):
            folder = _folder(path.parent, asset, "directory")
            for destination in _values(asset.get("destinations")):
                if folder is not None and isinstance(destination.get("imageTag"), str):
                    images[destination["imageTag"]] = folder
        for asset in _values(manifest.get("files")):
            folder = _folder(path.parent, asset, "path")
            for destination in _values(asset.get("destinations")):
                if folder is not None and isinstance(destination.get("objectKey"), str):
                    files[destination["objectKey"]] = folder
    return Assets(images=images, files=files)


def _values(section: Any) -> list[Mapping[str, Any]]:
    return [one for one in section.values() if isinstance(one, dict)] if isinstance(section, dict) else []


def _folder(beside: Path, asset: Mapping[str, Any], name: str) -> Path | None:
    """Return the folder that an asset names, where it is one and lies in the assembly."""
    source = asset.get("source")
    named = source.get(name) if isinstance(source, dict) else None
    if not isinstance(named, str) or "\0" in named:
        return None
    # Guard: an assembly that was handed over must not name folders of the machine that reads it.
    within = Path(os.path.realpath(beside))
    folder = Path(os.path.realpath(within / named))
    return folder if folder.is_relative_to(within) and folder.is_dir() else None
