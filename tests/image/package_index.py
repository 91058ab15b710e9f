"""The host's way to Python packages, for pip or uv in a build: as mounts, so that nothing of it enters a layer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.image.buildah import Mount

PIP_CONFIGURATION = "/etc/pip.conf"
UV_CONFIGURATION = "/etc/uv/uv.toml"
CERTIFICATES = "/etc/ssl/certs"
# What says where packages come from. The host's constraints and defaults for installing stay outside.
TRANSPORT = ("index-url", "extra-index-url", "find-links", "no-index", "trusted-host", "proxy", "timeout", "retries")


def host_settings() -> dict[str, str]:
    """Return what pip on the host is told by files and environment; the later of two lines wins, as in pip."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    ).stdout
    found: dict[str, str] = {}
    for line in listed.splitlines():
        name, _, value = line.partition("=")
        key = name.removeprefix(":env:").rpartition(".")[2].replace("_", "-")
        if key in TRANSPORT:
            found[key] = value.strip("'\"").replace("\\n", " ")
    return found


def package_mounts(folder: Path) -> tuple[Mount, ...]:
    """Write the configurations of pip and uv, and return what a build has to see of the host.

    Args:
        folder: where to write them.
    """
    settings = host_settings()
    certificates = _certificates()
    if certificates is not None:
        settings["cert"] = str(certificates)
    written = {PIP_CONFIGURATION: pip_configuration(settings), UV_CONFIGURATION: uv_configuration(settings)}
    mounts: dict[str, Mount] = {}
    for inside, text in written.items():
        path = folder / Path(inside).name
        path.write_text(text, encoding="utf-8")
        mounts[inside] = Mount(host=path, inside=inside)
    places = [*_local_places(settings), *([certificates] if certificates else []), Path(CERTIFICATES)]
    mounts |= {str(place): Mount(host=place, inside=str(place)) for place in places if place.exists()}
    return tuple(mounts.values())


def pip_configuration(settings: Mapping[str, str]) -> str:
    """Return a pip.conf."""
    lines = [f"{key} = {' '.join(value.split())}" for key, value in sorted(settings.items())]
    return "\n".join(["[global]", *lines, ""])


def uv_configuration(settings: Mapping[str, str]) -> str:
    """Return a uv.toml: the same places, as far as uv reads them; it trusts what the system trusts."""
    values: dict[str, object] = {"index-strategy": "unsafe-best-match"}
    if "index-url" in settings:
        values["index-url"] = settings["index-url"]
    # Folders with an index's pages are caches of pip's; uv would want them in another form.
    values["extra-index-url"] = [one for one in settings.get("extra-index-url", "").split() if "file:" not in one]
    links = settings.get("find-links", "").split()
    values["find-links"] = [one for one in links if "://" in one or Path(one).exists()]
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    return "\n".join(["native-tls = true", "[pip]", *lines, ""])


def make_mount_points(rootfs: Path, mounts: tuple[Mount, ...]) -> None:
    """Make the places of mounts in a base image: a build would otherwise leave them in its layer."""
    for mount in mounts:
        place = rootfs / mount.inside.lstrip("/")
        if place.exists():
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        if mount.host.is_dir():
            place.mkdir()
        else:
            place.touch()


def _local_places(settings: Mapping[str, str]) -> Iterator[Path]:
    words = " ".join(settings.get(key, "") for key in ("index-url", "extra-index-url", "find-links")).split()
    for word in words:
        path = Path(unquote(urlsplit(word).path)) if word.startswith("file:") else Path(word)
        # An index's pages name files beside it, not below it.
        place = path.parent if path.name == "simple" else path
        if path.is_absolute() and place.exists() and ("://" not in word or word.startswith("file:")):
            yield place


def _certificates() -> Path | None:
    """Return the host's own bundle of certificates, where it names one."""
    names = ("PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
    named = [Path(os.environ[name]) for name in names if os.environ.get(name)]
    return next((path for path in named if path.is_file() and not path.is_relative_to(CERTIFICATES)), None) or next(
        (path for path in named if path.is_file()), None
    )
