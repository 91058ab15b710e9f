"""What can go wrong with routing settings."""

from __future__ import annotations

from warmstack.errors import WarmstackError


class RoutingError(WarmstackError):
    """Routing choices that cannot be read: every problem, each with the values that there are."""
