"""Install packages by apt when what they bring is not there. Standard library alone."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

TRIES = 3
PAUSE_SECONDS = 5.0


class AptError(Exception):
    """Packages could not be installed; the message says why."""


def missing(packages: Mapping[str, str]) -> list[str]:
    """Return the packages whose programs or files are not there.

    Args:
        packages: what has to be there, a program on PATH or a file, and the package that brings it.
    """
    return [package for what, package in packages.items() if not _is_there(what)]


def install(packages: Sequence[str], still_missing: Callable[[], Sequence[str]], *, name: str) -> None:
    """Install packages, and try again when a mirror does not answer.

    Args:
        packages: their names.
        still_missing: tells what is missing now.
        name: what the lines that are printed start with.

    Raises:
        AptError: they are not there afterwards.
    """
    started = time.monotonic()
    print(f"{name}: installing {', '.join(packages)} with apt-get", flush=True)
    steps = (["update"], ["install", "--yes", "--no-install-recommends", *packages])
    done = None
    for number in range(TRIES):
        if number:
            time.sleep(PAUSE_SECONDS)
        for step in steps:
            done = _apt(step)
        # A source of another project that does not answer fails `update`, and does not matter here.
        if done is not None and done.returncode == 0 and not still_missing():
            print(f"{name}: installed in {time.monotonic() - started:.0f} s", flush=True)
            return
    output = "" if done is None else done.stdout.strip()[-2000:]
    raise AptError(f"apt-get could not install {', '.join(packages)}; it said:\n{output}")


def unpack(package: str, into: Path, *, name: str) -> None:
    """Put a package's files into a folder, without installing it: a service that it brings is not started.

    Args:
        package: its name.
        into: the folder, which is made; one that is there already is replaced.
        name: what the lines that are printed start with.

    Raises:
        AptError: the files are not there afterwards; nor is the folder.
    """
    print(f"{name}: fetching {package} with apt-get", flush=True)
    into.parent.mkdir(parents=True, exist_ok=True)
    said = ""
    for number in range(TRIES):
        if number:
            time.sleep(PAUSE_SECONDS)
        with tempfile.TemporaryDirectory(dir=into.parent) as folder:
            _apt(["update"])
            done = _apt(["download", package], Path(folder))
            said = done.stdout.strip()
            files = list(Path(folder).glob("*.deb"))
            if done.returncode != 0 or len(files) != 1:
                continue
            whole = Path(folder, "files")
            opened = _run(["dpkg-deb", "--extract", str(files[0]), str(whole)])
            said = opened.stdout.strip()
            if opened.returncode == 0:
                shutil.rmtree(into, ignore_errors=True)
                whole.rename(into)
                return
    raise AptError(f"apt-get could not fetch {package}; it said:\n{said[-2000:]}")


def _apt(arguments: Sequence[str], folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return _run(["apt-get", "--quiet", *arguments], folder)


def _run(command: Sequence[str], folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
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
