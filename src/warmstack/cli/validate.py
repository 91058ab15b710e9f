"""`warmstack validate`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from warmstack.cli.load import Outcome, plan_file
from warmstack.spec import Format, render


def validate_specs(paths: Sequence[Path], form: Format, *, strict: bool) -> int:
    """Print the messages of every spec, and a line for each in text form. Returns the exit code."""
    outcomes = [(path, plan_file(path)) for path in paths]
    lines = {name: text for _, outcome in outcomes for name, text in outcome.lines.items()}
    if form == "json":
        sys.stdout.write(render([one for _, outcome in outcomes for one in outcome.diagnostics], lines, form))
    else:
        for path, outcome in outcomes:
            sys.stdout.write(render(outcome.diagnostics, lines, form))
            if form == "text":
                sys.stdout.write(f"{path.as_posix()}: {_verdict(outcome)}\n")
    return int(any(outcome.failed(strict=strict) for _, outcome in outcomes))


def _verdict(outcome: Outcome) -> str:
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
    return f"{word} ({', '.join(counts)})" if counts else word
