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
"""More results of one check that passed, or failed alike, are one row: an endpoint may have hundreds of adapters."""
MOST_NAMES = 3
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
    alike = Counter(map(_likeness, report.results))
    folded: set[tuple[str, ...]] = set()
    for one in report.results:
        subject, seen, likeness = one.subject, one.seen, _likeness(one)
        if alike[likeness] > MOST_ROWS:
            if likeness in folded:
                continue
            folded.add(likeness)
            subject, seen = f"{alike[likeness]} of them", f"{subject}: {seen}; and so on (--json lists all)"
        table.add_row(
            Text(one.outcome, style=_STYLES[one.outcome]),
            Text(one.check.id),
            Text(printable(subject)),
            Text(printable(seen)),
        )
    console().print(table)
    sys.stdout.flush()
    ways_out: dict[tuple[str, ...], list[Result]] = {}
    for one in report.results:
        if one.fix is not None:
            ways_out.setdefault((one.outcome, one.check.id, one.fix), []).append(one)
    for several in ways_out.values():
        _way_out(several)
    print(f"{report.subject}: {verdict(report, strict=strict)}")


def verdict(report: Report, *, strict: bool = False) -> str:
    """Return whether it passed, and how many of each outcome there are."""
    counts = [f"{count} {word}" for outcome, word in _WORDS.items() if (count := report.count(outcome))]
    word = "failed" if report.failed() else "failed with --strict" if report.failed(strict=strict) else "passed"
    return f"{word} ({', '.join(counts)})"


def _likeness(one: Result) -> tuple[str, ...]:
    """Return what results of one row have in common; of those that passed, the check is enough."""
    return (
        (one.check.id, one.outcome) if one.outcome == "pass" else (one.check.id, one.outcome, one.seen, one.fix or "")
    )


def _way_out(several: list[Result]) -> None:
    """Write the way out that several results of one check have in common."""
    # Not in the table, which would break a command into lines that no one can copy.
    one, names = several[0], ", ".join(each.subject for each in several[:MOST_NAMES])
    if len(several) > MOST_NAMES:
        names = f"{len(several)} of them: {names} and {len(several) - MOST_NAMES} more"
    print(f"{one.outcome}: {one.check.id} of {printable(names)}")
    if one.outcome in ("fail", "warning"):
        print(f"  why: {one.check.reason}")
    print(f"  way out: {printable(str(one.fix))}")
