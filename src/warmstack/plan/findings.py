"""Building findings from the catalogue of checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from warmstack.plan.check_catalog import CHECKS
from warmstack.plan.model import Finding, Severity, SpecPath

_ORDER: dict[Severity, int] = {"error": 0, "warning": 1, "note": 2}


def finding(check: str, message: str, path: SpecPath, severity: Severity | None = None) -> Finding:
    """Return a finding of ``check``; the severity is the catalogue's unless the case at hand is worse or milder."""
    return Finding(check=check, severity=severity or CHECKS[check].severity, message=message, path=path)


def settle(found: Iterable[Finding], acknowledged: Mapping[str, str]) -> tuple[Finding, ...]:
    """Return the findings ordered by severity and id, with the spec's acknowledgements applied.

    An acknowledgement silences warnings and notes of its check, never an error; one that silences nothing is
    itself a warning, so that it does not outlive its reason.
    """
    findings = list(dict.fromkeys(found))
    ids = {one.check for one in findings if one.severity != "error"}
    settled = [
        Finding(
            check=one.check,
            severity=one.severity,
            message=one.message,
            path=one.path,
            acknowledged=acknowledged.get(one.check) if one.severity != "error" else None,
        )
        for one in findings
    ]
    errors = {one.check for one in findings if one.severity == "error"}
    for check in acknowledged:
        path = ("acknowledge", check)
        if check not in CHECKS:
            settled.append(finding("WS011", f"{check} is no check; `warmstack explain` lists them", path))
        elif check in errors and check not in ids:
            settled.append(finding("WS012", f"{check} is an error here; an error cannot be acknowledged", path))
        elif check not in ids:
            settled.append(finding("WS011", f"{check} finds nothing here; remove the acknowledgement", path))
    return tuple(sorted(settled, key=lambda one: (_ORDER[one.severity], one.check, str(one.path))))
