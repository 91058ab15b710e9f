"""What can go wrong with the looks at AWS before and after a deploy."""

from __future__ import annotations

from warmstack.errors import WarmstackError


class OperateError(WarmstackError):
    """A look at AWS that cannot begin: nothing says at what, or with what; the text says the way out."""
