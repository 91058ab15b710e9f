"""Where the engines are installed, and whether what lies there is whole."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PINS = Path(__file__).with_name("data") / "engine-pins.txt"
STAMP_NAME = "warmstack-engine.json"
VARIABLE = "WARMSTACK_ENGINE"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineEnvironment:
    """A virtual environment that has vLLM and LMCache.

    Args:
        folder: Where it is.
    """

    folder: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"


def cache_folder(outer: Mapping[str, str] = os.environ) -> Path:
    """Return where Warmstack keeps what it can make again: ``$XDG_CACHE_HOME/warmstack``, or below the home folder.

    Args:
        outer: This process's environment.
    """
    given = Path(outer.get("XDG_CACHE_HOME", ""))
    # Guard: the base directory specification says to ignore a relative path.
    return (given if given.is_absolute() else Path.home() / ".cache") / "warmstack"


def pins_digest(*pins: Path) -> str:
    """Return what changes when a list of pins does."""
    return hashlib.sha256(b"\0".join(one.read_bytes() for one in pins)).hexdigest()


def engine_folder(folder: Path | None = None, outer: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of the engine environment: as given, else ``WARMSTACK_ENGINE``, else one below the cache.

    Args:
        folder: The folder that the user named, if any.
        outer: This process's environment.
    """
    if folder is None and outer.get(VARIABLE):
        folder = Path(outer[VARIABLE])
    if folder is not None:
        return folder.expanduser().absolute()
    return cache_folder(outer) / f"engine-{pins_digest(PINS)[:16]}"


def find_engine(folder: Path | None = None, outer: Mapping[str, str] = os.environ) -> EngineEnvironment | None:
    """Return the installed engine environment, or None when there is none that is whole and of this version's pins.

    Args:
        folder: The folder that the user named, if any.
        outer: This process's environment.
    """
    environment = EngineEnvironment(folder=engine_folder(folder, outer))
    return environment if is_whole(environment, {"pins": pins_digest(PINS)}) else None


def is_whole(environment: EngineEnvironment, wanted: Mapping[str, str]) -> bool:
    """Return whether an installation went to its end, in this place and with these pins, and its Python is there.

    Args:
        environment: The environment.
        wanted: What its stamp has to say, beside the place.
    """
    stamp = read_stamp(environment.folder)
    # Guard: a virtual environment does not work where it was moved or copied to; its scripts name its place.
    expected = {**wanted, "folder": str(environment.folder)}
    return expected.items() <= stamp.items() and environment.python.exists()


def read_stamp(folder: Path) -> Mapping[str, object]:
    """Return what the stamp of an environment says; nothing if there is none."""
    try:
        stamp = json.loads((folder / STAMP_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def write_stamp(folder: Path, stamp: Mapping[str, str]) -> None:
    """Write the stamp of an environment, whole or not at all."""
    beside = folder / f"{STAMP_NAME}.new"
    beside.write_text(json.dumps(stamp), encoding="utf-8")
    beside.replace(folder / STAMP_NAME)
