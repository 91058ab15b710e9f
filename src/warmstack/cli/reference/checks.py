"""The page of the checks."""

from __future__ import annotations

from itertools import groupby

from warmstack.cli.reference.markdown import code, page, table
from warmstack.plan import CHECKS, Check

# The tens of a check's number, as the catalogue groups them, and the checks whose number is no longer free there.
_GROUPS = {
    0: "The spec as a whole",
    20: "What fits",
    40: "Cache tiers",
    50: "Routing",
    60: "Sessions",
    70: "Updates",
    80: "Engine settings",
    90: "Adapters",
    100: "Secrets and isolation",
}
_ELSEWHERE = {"WS017": 20, "WS018": 20, "WS049": 20, "WS094": 80}

_INTRODUCTION = """\
Every plan runs these checks. `warmstack validate` and `warmstack plan` print what they find with the place in the
spec and, for errors and warnings, the way out; `warmstack explain WS020` prints one entry of this page.

An **error** means that the deployment would fail or answer wrongly: nothing is synthesized. A **warning** lets the
synthesis go on and becomes a warning of the CDK app; with `--strict` it fails the command. A **note** tells what is
worth knowing. The severity here is the usual one; a single finding may be worse or milder, and says so. Warnings and
notes can be accepted with a reason (`acknowledge: {WS025: "measured, accepted"}`), errors cannot. Ids keep their
meaning for ever and are never used again.

Sources: "API" is the SageMaker API reference as the botocore 1.44.8 service model carries it; "DG" is the SageMaker
developer guide; the rest names the source code of the containers."""


def checks_page() -> str:
    """Return the page with every check: an overview, then one section for each group and check."""
    overview = table(
        ("id", "finds", "reason"),
        ((f"[{one.id}](#{one.id.lower()})", one.severity, one.reason) for one in CHECKS.values()),
    )
    sections = [overview]
    for group, checks in groupby(sorted(CHECKS.values(), key=_group), key=_group):
        sections.append(f"## {_GROUPS[group]}")
        sections.extend(_check(one) for one in checks)
    return page("Checks", _INTRODUCTION, *sections)


def _group(check: Check) -> int:
    number = _ELSEWHERE.get(check.id, int(check.id.removeprefix("WS")))
    return max(start for start in _GROUPS if start <= number)


def _check(check: Check) -> str:
    lines = [f"### {check.id}", "", f"**{check.severity}** · {check.reason}", ""]
    lines += [f"- Way out: {check.fix}", f"- Source: {check.source}"]
    # An acknowledgement of "this acknowledgement silences nothing" would silence nothing either.
    if check.severity != "error" and check.id != "WS011":
        accepted = f'acknowledge: {{{check.id}: "why it is fine here"}}'
        lines.append(f"- Accept it: {code(accepted)}")
    return "\n".join(lines)
