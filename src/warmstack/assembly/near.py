"""What a name that is not known was meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def near(name: str, names: Iterable[object]) -> str:
    """Return ``; did you mean 'Name'?`` with the name that is nearest, or nothing."""
    found = get_close_matches(name, [one for one in names if isinstance(one, str)], 1)
    return f"; did you mean {found[0]!r}?" if found else ""
