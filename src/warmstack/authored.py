"""Where the authored files lie that are no Python of the package: ``templates/`` and ``container/``."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def authored_folder(name: str) -> Path:
    """Return ``templates`` or ``container``: a package carries them as data, a clone has them at its root."""
    carried = _PACKAGE / "_data" / name
    return carried if carried.is_dir() else _PACKAGE.parents[1] / name
