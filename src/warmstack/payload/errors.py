"""What can go wrong with a request's bytes."""

from __future__ import annotations

from warmstack.errors import WarmstackError


class PayloadError(WarmstackError):
    """A body that has no canonical bytes, or an identifier that SageMaker refuses: place, value, way out."""
