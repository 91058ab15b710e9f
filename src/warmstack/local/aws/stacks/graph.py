"""What waits for what: the resources that a resource refers to, or says that it depends on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from warmstack.assembly.unresolved import Unresolved
from warmstack.local.aws.errors import invalid
from warmstack.local.aws.stacks.live import LiveTemplate

_PLACEHOLDER = re.compile(r"\$\{([^!{}][^{}]*)\}")


def dependencies(template: LiveTemplate) -> dict[str, frozenset[str]]:
    """Return for each resource that exists the ones that it waits for, in an order in which they can be made.

    Raises:
        StackError: One refers to what is not there, or several wait for one another.
    """
    there = template.resource_ids()
    found: dict[str, frozenset[str]] = {}
    for logical_id in there:
        needed = set(_references(template, template.properties(logical_id), logical_id))
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


def _references(template: LiveTemplate, node: Any, where: str) -> Iterator[str]:
    if isinstance(node, list):
        for one in node:
            yield from _references(template, one, where)
        return
    if not isinstance(node, dict):
        return
    if len(node) == 1:
        ((name, argument),) = node.items()
        match name, argument:
            case "Ref", str():
                if not argument.startswith("AWS::"):
                    yield argument
                return
            case "Fn::GetAtt", str():
                yield argument.split(".", 1)[0]
                return
            case "Fn::GetAtt", [str() as logical_id, *_]:
                yield logical_id
                return
            case "Fn::Sub", _:
                yield from _in_sub(template, argument, where)
                return
            case "Fn::If", [condition, *branches] if len(branches) == 2:
                holds = template.condition(condition, where)
                chosen = branches if isinstance(holds, Unresolved) else [branches[0 if holds else 1]]
                yield from _references(template, chosen, where)
                return
    for one in node.values():
        yield from _references(template, one, where)


def _in_sub(template: LiveTemplate, argument: Any, where: str) -> Iterator[str]:
    text, named = argument if isinstance(argument, list) and len(argument) == 2 else (argument, {})
    if isinstance(text, str):
        for match in _PLACEHOLDER.finditer(text):
            name = match[1].strip().split(".", 1)[0]
            if not name.startswith("AWS::") and not (isinstance(named, dict) and match[1].strip() in named):
                yield name
    yield from _references(template, list(named.values()) if isinstance(named, dict) else [], where)


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
