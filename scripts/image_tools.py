"""Install what `make test-image` needs: buildah and debootstrap, by apt. A run that finds them does nothing.

The registry that images are pushed to is only unpacked: installed, its service would start with the machine.

Runs with the system's Python and its standard library alone.
"""

import os
import platform
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import apt

PACKAGES = {
    "buildah": "buildah",
    "debootstrap": "debootstrap",
    "/usr/share/keyrings/debian-archive-keyring.gpg": "debian-archive-keyring",
}
"""What has to be there, a program on PATH or a file, and the package that brings it."""
REGISTRY_PACKAGE = "docker-registry"
REGISTRY_FOLDER = Path(__file__).resolve().parents[1] / "build" / "image-tools" / REGISTRY_PACKAGE
REGISTRY = REGISTRY_FOLDER / "usr/bin/docker-registry"
"""The program that serves a registry."""


class ToolsError(Exception):
    """The images cannot be built here; the message says why."""


def main() -> int:
    """Install what is missing; return the exit status."""
    try:
        packages = missing()
        refuse([*packages, *([] if has_registry() else [REGISTRY_PACKAGE])])
        if packages:
            apt.install(packages, missing, name="image")
        if not has_registry():
            apt.unpack(REGISTRY_PACKAGE, REGISTRY_FOLDER, name="image")
    except (ToolsError, apt.AptError) as error:
        print(f"image: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("image: interrupted; the next run starts anew", file=sys.stderr)
        return 130
    return 0


def missing() -> list[str]:
    """Return the packages whose programs or files are not there."""
    return apt.missing(PACKAGES)


def has_registry() -> bool:
    """Return whether the registry has been unpacked."""
    return REGISTRY.exists()


def refuse(packages: Sequence[str]) -> None:
    """Refuse machines on which the images cannot be built.

    Args:
        packages: what would have to be installed.

    Raises:
        ToolsError: this is such a machine.
    """
    here = (platform.system(), platform.machine())
    if here != ("Linux", "x86_64"):
        raise ToolsError(f"this is {' '.join(here)}; the images are for x86-64 Linux and are built and run on it")
    if os.geteuid() != 0:
        raise ToolsError("building images here needs root, to mount their layers; run `make test-image` as root")
    if packages and shutil.which("apt-get") is None:
        raise ToolsError(f"{', '.join(packages)}: missing, and there is no apt-get to install them with")


if __name__ == "__main__":
    sys.exit(main())
