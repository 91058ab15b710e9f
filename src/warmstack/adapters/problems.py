"""What the checks of an adapter say."""

from __future__ import annotations

from dataclasses import dataclass

from warmstack.errors import WarmstackError
from warmstack.plan.model import Severity


class AdapterError(WarmstackError):
    """An adapter that cannot be read, packed or stored; the text is a whole message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One finding about an adapter.

    Args:
        id: a short name for scripts, such as ``rank``; it stays the same.
        severity: ``error`` stops, ``warning`` stops with ``--strict``, ``note`` never stops.
        place: the file, the key or the tensor.
        value: what was found there.
        rule: what must hold.
        fix: the way out.
    """

    id: str
    severity: Severity
    place: str
    value: str
    rule: str
    fix: str

    @property
    def message(self) -> str:
        """The value and the rule in one line."""
        return f"{self.value}; {self.rule}"


def error(id: str, place: str, value: str, rule: str, fix: str) -> Problem:  # noqa: A002 - the field's own name
    """Return a problem that stops."""
    return Problem(id=id, severity="error", place=place, value=value, rule=rule, fix=fix)


def warning(id: str, place: str, value: str, rule: str, fix: str) -> Problem:  # noqa: A002 - the field's own name
    """Return a problem that stops with ``--strict``."""
    return Problem(id=id, severity="warning", place=place, value=value, rule=rule, fix=fix)


def note(id: str, place: str, value: str, rule: str, fix: str) -> Problem:  # noqa: A002 - the field's own name
    """Return a problem that never stops."""
    return Problem(id=id, severity="note", place=place, value=value, rule=rule, fix=fix)
