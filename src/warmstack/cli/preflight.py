"""`warmstack preflight`: what a deploy will need, looked for before it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warmstack.cli.client_target import aws_session
from warmstack.cli.console import print_json
from warmstack.cli.load import plan_file
from warmstack.cli.operate_report import show_report
from warmstack.operate import Account, OperateError, Report, make_client, preflight
from warmstack.operate.results import DOCUMENT_VERSION
from warmstack.plan import Plan
from warmstack.spec import render


@dataclass(frozen=True, slots=True, kw_only=True)
class PreflightOptions:
    """Where to look.

    Args:
        region: The Region, instead of the spec's or the environment's.
        profile: A profile of the AWS configuration.
        endpoint_url: One address for every service, instead of AWS's.
        strict: Whether warnings and what could not be seen count as errors.
    """

    region: str | None
    profile: str | None
    endpoint_url: str | None
    strict: bool


def run_preflight(specs: Sequence[Path], options: PreflightOptions, *, as_json: bool) -> int:
    """Look for what each spec needs, and write what was seen. Returns 1 if something is missing."""
    plans = []
    for path in specs:
        outcome = plan_file(path)
        if outcome.errors or outcome.plan is None:
            # JSON on standard output must stay JSON.
            (sys.stderr if as_json else sys.stdout).write(render(outcome.errors, outcome.lines))
            return 1
        plans.append(outcome.plan)
    session = aws_session(profile_name=options.profile)
    reports: list[Report] = []
    for plan in plans:
        report = preflight(plan, _account(plan, session, options), given_region=options.region)
        reports.append(report)
        if not as_json:
            show_report(report, strict=options.strict)
    if as_json:
        documents = [one.document(strict=options.strict) for one in reports]
        print_json({"version": DOCUMENT_VERSION, "reports": documents})
    return int(any(one.failed(strict=options.strict) for one in reports))


def _account(plan: Plan, session: Any, options: PreflightOptions) -> Account:
    region = options.region or plan.region or session.region_name
    if not region:
        raise OperateError(f"{plan.stack_name}: there is no Region: write target in the spec, or give --region")
    return Account(
        region=region,
        make=lambda name: make_client(session, name, region=region, endpoint_url=options.endpoint_url),
    )
