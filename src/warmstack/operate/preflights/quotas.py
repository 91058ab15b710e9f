"""The account's quotas against what the plan needs of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from warmstack.operate.asking import RefusedError, ask_pages, not_seen, reading
from warmstack.operate.preflights import checks
from warmstack.operate.preflights.account import Account
from warmstack.operate.results import Result
from warmstack.plan import Plan, QuotaNeed

SERVICE = "sagemaker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """A quota of the account.

    Args:
        code: Its code.
        value: What it allows.
        default: Whether it is AWS's default, because none of the account's own could be read.
    """

    code: str
    value: float
    default: bool


def check_quotas(plan: Plan, account: Account) -> Iterator[Result]:
    """Yield whether each quota allows what the plan needs."""
    if account.local is not None:
        for need in plan.quotas:
            yield checks.QUOTA.skipped(need.name, "a local AWS has no quotas; ask AWS for the account's")
        return
    client = account.service("service-quotas")
    quotas: dict[str, Quota] = {}
    refused: RefusedError | None = None
    # The account's own come last: they stand before AWS's defaults, and without them a default says nothing.
    own: RefusedError | None = None
    for operation, permission, default in (
        ("list_aws_default_service_quotas", "servicequotas:ListAWSDefaultServiceQuotas", True),
        ("list_service_quotas", "servicequotas:ListServiceQuotas", False),
    ):
        try:
            for page in ask_pages(permission, client, operation, ServiceCode=SERVICE):
                with reading(permission):
                    quotas |= {one["QuotaName"]: _quota(one, default=default) for one in page["Quotas"]}
        except RefusedError as error:
            refused = error
            own = None if default else error
    for need in plan.quotas:
        quota = quotas.get(need.name)
        if quota is not None and quota.default and own is not None:
            unseen = not_seen(checks.QUOTA, need.name, own)
            guess = f"AWS's default is {quota.value:g}, this endpoint needs {need.during_update} during an update"
            yield replace(unseen, seen=f"{unseen.seen}; {guess}")
        elif quota is not None:
            yield _compare(need, quota)
        elif refused is not None:
            yield not_seen(checks.QUOTA, need.name, refused)
        else:
            yield checks.QUOTA.unseen(
                need.name,
                f"Service Quotas has no quota of this name in {account.region}",
                fix=f"look whether the Region offers it, for {need.during_update} instances",
            )


def _quota(one: Mapping[str, Any], *, default: bool) -> Quota:
    return Quota(code=one.get("QuotaCode", ""), value=float(one.get("Value") or 0), default=default)


def _compare(need: QuotaNeed, quota: Quota) -> Result:
    phases = (("steady", need.steady), ("scaled out", need.scaled_out), ("during an update", need.during_update))
    short = [(phase, count) for phase, count in phases if count > quota.value]
    allowed = f"it allows {quota.value:g}" + (", by AWS's default" if quota.default else "")
    needs = ", ".join(f"{count} {phase}" for phase, count in phases)
    measured = {"allowed": quota.value, "steady": need.steady, "scaled_out": need.scaled_out}
    measured |= {"during_update": need.during_update}
    if not short:
        return checks.QUOTA.passed(need.name, f"{allowed}; this endpoint needs {needs}", **measured)
    most = max(count for _, count in short)
    lacks = "; ".join(f"{count - quota.value:g} short {phase}" for phase, count in short)
    way_out = (
        f"aws service-quotas request-service-quota-increase --service-code {SERVICE} --quota-code {quota.code} "
        f"--desired-value {most}"
    )
    # A deploy that starts is not stopped by what scaling or a later update will need.
    tell = checks.QUOTA.failed if need.steady > quota.value else checks.QUOTA.warned
    return tell(need.name, f"{allowed}; this endpoint needs {needs}: {lacks}", fix=way_out, **measured)
