"""What is different of a resource, and what that means for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warmstack.assembly.unresolved import as_text
from warmstack.local.aws.resources.handler import Handler
from warmstack.local.aws.stacks.live import first_unknown
from warmstack.local.aws.stacks.records import Resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What is different of a resource.

    Args:
        changed: The names of the properties whose values differ.
        replacing: Those of them whose change needs another resource in its place.
        unsure: Those that may differ, because they hold what is known only later.
    """

    changed: tuple[str, ...] = ()
    replacing: frozenset[str] = frozenset()
    unsure: frozenset[str] = frozenset()

    @property
    def is_replacement(self) -> bool:
        """Whether another resource takes its place."""
        return bool(self.replacing)

    def __bool__(self) -> bool:
        return bool(self.changed)


def difference(before: Resource, properties: Mapping[str, Any], handler: Handler) -> Difference:
    """Return what is different between a resource and what it is to be.

    Args:
        before: The resource; another type in its place is refused before this.
        properties: Its properties in the new template, answered as far as they can be.
        handler: What makes resources of that type.
    """
    names = [*before.properties, *(one for one in properties if one not in before.properties)]
    changed = tuple(one for one in names if not _same(before.properties.get(one), properties.get(one)))
    replaces = handler.replaces
    return Difference(
        changed=changed,
        replacing=frozenset(changed) & replaces,
        unsure=frozenset(one for one in changed if first_unknown(properties.get(one))),
    )


def _same(before: Any, now: Any) -> bool:
    """Return whether two values are equal to CloudFormation, which takes "1" for 1 and "true" for true."""
    if isinstance(before, dict) and isinstance(now, dict):
        return before.keys() == now.keys() and all(_same(one, now[key]) for key, one in before.items())
    if isinstance(before, list) and isinstance(now, list):
        return len(before) == len(now) and all(map(_same, before, now))
    texts = as_text(before), as_text(now)
    return bool(before == now) if None in texts else texts[0] == texts[1]
