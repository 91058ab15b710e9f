"""Loading and planning a spec for a command, with every problem as one kind of message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from warmstack.catalog import load_catalog
from warmstack.cli.verdict import failed
from warmstack.plan import CHECKS, Finding, Plan, PlanError, draft_plan
from warmstack.plan.options import SECRET_OPTIONS
from warmstack.spec import Diagnostic, LoadedSpec, SpecError, load_spec, unique


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a spec file.

    Args:
        plan: the plan, as far as there is one; it may hold error findings.
        diagnostics: every message that is not acknowledged, ordered by place.
        acknowledged: how many findings the spec accepts with a reason.
        lines: the lines of the files that were read.
    """

    plan: Plan | None
    diagnostics: tuple[Diagnostic, ...]
    acknowledged: int
    lines: Mapping[str, Sequence[str]]

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The messages that stop."""
        return tuple(one for one in self.diagnostics if one.severity == "error")

    @property
    def severities(self) -> tuple[str, ...]:
        """The severity of each message."""
        return tuple(one.severity for one in self.diagnostics)

    def failed(self, *, strict: bool) -> bool:
        """Return whether the command must exit with 1."""
        return failed(self.severities, strict=strict)


def plan_file(path: Path) -> Outcome:
    """Read, merge, validate and plan one spec file; never raises for what the file says."""
    try:
        loaded = load_spec(path)
    except SpecError as error:
        return Outcome(plan=None, diagnostics=error.diagnostics, acknowledged=0, lines=error.lines)
    plan: Plan | None
    try:
        plan = draft_plan(loaded.spec, load_catalog(), loaded.shapes, loaded.texts)
        findings = plan.findings
    except PlanError as error:
        plan, findings = None, error.findings
    shown = [_diagnostic(one, loaded) for one in findings if one.acknowledged is None]
    return Outcome(
        plan=plan,
        diagnostics=unique(shown),
        acknowledged=len(findings) - len(shown),
        lines=loaded.lines,
    )


def _diagnostic(one: Finding, loaded: LoadedSpec) -> Diagnostic:
    return Diagnostic(
        severity=one.severity,
        message=one.message,
        mark=loaded.mark(one.path),
        check=one.check,
        secret=bool(one.path) and one.path[-1] in SECRET_OPTIONS,
        # A note asks for nothing; the others say what to do.
        hint=None if one.severity == "note" else CHECKS[one.check].fix,
    )
