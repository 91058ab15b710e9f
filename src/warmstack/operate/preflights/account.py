"""The account that is asked, and whether it is the one that the spec means."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from warmstack.operate.asking import RefusedError, ask, not_seen, reading
from warmstack.operate.preflights import checks
from warmstack.operate.results import Result
from warmstack.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalAws:
    """A local AWS that is asked instead of AWS: `warmstack local aws up`.

    Args:
        account: The account that it plays.
        region: The Region that its SageMaker is in.
    """

    account: str
    region: str


@dataclass(slots=True, kw_only=True)
class Account:
    """The services of one account and Region; each client is made once.

    Args:
        region: The Region that is asked.
        make: Makes boto3's client of a service.
        local: The local AWS that answers; None for AWS, and for what is not known to be another.
    """

    region: str
    make: Callable[[str], Any]
    local: LocalAws | None = None
    _made: dict[str, Any] = field(default_factory=dict)

    def service(self, name: str) -> Any:
        """Return the client of a service."""
        if name not in self._made:
            self._made[name] = self.make(name)
        return self._made[name]


def check_identity(plan: Plan, account: Account, given_region: str | None) -> Iterator[Result]:
    """Yield whether the credentials are those of the spec's target.

    Args:
        plan: The plan.
        account: The account.
        given_region: The Region that the caller asked for, or None.
    """
    check = checks.IDENTITY
    target = f"{plan.account} {plan.region}" if plan.region else "the account and Region of the credentials"
    if given_region is not None and plan.region is not None and given_region != plan.region:
        yield check.failed(
            target, f"--region is {given_region}, and the spec deploys to {plan.region}", fix="leave --region out"
        )
    action = "sts:GetCallerIdentity"
    try:
        caller = ask(action, account.service("sts").get_caller_identity)
        with reading(action):
            arn, number = str(caller["Arn"]), str(caller["Account"])
    except RefusedError as refused:
        yield not_seen(check, target, refused)
        return
    if account.local is not None:
        yield _of_local(plan, account, account.local, target)
        return
    seen = f"{arn} in {account.region}"
    if plan.account is not None and number != plan.account:
        yield check.failed(target, f"the credentials are of account {number} ({arn})")
    elif plan.region is None:
        yield check.passed(target, f"{seen}; the spec names no target, so a deploy goes wherever the credentials point")
    else:
        yield check.passed(target, seen)


def _of_local(plan: Plan, account: Account, local: LocalAws, target: str) -> Result:
    seen, wanted = f"a local AWS: account {local.account}, SageMaker in {local.region}", []
    if plan.account is not None and plan.account != local.account:
        wanted.append(f"--account {plan.account}")
    if account.region != local.region:
        wanted.append(f"--region {account.region}")
    if wanted:
        way_out = f"start it as the target: warmstack local aws up {' '.join(wanted)}"
        return checks.IDENTITY.failed(target, f"{seen}; the deploy goes to {_goal(plan, account)}", fix=way_out)
    return checks.IDENTITY.passed(target, seen)


def _goal(plan: Plan, account: Account) -> str:
    return account.region if plan.account is None else f"{plan.account} in {account.region}"
