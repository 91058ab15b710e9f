"""What has to be acknowledged of a template: that it makes roles and policies, and under which names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

OF_IAM = frozenset({"AWS::IAM::ManagedPolicy", "AWS::IAM::Policy", "AWS::IAM::Role", "AWS::IAM::RolePolicy"})
_NAMED = {"AWS::IAM::ManagedPolicy": "ManagedPolicyName", "AWS::IAM::Role": "RoleName"}


def needed_capability(resources: Iterable[Mapping[str, Any]]) -> str | None:
    """Return the capability that resources need, as they are written; None if they need none."""
    of_iam = [one for one in resources if one.get("Type") in OF_IAM]
    if any(_NAMED.get(str(one["Type"])) in (one.get("Properties") or {}) for one in of_iam):
        return "CAPABILITY_NAMED_IAM"
    return "CAPABILITY_IAM" if of_iam else None
