"""`warmstack validate`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from warmstack.cli.load import Outcome, plan_file
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
            sys.stdout.write(f"{printable(path.as_posix())}: {_verdict(outcome, strict=strict)}\n")
        sys.stdout.flush()
    if form == "json":
        sys.stdout.write(render([one for outcome in outcomes for one in outcome.diagnostics], {}, form))
    return int(failed)


def _verdict(outcome: Outcome, *, strict: bool) -> str:
    counts = [
        f"{count} {word if count == 1 else word + 's'}"
        for word, count in (
            ("error", outcome.count("error")),
            ("warning", outcome.count("warning")),
            ("note", outcome.count("note")),
        )
        if count
    ]
    if outcome.acknowledged:
        counts.append(f"{outcome.acknowledged} acknowledged")
    word = "invalid" if outcome.count("error") else "valid"
    if word == "valid" and outcome.failed(strict=strict):
        word = "invalid with --strict"
    return f"{word} ({', '.join(counts)})" if counts else word
