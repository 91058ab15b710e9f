"""`warmstack explain`."""

from __future__ import annotations

import dataclasses
import re
import sys

from rich.table import Table

from warmstack.cli.console import console, print_json
from warmstack.plan import CHECKS


def explain_check(check: str | None, *, as_json: bool) -> int:
    """Print one check, or the list. Returns the exit code: 1 for an id that is no check."""
    if check is None:
        if as_json:
            print_json([dataclasses.asdict(one) for one in CHECKS.values()])
            return 0
        table = Table("id", "finds", "reason", box=None, pad_edge=False, header_style="bold")
        for one in CHECKS.values():
            table.add_row(one.id, one.severity, one.reason)
        console().print(table)
        return 0
    found = CHECKS.get(check.upper())
    if found is None:
        print(f"warmstack: {check!r} is no check;{_meant(check)} `warmstack explain` lists them", file=sys.stderr)
        return 1
    if as_json:
        print_json(dataclasses.asdict(found))
        return 0
    print(f"{found.id} ({found.severity}): {found.reason}")
    print(f"Way out: {found.fix}")
    print(f"Source:  {found.source}")
    # An acknowledgement of "this acknowledgement silences nothing" would silence nothing either.
    if found.severity != "error" and found.id != "WS011":
        print(f'Accept:  acknowledge: {{{found.id}: "why it is fine here"}}')
    return 0


def _meant(written: str) -> str:
    """Return the check that has the number in what was written, as a question, or nothing."""
    number = re.fullmatch(r"(?:ws)?[-_ ]?0*([0-9]{1,3})", written, re.IGNORECASE | re.ASCII)
    check = f"WS{int(number[1]):03}" if number else ""
    return f" did you mean {check}?" if check in CHECKS else ""
