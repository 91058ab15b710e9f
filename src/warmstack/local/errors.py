"""What can go wrong with the local endpoint."""

from __future__ import annotations

from warmstack.errors import WarmstackError


class LocalError(WarmstackError):
    """The local endpoint cannot start, or cannot do what it was asked: what, and the way out."""


def missing_package(error: ImportError) -> LocalError:
    """Return the error for a package of the extra that is not installed."""
    return LocalError(
        f"the local endpoint needs {error.name}, which is not installed: pip install 'warmstack[local]', or in a clone "
        "make setup"
    )
