"""The secrets with hub tokens: that they are there. Their values are never asked for."""

from __future__ import annotations

from collections.abc import Iterator

from warmstack.operate.asking import RefusedError, ask, not_seen
from warmstack.operate.preflights import checks
from warmstack.operate.preflights.account import Account
from warmstack.operate.results import Result
from warmstack.plan import Plan


def check_secrets(plan: Plan, account: Account) -> Iterator[Result]:
    """Yield whether each secret is there, in the Region where the containers look for it."""
    for arn in sorted({one.token_secret for one in plan.models if one.token_secret is not None}):
        yield _look(arn, account)


def _look(arn: str, account: Account) -> Result:
    check, parts = checks.SECRET, arn.split(":")
    if len(parts) > 4 and parts[3] != account.region:
        return check.failed(arn, f"it is in {parts[3]}, and the endpoint will be in {account.region}")
    try:
        found = ask("secretsmanager:DescribeSecret", account.service("secretsmanager").describe_secret, SecretId=arn)
    except RefusedError as refused:
        if refused.kind == "missing":
            return check.failed(arn, "there is no such secret")
        return not_seen(check, arn, refused)
    if found.get("DeletedDate") is not None:
        return check.failed(arn, "it is scheduled for deletion, and cannot be read", fix="restore it, or name another")
    return check.passed(arn, "it is there; the stack allows the execution role to read it. Its value was not asked for")
