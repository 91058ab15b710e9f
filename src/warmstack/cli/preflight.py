"""`warmstack preflight`: what a deploy will need, looked for before it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warmstack.cli.client_output import error_document
from warmstack.cli.client_target import LOCAL_REGION, aws_session, local_session, refuse_besides_local
from warmstack.cli.console import print_json
from warmstack.cli.load import plan_file
from warmstack.cli.local_services import LocalServices, services_at
from warmstack.cli.operate_report import show_report
from warmstack.client.connections import is_loopback
from warmstack.operate import Account, LocalAws, OperateError, Report, make_client, preflight
from warmstack.operate.results import DOCUMENT_VERSION
from warmstack.plan import Plan
from warmstack.spec import render

_WHAT = "buckets, secrets and registries"


@dataclass(frozen=True, slots=True, kw_only=True)
class PreflightOptions:
    """Where to look.

    Args:
        region: The Region, instead of the spec's or the environment's.
        profile: A profile of the AWS configuration.
        endpoint_url: One address for every service, instead of AWS's.
        port: That of a local AWS; None for AWS, or what the address says.
        strict: Whether warnings and what could not be seen count as errors.
    """

    region: str | None
    profile: str | None
    endpoint_url: str | None
    port: int | None
    strict: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """Who answers.

    Args:
        session: boto3's session.
        url: The address of every service; None for AWS's, or that of the environment.
        local: The local AWS that it is, or None.
    """

    session: Any
    url: str | None
    local: LocalAws | None


def run_preflight(specs: Sequence[Path], options: PreflightOptions, *, as_json: bool) -> int:
    """Look for what each spec needs, and write what was seen. Returns 1 if something is missing."""
    plans = []
    for path in specs:
        outcome = plan_file(path)
        if outcome.errors or outcome.plan is None:
            told = render(outcome.errors, outcome.lines)
            # JSON on standard output must stay JSON.
            (sys.stderr if as_json else sys.stdout).write(told)
            if as_json:
                print_json(error_document(OperateError(told.strip())))
            return 1
        plans.append(outcome.plan)
    asked = _asked(options)
    reports: list[Report] = []
    for plan in plans:
        report = preflight(plan, _account(plan, asked, options), given_region=options.region)
        reports.append(report)
        if not as_json:
            show_report(report, strict=options.strict)
    if as_json:
        documents = [one.document(strict=options.strict) for one in reports]
        print_json({"version": DOCUMENT_VERSION, "reports": documents})
    return int(any(one.failed(strict=options.strict) for one in reports))


def _asked(options: PreflightOptions) -> _Asked:
    if options.port is not None:
        refuse_besides_local(options.endpoint_url, options.profile)
        # Guard: by an address instead of this name, clients put a bucket's name in front of it.
        url = f"http://localhost:{options.port}"
        found = services_at(url)
        if found.kind != "aws":
            raise OperateError(f"{found.lacks(_WHAT)}; start `warmstack local aws up`, or leave --local out to ask AWS")
        return _Asked(session=local_session(found.region), url=url, local=_local(found))
    session = aws_session(profile_name=options.profile)
    # As botocore resolves it: the option, the environment, the profile, or AWS's own.
    region = options.region or session.region_name or LOCAL_REGION
    url = str(make_client(session, "sts", region=region, endpoint_url=options.endpoint_url).meta.endpoint_url)
    if not is_loopback(url):
        return _Asked(session=session, url=options.endpoint_url, local=None)
    found = services_at(url)
    if found.kind == "endpoint":
        raise OperateError(f"AWS is asked at {url}, and {found.lacks(_WHAT)}; start `warmstack local aws up`")
    if found.kind == "nothing":
        # Another stand-in for AWS, or a tunnel to it: what it says is taken as AWS's.
        return _Asked(session=session, url=options.endpoint_url, local=None)
    if options.endpoint_url is not None and options.profile is None:
        session = local_session(session.region_name or found.region)
    return _Asked(session=session, url=options.endpoint_url, local=_local(found))


def _local(found: LocalServices) -> LocalAws:
    return LocalAws(account=found.account, region=found.region)


def _account(plan: Plan, asked: _Asked, options: PreflightOptions) -> Account:
    region = options.region or plan.region or asked.session.region_name
    if not region:
        raise OperateError(f"{plan.stack_name}: there is no Region: write target in the spec, or give --region")
    return Account(
        region=region,
        make=lambda name: make_client(asked.session, name, region=region, endpoint_url=asked.url),
        local=asked.local,
    )
