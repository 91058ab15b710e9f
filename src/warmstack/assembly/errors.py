"""What can go wrong while a template or cloud assembly is read."""

from __future__ import annotations

from collections.abc import Iterable

from warmstack.errors import WarmstackError


class AssemblyError(WarmstackError):
    """A template or cloud assembly that cannot be read, or that defines nothing to serve.

    Args:
        problems: Every problem, a line each.
    """

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))
