"""What `warmstack verify` and `warmstack preflight` write: a table for people, a document for scripts."""

from __future__ import annotations

import sys
from collections import Counter

from rich.table import Table
from rich.text import Text

from warmstack.cli.console import console
from warmstack.operate import Outcome, Report, Result
from warmstack.spec import printable

MOST_ROWS = 6
"""More results of one check that passed are one row: an endpoint may have hundreds of adapters."""
_STYLES: dict[Outcome, str] = {
    "pass": "green",
    "fail": "bold red",
    "warning": "yellow",
    "unseen": "magenta",
    "skipped": "dim",
}
_WORDS: dict[Outcome, str] = {
    "pass": "passed",
    "fail": "failed",
    "warning": "warned",
    "unseen": "could not be seen",
    "skipped": "skipped",
}


def show_report(report: Report, *, strict: bool = False) -> None:
    """Write the table of a report and its verdict."""
    facts = [f"{name} {value}" for name, value in report.facts.items() if value and value != report.subject]
    print(printable(f"{report.subject}: {', '.join(facts)}" if facts else report.subject))
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("", no_wrap=True)
    table.add_column("check", no_wrap=True)
    table.add_column("of", overflow="fold", max_width=32)
    table.add_column("what was seen", overflow="fold", ratio=1)
    passed = Counter(one.check.id for one in report.results if one.outcome == "pass")
    folded: set[str] = set()
    for one in report.results:
        subject, seen = one.subject, one.seen
        if one.outcome == "pass" and passed[one.check.id] > MOST_ROWS:
            if one.check.id in folded:
                continue
            folded.add(one.check.id)
            subject, seen = f"{passed[one.check.id]} of them", f"{subject}: {seen}; and so on (--json lists all)"
        table.add_row(
            Text(one.outcome, style=_STYLES[one.outcome]),
            Text(one.check.id),
            Text(printable(subject)),
            Text(printable(seen)),
        )
    console().print(table)
    sys.stdout.flush()
    for one in report.results:
        if one.fix is not None:
            _ways_out(one)
    print(f"{report.subject}: {verdict(report, strict=strict)}")


def verdict(report: Report, *, strict: bool = False) -> str:
    """Return whether it passed, and how many of each outcome there are."""
    counts = [f"{count} {word}" for outcome, word in _WORDS.items() if (count := report.count(outcome))]
    word = "failed" if report.failed() else "failed with --strict" if report.failed(strict=strict) else "passed"
    return f"{word} ({', '.join(counts)})"


def _ways_out(one: Result) -> None:
    # Not in the table, which would break a command into lines that no one can copy.
    print(f"{one.outcome}: {one.check.id} of {printable(one.subject)}")
    if one.outcome in ("fail", "warning"):
        print(f"  why: {one.check.reason}")
    print(f"  way out: {printable(str(one.fix))}")
