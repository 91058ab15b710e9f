"""What can go wrong with the local endpoint."""

from __future__ import annotations

from warmstack.errors import WarmstackError


class LocalError(WarmstackError):
    """The local endpoint cannot start, or cannot do what it was asked: what, and the way out."""
