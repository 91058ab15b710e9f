"""Write src/warmstack/catalog/data/images.json from the installed sagemaker-core package.

::

    python scripts/refresh_images.py --as-of 2026-10-21

Only the package's JSON files are read: importing the SDK itself takes seconds and loads pandas and boto3.
Every version is kept as the SDK names it; which of them the catalog offers is decided by the reader
(``warmstack.catalog.images``), so a new SDK changes this file and nothing else.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PACKAGE = "sagemaker-core"
FRAMEWORKS = ("djl-lmi", "vllm", "vllm-server", "sglang", "sglang-server")
OUTPUT = Path(__file__).resolve().parents[1] / "src" / "warmstack" / "catalog" / "data" / "images.json"


def configuration_folder() -> Path:
    """Return the folder of the SDK's image tables, without importing the SDK.

    Raises:
        SystemExit: sagemaker-core is not installed.
    """
    # Guard: find_spec("sagemaker.core.x") would import sagemaker.core; the parent package alone is light.
    spec = importlib.util.find_spec("sagemaker")
    for location in (spec.submodule_search_locations or ()) if spec is not None else ():
        folder = Path(location) / "core" / "image_uri_config"
        if folder.is_dir():
            return folder
    raise SystemExit(f"{PACKAGE} is not installed in this environment: its image tables are the source")


def image_tag(version: Mapping[str, Any]) -> str:
    """Return the tag that the SDK composes for one version of a GPU inference image.

    The order is ``prefix[-processor][-python][-container version]``, as ``image_uris.retrieve`` joins them.
    """
    parts = [str(version["tag_prefix"])]
    if version.get("processor_in_tag", "container_version" in version):
        parts.append("gpu")
    parts.extend(str(python) for python in version.get("py_versions", ()))
    if "container_version" in version:
        parts.append(str(version["container_version"]["gpu"]))
    return "-".join(parts)


def build_document(folder: Path, *, sdk_version: str, as_of: str) -> dict[str, Any]:
    """Return the document of images.json: tags by framework and version, each registry map held once.

    Args:
        folder: the SDK's ``image_uri_config`` folder.
        sdk_version: the version of sagemaker-core that the folder belongs to.
        as_of: the release date of that version, ``YYYY-MM-DD``.
    """
    registries: dict[str, dict[str, str]] = {}
    names: dict[str, str] = {}
    frameworks: dict[str, dict[str, dict[str, str]]] = {}
    for framework in FRAMEWORKS:
        table = json.loads((folder / f"{framework}.json").read_text(encoding="utf-8"))
        versions = table.get("inference", table)["versions"]
        frameworks[framework] = {}
        for version, entry in versions.items():
            accounts = dict(sorted(entry["registries"].items()))
            key = json.dumps(accounts)
            if key not in names:
                names[key] = f"r{len(names) + 1}"
                registries[names[key]] = accounts
            frameworks[framework][version] = {
                "repository": entry["repository"],
                "tag": image_tag(entry),
                "registries": names[key],
            }
    return {
        "source": f"{PACKAGE} {sdk_version}, sagemaker/core/image_uri_config/*.json",
        "as_of": as_of,
        "frameworks": frameworks,
        "registries": registries,
    }


def render(document: Mapping[str, Any]) -> str:
    """Return the text of images.json, one key a line so that a refresh reads well in a diff."""
    return json.dumps(document, indent=1) + "\n"


def main() -> None:
    """Write images.json from the installed package."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--as-of", required=True, help="release date of the installed SDK, YYYY-MM-DD")
    arguments = parser.parse_args()
    version = importlib.metadata.version(PACKAGE)
    document = build_document(configuration_folder(), sdk_version=version, as_of=arguments.as_of)
    OUTPUT.write_text(render(document), encoding="utf-8")
    print(f"{OUTPUT.name}: {sum(len(v) for v in document['frameworks'].values())} tags of {PACKAGE} {version}")


if __name__ == "__main__":
    main()
