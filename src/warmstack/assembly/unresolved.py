"""Values that only a deployment knows, and the record of what is wrong with a template."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Unresolved:
    """A value that is not known here.

    Args:
        text: How it would read, with ``${…}`` for what is missing.
        why: What is missing.
        is_reported: Whether a problem says so already.
    """

    text: str
    why: str
    is_reported: bool = False


class NoValue:
    """``AWS::NoValue``: the property is not there."""


NO_VALUE = NoValue()


class Problems:
    """What is wrong, each thing once, in the order of its finding."""

    def __init__(self) -> None:
        self._lines: dict[str, None] = {}

    def __bool__(self) -> bool:
        return bool(self._lines)

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def add(self, where: str, what: str) -> Unresolved:
        """Record a problem, and return what stands for the value that is missing because of it."""
        line = f"{where}: {what}" if where else what
        self._lines[line] = None
        return Unresolved(text="${?}", why=what, is_reported=True)


def as_text(value: Any) -> str | None:
    """Return a value as CloudFormation writes it in a text, or None where it has no such form."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        # Guard: Python refuses to write integers of more than 4300 digits.
        return repr(value) if isinstance(value, float) or abs(value) < 10**300 else None
    return None
