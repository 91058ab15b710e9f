"""Whether the pinned engines fit this machine."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PYTHON = (3, 11)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What the engines' wheels depend on.

    Args:
        system: The operating system, as Python names it.
        processor: The kind of processor, as Python names it.
        libc: The name of the C library.
        python: A Python of the wheels' version; None if there is none.
    """

    system: str
    processor: str
    libc: str
    python: Path | None

    @classmethod
    def here(cls, outer: Mapping[str, str] = os.environ) -> Machine:
        """Return this machine.

        Args:
            outer: This process's environment, for its PATH.
        """
        return cls(
            system=platform.system(),
            processor=platform.machine(),
            libc=platform.libc_ver()[0],
            python=find_python(outer, running=sys.version_info[:2]),
        )


def platform_problem(machine: Machine | None = None) -> str | None:
    """Return why no engine can be installed here, or None.

    Args:
        machine: The machine; this one by default.
    """
    found = machine or Machine.here()
    if (found.system, found.processor) != ("Linux", "x86_64"):
        return f"no engine wheel fits {found.system} {found.processor}; the pins are for x86-64 Linux"
    if found.libc != "glibc":
        return f"no engine wheel fits the C library {found.libc or 'of this system'}; the pins are for glibc"
    if found.python is None:
        return (
            f"no engine wheel fits Python {sys.version_info[0]}.{sys.version_info[1]}, and there is no python3.11 on "
            "PATH; the pins are for Python 3.11"
        )
    return None


def find_python(outer: Mapping[str, str], *, running: tuple[int, int]) -> Path | None:
    """Return a Python of the wheels' version: the running one, or one on PATH; None if there is none.

    Args:
        outer: This process's environment, for its PATH.
        running: The version of the running one.
    """
    if running == PYTHON:
        return Path(sys.executable)
    found = shutil.which("python3.11", path=outer.get("PATH"))
    if found is None:
        return None
    # Guard: a name on PATH may be a launcher of a version that is not installed.
    code = f"import sys; sys.exit(sys.version_info[:2] != {PYTHON})"
    try:
        done = subprocess.run([found, "-c", code], capture_output=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return Path(found) if done.returncode == 0 else None
