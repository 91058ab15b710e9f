"""The secrets with hub tokens: that they are there. Their values are never asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from warmstack.operate.asking import RefusedError, ask, not_seen, reading
from warmstack.operate.preflights import checks
from warmstack.operate.preflights.account import Account
from warmstack.operate.results import Result
from warmstack.plan import Plan

_ENDING = re.compile(r"-[A-Za-z0-9]{6}$")


def check_secrets(plan: Plan, account: Account) -> Iterator[Result]:
    """Yield whether each secret is there, in the Region where the containers look for it."""
    for arn in sorted({one.token_secret for one in plan.models if one.token_secret is not None}):
        yield _look(arn, account)


def _look(arn: str, account: Account) -> Result:
    check, parts = checks.SECRET, arn.split(":")
    if len(parts) > 4 and parts[3] != account.region:
        return check.failed(arn, f"it is in {parts[3]}, and the endpoint will be in {account.region}")
    if account.local is not None and parts[4] != account.local.account:
        return check.skipped(arn, f"a local AWS has no secrets of {parts[4]}; local copies read none")
    try:
        found = _describe(arn, account)
        with reading("secretsmanager:DescribeSecret"):
            _ = found["ARN"]
    except RefusedError as refused:
        if refused.kind != "missing":
            return not_seen(check, arn, refused)
        if account.local is None:
            return check.failed(arn, "there is no such secret")
        name = _name(arn)
        way_out = f"with the variables of `warmstack local aws env`: aws secretsmanager create-secret --name {name}"
        return check.failed(arn, f"the local AWS has no secret {name}", fix=way_out)
    if found.get("DeletedDate") is not None:
        return check.failed(arn, "it is scheduled for deletion, and cannot be read", fix="restore it, or name another")
    return check.passed(arn, "it is there; the stack allows the execution role to read it. Its value was not asked for")


def _describe(arn: str, account: Account) -> Any:
    describe, action = account.service("secretsmanager").describe_secret, "secretsmanager:DescribeSecret"
    try:
        return ask(action, describe, SecretId=arn)
    except RefusedError as refused:
        if refused.kind != "missing" or account.local is None:
            raise
        # An ARN's end is chosen where the secret is made: in a local AWS it is another than in the account.
        return ask(action, describe, SecretId=_name(arn))


def _name(arn: str) -> str:
    return _ENDING.sub("", arn.rsplit(":", 1)[-1])
