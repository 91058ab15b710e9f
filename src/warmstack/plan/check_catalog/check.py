"""What is known of a check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warmstack.plan.model import Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check.

    Args:
        id: such as ``WS051``.
        severity: what it usually finds.
        reason: one line: what is wrong, or worth knowing.
        fix: the way out.
        source: how the rule is known.
    """

    id: str
    severity: Severity
    reason: str
    fix: str
    source: str


def table(*rows: tuple[str, Severity, str, str, str]) -> Mapping[str, Check]:
    """Return the checks of some rows (id, severity, reason, fix, source) by id."""
    return {row[0]: Check(id=row[0], severity=row[1], reason=row[2], fix=row[3], source=row[4]) for row in rows}
