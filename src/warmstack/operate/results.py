"""What a check says, and the report that all of them make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Outcome = Literal["pass", "fail", "warning", "unseen", "skipped"]
"""``unseen`` is a check that AWS did not let us make; ``skipped`` one that has nothing to look at here."""
Measured = str | int | float | bool | None
DOCUMENT_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that is looked at.

    Args:
        id: Its name for scripts; it stays the same.
        reason: Why it matters, in one line.
        fix: The usual way out.
    """

    id: str
    reason: str
    fix: str

    def passed(self, subject: str, seen: str, **measured: Measured) -> Result:
        """Return that all is well."""
        return Result(check=self, subject=subject, outcome="pass", seen=seen, measured=measured)

    def failed(self, subject: str, seen: str, *, fix: str | None = None, **measured: Measured) -> Result:
        """Return that it is not."""
        return Result(check=self, subject=subject, outcome="fail", seen=seen, way_out=fix, measured=measured)

    def warned(self, subject: str, seen: str, *, fix: str | None = None, **measured: Measured) -> Result:
        """Return something that deserves a look, and stops with ``--strict`` only."""
        return Result(check=self, subject=subject, outcome="warning", seen=seen, way_out=fix, measured=measured)

    def unseen(self, subject: str, seen: str, *, fix: str) -> Result:
        """Return that it could not be looked at."""
        return Result(check=self, subject=subject, outcome="unseen", seen=seen, way_out=fix)

    def skipped(self, subject: str, seen: str, *, fix: str | None = None) -> Result:
        """Return that there is nothing to look at."""
        return Result(check=self, subject=subject, outcome="skipped", seen=seen, way_out=fix)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one check found about one thing.

    Args:
        check: The check.
        subject: What it looked at, such as a component's name.
        outcome: How it went.
        seen: What was seen.
        way_out: The way out here; None for the check's usual one.
        measured: Numbers for scripts.
    """

    check: Check
    subject: str
    outcome: Outcome
    seen: str
    way_out: str | None = None
    measured: Mapping[str, Measured] = field(default_factory=dict)

    @property
    def fix(self) -> str | None:
        """The way out; None where none is needed."""
        if self.outcome in ("fail", "warning"):
            return self.way_out or self.check.fix
        return self.way_out

    def document(self) -> dict[str, Any]:
        """Return it as JSON for scripts."""
        told = {
            "check": self.check.id,
            "subject": self.subject,
            "outcome": self.outcome,
            "seen": self.seen,
            "why": self.check.reason,
            "fix": self.fix,
        }
        return {**told, "measured": dict(self.measured)} if self.measured else told


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """All results, in the order in which they were looked at.

    Args:
        subject: What was looked at: an endpoint, or a stack that is to be.
        facts: What else identifies it, such as its Region.
        results: The results.
    """

    subject: str
    facts: Mapping[str, str | None]
    results: tuple[Result, ...]

    def failed(self, *, strict: bool = False) -> bool:
        """Return whether something is wrong; with ``strict``, warnings and what could not be seen count too.

        A report in which nothing passed has failed: it has shown nothing.
        """
        stopping = {"fail", "warning", "unseen"} if strict else {"fail"}
        return any(one.outcome in stopping for one in self.results) or not self.count("pass")

    def count(self, outcome: Outcome) -> int:
        """Return how many results have an outcome."""
        return sum(one.outcome == outcome for one in self.results)

    def document(self, *, strict: bool = False) -> dict[str, Any]:
        """Return it as JSON for scripts."""
        return {
            "version": DOCUMENT_VERSION,
            "subject": self.subject,
            **self.facts,
            "outcome": "failed" if self.failed(strict=strict) else "passed",
            "results": [one.document() for one in self.results],
        }
