"""The static files that travel with an adapter: in a checkout, and in an installed package."""

from __future__ import annotations

from pathlib import Path

from warmstack.adapters.problems import AdapterError
from warmstack.authored import authored_folder


def formatter_file(name: str) -> Path:
    """Return the path of a file of ``container/formatters``.

    Raises:
        AdapterError: this installation does not have it.
    """
    path = authored_folder("container") / "formatters" / name
    if path.is_file():
        return path
    raise AdapterError(f"{name} is not in this installation of Warmstack; install it again")
