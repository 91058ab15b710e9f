"""The static files that travel with an adapter: in a checkout, and in an installed package."""

from __future__ import annotations

from pathlib import Path

import warmstack
from warmstack.adapters.problems import AdapterError


def formatter_file(name: str) -> Path:
    """Return the path of a file of ``container/formatters``.

    Raises:
        AdapterError: this installation does not have it.
    """
    package = Path(warmstack.__file__).parent
    # An installed package carries the folder as data; a checkout has it beside src.
    for folder in (package / "_data" / "container", package.parents[1] / "container"):
        path = folder / "formatters" / name
        if path.is_file():
            return path
    raise AdapterError(f"{name} is not in this installation of Warmstack; install it again")
