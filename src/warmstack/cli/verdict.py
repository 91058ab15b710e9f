"""How many messages there are, and whether that is good enough, in the words of every command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

SEVERITIES = ("error", "warning", "note")


def counted(severities: Iterable[str]) -> list[str]:
    """Return ``1 error``, ``2 notes``, for each severity that there is."""
    counts = Counter(severities)
    return [f"{counts[one]} {one if counts[one] == 1 else one + 's'}" for one in SEVERITIES if counts[one]]


def failed(severities: Iterable[str], *, strict: bool) -> bool:
    """Return whether the command must exit with 1."""
    found = set(severities)
    return "error" in found or (strict and "warning" in found)


def verdict(severities: Sequence[str], *, strict: bool, more: Sequence[str] = ()) -> str:
    """Return ``valid`` or ``invalid``, with the counts and what else there is to say."""
    word = "invalid" if "error" in severities else "valid"
    if word == "valid" and failed(severities, strict=strict):
        word = "invalid with --strict"
    counts = [*counted(severities), *more]
    return f"{word} ({', '.join(counts)})" if counts else word
