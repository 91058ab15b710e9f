"""What can go wrong with recorded requests."""

from __future__ import annotations

from warmstack.errors import WarmstackError


class WorkloadError(WarmstackError):
    """A file of recorded requests that cannot be read: the file, the line, what is wrong with it, and the way out."""
