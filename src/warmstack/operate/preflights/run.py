"""The whole of `warmstack preflight` for one plan."""

from __future__ import annotations

from collections.abc import Iterator

from warmstack.operate.preflights.account import Account, check_identity
from warmstack.operate.preflights.adapters import check_adapters
from warmstack.operate.preflights.images import check_images
from warmstack.operate.preflights.quotas import check_quotas
from warmstack.operate.preflights.secrets import check_secrets
from warmstack.operate.preflights.storage import check_buckets
from warmstack.operate.preflights.weights import check_weights
from warmstack.operate.results import Report, Result
from warmstack.plan import Plan


def preflight(plan: Plan, account: Account, *, given_region: str | None = None) -> Report:
    """Look for what a deploy of a plan will need. It reads, and changes nothing.

    Args:
        plan: The plan.
        account: The account and Region that are asked.
        given_region: The Region that the caller asked for, or None.
    """
    played = account.local.account if account.local is not None else None
    facts = {"endpoint": plan.endpoint.name, "region": account.region, "account": plan.account or played}
    return Report(subject=plan.stack_name, facts=facts, results=tuple(_results(plan, account, given_region)))


def _results(plan: Plan, account: Account, given_region: str | None) -> Iterator[Result]:
    yield from check_identity(plan, account, given_region)
    yield from check_quotas(plan, account)
    yield from check_images(plan, account)
    yield from check_buckets(plan, account)
    yield from check_weights(plan, account)
    yield from check_adapters(plan, account)
    yield from check_secrets(plan, account)
