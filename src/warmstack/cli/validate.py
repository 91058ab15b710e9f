"""`warmstack validate`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from warmstack.cli.load import Outcome, plan_file
from warmstack.cli.verdict import verdict
from warmstack.spec import Format, printable, render


def validate_specs(paths: Sequence[Path], form: Format, *, strict: bool) -> int:
    """Print the messages of every spec, and a line for each in text form. Returns the exit code."""
    failed = False
    outcomes: list[Outcome] = []
    for path in paths:
        outcome = plan_file(path)
        failed = failed or outcome.failed(strict=strict)
        if form == "json":
            outcomes.append(outcome)
            continue
        # One file after the other: what is known of the first is shown whatever becomes of the next.
        sys.stdout.write(render(outcome.diagnostics, outcome.lines, form))
        if form == "text":
            more = [f"{outcome.acknowledged} acknowledged"] if outcome.acknowledged else []
            sys.stdout.write(f"{printable(path.as_posix())}: {verdict(outcome.severities, strict=strict, more=more)}\n")
        sys.stdout.flush()
    if form == "json":
        sys.stdout.write(render([one for outcome in outcomes for one in outcome.diagnostics], {}, form))
    return int(failed)
