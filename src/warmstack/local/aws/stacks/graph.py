"""What waits for what: the resources that a resource refers to, or says that it depends on."""

from __future__ import annotations

from collections.abc import Mapping

from warmstack.local.aws.errors import invalid
from warmstack.local.aws.stacks.live import LiveTemplate
from warmstack.local.aws.stacks.references import references


def dependencies(template: LiveTemplate) -> dict[str, frozenset[str]]:
    """Return for each resource that exists the ones that it waits for, in an order in which they can be made.

    Raises:
        StackError: One refers to what is not there, or several wait for one another.
    """
    there = template.resource_ids()
    found: dict[str, frozenset[str]] = {}
    for logical_id in there:
        needed = {one.logical_id for one in references(template, template.properties(logical_id), logical_id)}
        needed -= set(template.parameters)
        missing = sorted(needed - set(there))
        if missing:
            raise invalid(
                f"Template format error: Unresolved resource dependencies [{', '.join(missing)}] in the Resources "
                "block of the template"
            )
        # A condition that does not hold takes its resource away, and then nothing waits for it.
        found[logical_id] = frozenset(needed | (_written(template, logical_id) & set(there)))
    return _sorted(found)


def _written(template: LiveTemplate, logical_id: str) -> set[str]:
    given = template.resource(logical_id).get("DependsOn", [])
    named = {given} if isinstance(given, str) else {str(one) for one in given}
    known = {name for name, _ in template.types()}
    if missing := sorted(named - known):
        raise invalid(
            f"Template format error: Unresolved resource dependencies [{', '.join(missing)}] in the Resources block "
            "of the template"
        )
    return named


def _sorted(waits: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """Return the same in an order in which each comes after what it waits for."""
    done: dict[str, frozenset[str]] = {}
    left = dict(waits)
    while left:
        ready = [name for name, needed in left.items() if needed <= done.keys()]
        if not ready:
            raise invalid(f"Circular dependency between resources: [{', '.join(sorted(_circle(left)))}]")
        for name in ready:
            done[name] = left.pop(name)
    return done


def _circle(left: Mapping[str, frozenset[str]]) -> set[str]:
    """Return the resources that wait for one another, without those that only wait for them."""
    path: list[str] = [next(iter(left))]
    while True:
        following = next(one for one in sorted(left[path[-1]]) if one in left)
        if following in path:
            return set(path[path.index(following) :])
        path.append(following)
