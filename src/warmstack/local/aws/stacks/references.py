"""What a value refers to: parameters, resources, and attributes of resources."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from warmstack.assembly.functions import parts_of_sub
from warmstack.assembly.unresolved import Unresolved
from warmstack.local.aws.stacks.live import LiveTemplate


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A parameter or a resource that a value names.

    Args:
        logical_id: Its name.
        attribute: The attribute that is asked for; None for ``Ref``, and where only a deployment knows it.
    """

    logical_id: str
    attribute: str | None = None


def references(template: LiveTemplate, node: Any, where: str) -> Iterator[Reference]:
    """Yield what a value refers to, without pseudo parameters, and without branches that are not taken.

    Args:
        template: The template, for its conditions.
        node: The value as it is written.
        where: Its place.
    """
    if isinstance(node, list):
        for one in node:
            yield from references(template, one, where)
        return
    if not isinstance(node, dict):
        return
    if len(node) == 1:
        ((name, argument),) = node.items()
        match name, argument:
            case "Ref", str():
                if not argument.startswith("AWS::"):
                    yield Reference(logical_id=argument)
                return
            case "Fn::GetAtt", str():
                yield _dotted(argument)
                return
            case "Fn::GetAtt", [str() as logical_id, *rest]:
                attribute = template.resolve(rest[0], where) if len(rest) == 1 else None
                yield Reference(logical_id=logical_id, attribute=attribute if isinstance(attribute, str) else None)
                yield from references(template, rest, where)
                return
            case "Fn::Sub", _:
                yield from _in_sub(template, argument, where)
                return
            case "Fn::If", [condition, *branches] if len(branches) == 2:
                holds = template.condition(condition, where)
                chosen = branches if isinstance(holds, Unresolved) else [branches[0 if holds else 1]]
                yield from references(template, chosen, where)
                return
    for one in node.values():
        yield from references(template, one, where)


def _in_sub(template: LiveTemplate, argument: Any, where: str) -> Iterator[Reference]:
    read = parts_of_sub(argument)
    if read is None:
        return  # what is wrong with it is said where it is answered
    parts, named = read
    for part in parts:
        if isinstance(part, str) or part.is_literal or part.name in named:
            continue
        # One without a name is said to be wrong where it is answered.
        if part.name and not part.name.startswith("AWS::"):
            yield _dotted(part.name)
    yield from references(template, list(named.values()), where)


def _dotted(text: str) -> Reference:
    logical_id, dot, attribute = text.partition(".")
    return Reference(logical_id=logical_id, attribute=attribute if dot else None)
