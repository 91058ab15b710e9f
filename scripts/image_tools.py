"""Install what `make test-image` needs: buildah and debootstrap, by apt. A run that finds them does nothing.

Runs with the system's Python and its standard library alone.
"""

import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

PACKAGES = {
    "buildah": "buildah",
    "debootstrap": "debootstrap",
    "/usr/share/keyrings/debian-archive-keyring.gpg": "debian-archive-keyring",
}
"""What has to be there, a program on PATH or a file, and the package that brings it."""
TRIES = 3
PAUSE_SECONDS = 5.0


class ToolsError(Exception):
    """The images cannot be built here; the message says why."""


def main() -> int:
    """Install what is missing; return the exit status."""
    try:
        packages = missing()
        refuse(packages)
        if packages:
            install(packages)
    except ToolsError as error:
        print(f"image: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("image: interrupted; the next run starts anew", file=sys.stderr)
        return 130
    return 0


def missing() -> list[str]:
    """Return the packages whose programs or files are not there."""
    return [package for what, package in PACKAGES.items() if not _is_there(what)]


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


def install(packages: Sequence[str]) -> None:
    """Install packages, and try again when a mirror does not answer.

    Raises:
        ToolsError: they are not there afterwards.
    """
    started = time.monotonic()
    print(f"image: installing {', '.join(packages)} with apt-get", flush=True)
    steps = (["update"], ["install", "--yes", "--no-install-recommends", *packages])
    done = None
    for number in range(TRIES):
        if number:
            time.sleep(PAUSE_SECONDS)
        for step in steps:
            done = _apt(step)
        # A source of another project that does not answer fails `update`, and does not matter here.
        if done is not None and done.returncode == 0 and not missing():
            print(f"image: installed in {time.monotonic() - started:.0f} s", flush=True)
            return
    output = "" if done is None else done.stdout.strip()[-2000:]
    raise ToolsError(f"apt-get could not install {', '.join(packages)}; it said:\n{output}")


def _apt(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["apt-get", "--quiet", *arguments],
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def _is_there(what: str) -> bool:
    if what.startswith("/"):
        return Path(what).exists()
    # Guard: the PATH of a user's shell may lack sbin, where debootstrap lies.
    return shutil.which(what, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin") is not None


if __name__ == "__main__":
    sys.exit(main())
