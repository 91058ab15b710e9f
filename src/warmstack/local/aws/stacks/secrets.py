"""Values of parameters that say ``NoEcho``: whatever is shown has ``****`` in their place."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from warmstack.assembly.parameter_values import listed
from warmstack.local.aws.stacks.records import HIDDEN, Desired

SHORTEST = 4
"""Of fewer characters, a text is hidden only where it is the whole value: as parts they are everywhere."""


def secrets_of(desired: Desired) -> frozenset[str]:
    """Return the texts that stand for hidden parameters in what a template makes of them."""
    found: set[str] = set()
    for one in desired.parameters:
        for text in (one.value, one.resolved or "") if one.is_hidden else ():
            # A parameter may be a list, whose values are referred to one by one.
            found |= {text, *listed(text)}
    return frozenset(found - {""})


def masked(value: Any, secrets: Collection[str]) -> Any:
    """Return a value without secrets, also where they are only a part of a text."""
    if isinstance(value, str):
        if value in secrets:
            return HIDDEN
        # The longest first: one may be a part of another.
        for secret in sorted(secrets, key=len, reverse=True):
            if len(secret) >= SHORTEST:
                value = value.replace(secret, HIDDEN)
        return value
    if isinstance(value, Mapping):
        return {key: masked(one, secrets) for key, one in value.items()}
    return [masked(one, secrets) for one in value] if isinstance(value, list) else value
