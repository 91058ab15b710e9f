"""The authored files that images are made from: ``templates/`` and ``container/``."""

from __future__ import annotations

from pathlib import Path

import warmstack

_PACKAGE = Path(warmstack.__file__).parent


def source_folder(name: str) -> Path:
    """Return ``templates`` or ``container``: the wheel carries both as data, a clone has them at its root."""
    carried = _PACKAGE / "_data" / name
    return carried if carried.is_dir() else _PACKAGE.parent.parent / name
