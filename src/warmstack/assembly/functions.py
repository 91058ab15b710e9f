"""CloudFormation's intrinsic functions.

Source: the template reference's "Intrinsic functions" (read 2026-11-30). What is wrong with a call is recorded once,
and the value goes on as one that is not known.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from warmstack.assembly.unresolved import Problems, Unresolved, as_text

UNKNOWABLE = frozenset({"Fn::Cidr", "Fn::GetAZs", "Fn::Transform", "Fn::GetStackOutput"})
_PLACEHOLDER = re.compile(r"\$\{(!?)([^{}]*)\}")


class Answers(Protocol):
    """What functions ask of the template that they are in."""

    problems: Problems

    def resolve(self, node: Any, where: str) -> Any:
        """Return a value with every function in it answered."""
        ...

    def ref(self, name: Any, where: str) -> Any:
        """Return what ``Ref`` answers."""
        ...

    def attribute(self, logical_id: str, attribute: Any, where: str) -> Any:
        """Return what ``Fn::GetAtt`` answers."""
        ...

    def condition(self, node: Any, where: str) -> bool | Unresolved:
        """Return whether a condition holds."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Placeholder:
    """What stands in a text of ``Fn::Sub`` between ``${`` and ``}``.

    Args:
        name: The name.
        is_literal: Whether it is written with ``!``, and stays as it is.
    """

    name: str
    is_literal: bool = False


def parts_of_sub(argument: Any) -> tuple[list[str | Placeholder], Mapping[str, Any]] | None:
    """Return the parts of what ``Fn::Sub`` fills in, and what its own mapping names; None where it is none."""
    named: Any = {}
    if isinstance(argument, list) and len(argument) == 2:
        argument, named = argument
    if not isinstance(argument, str) or not isinstance(named, dict):
        return None
    parts: list[str | Placeholder] = []
    end = 0
    for match in _PLACEHOLDER.finditer(argument):
        parts += [argument[end : match.start()], Placeholder(name=match[2].strip(), is_literal=bool(match[1]))]
        end = match.end()
    return [*parts, argument[end:]], named


def sub(template: Answers, argument: Any, where: str) -> Any:
    """``Fn::Sub``, in both of its forms; ``${!Name}`` is the text ``${Name}``."""
    read = parts_of_sub(argument)
    if read is None:
        return template.problems.add(where, "Fn::Sub takes a text, or a text and a mapping")
    parts: list[Any] = []
    for part in read[0]:
        if isinstance(part, str):
            parts.append(part)
        elif part.is_literal:
            parts.append(f"${{{part.name}}}")
        elif part.name in read[1]:
            parts.append(template.resolve(read[1][part.name], f"{where}.{part.name}"))
        elif "." in part.name:
            logical_id, attribute = part.name.split(".", 1)
            parts.append(template.attribute(logical_id, attribute, where))
        else:
            parts.append(template.ref(part.name, where))
    whole = _joined("", parts)
    if whole is None:
        return template.problems.add(where, "Fn::Sub fills in texts; one of its values is none")
    # A dynamic reference that Fn::Sub puts together is still one.
    return template.resolve(whole, where) if isinstance(whole, str) else whole


def find_in_map(template: Answers, argument: Any, where: str, mappings: Mapping[str, Any]) -> Any:
    """``Fn::FindInMap``, with or without a default."""
    if not (isinstance(argument, list) and len(argument) in (3, 4)):
        return template.problems.add(where, "Fn::FindInMap takes a mapping's name and two keys")
    keys = [template.resolve(one, where) for one in argument[:3]]
    for key in keys:
        if isinstance(key, Unresolved):
            return key
    found: Any = mappings
    place = "Mappings"
    for key in map(as_text, keys):
        if not isinstance(found, dict) or key not in found:
            if len(argument) == 4 and isinstance(argument[3], dict) and "DefaultValue" in argument[3]:
                return template.resolve(argument[3]["DefaultValue"], where)
            return template.problems.add(where, f"{place} has no key {key!r}")
        found = found[key]
        place += f".{key}"
    return found


def condition(template: Answers, node: Any, where: str) -> bool | Unresolved:
    """Return whether a written condition holds."""
    if isinstance(node, dict) and len(node) == 1:
        ((name, argument),) = node.items()
        if name == "Condition" and isinstance(argument, str):
            return template.condition(argument, where)
        if name == "Fn::Equals" and isinstance(argument, list) and len(argument) == 2:
            return _equals(template, argument, where)
        if name in ("Fn::And", "Fn::Or") and isinstance(argument, list) and argument:
            return _all_or_any(template, name, argument, where)
        if name == "Fn::Not" and isinstance(argument, list) and len(argument) == 1:
            found = template.condition(argument[0], where) if isinstance(argument[0], dict) else None
            if found is not None:
                return found if isinstance(found, Unresolved) else not found
    return template.problems.add(where, "is no condition; one is Fn::Equals, Fn::And, Fn::Or, Fn::Not or Condition")


def _equals(template: Answers, argument: list[Any], where: str) -> bool | Unresolved:
    values = [template.resolve(one, where) for one in argument]
    for one in values:
        if isinstance(one, Unresolved):
            return one
    # CloudFormation compares texts: the number 1 and the text "1" are equal.
    texts = [as_text(one) for one in values]
    return bool(values[0] == values[1]) if None in texts else texts[0] == texts[1]


def _all_or_any(template: Answers, name: str, argument: list[Any], where: str) -> bool | Unresolved:
    found = [template.condition(one, where) if isinstance(one, dict) else condition(template, [], where)
             for one in argument]  # fmt: skip
    decisive = name == "Fn::Or"
    if decisive in found:
        return decisive
    for one in found:
        if isinstance(one, Unresolved):
            return one
    return not decisive


def _join(template: Answers, argument: Any, where: str) -> Any:
    if isinstance(argument, list) and len(argument) == 2:
        between, parts = argument
        if isinstance(parts, Unresolved):
            return parts
        if isinstance(between, str) and isinstance(parts, list):
            joined = _joined(between, parts)
            if joined is not None:
                return joined
    return template.problems.add(where, "Fn::Join takes a text and a list of texts")


def _joined(between: str, parts: list[Any]) -> str | Unresolved | None:
    """Return the whole, which is as unknown as any of its parts; None where a part is no text."""
    texts = [one.text if isinstance(one, Unresolved) else as_text(one) for one in parts]
    whole = between.join(one for one in texts if one is not None)
    if None in texts:
        return None
    unknown = [one for one in parts if isinstance(one, Unresolved)]
    if not unknown:
        return whole
    why = "; ".join(dict.fromkeys(one.why for one in unknown))
    return Unresolved(text=whole, why=why, is_reported=any(one.is_reported for one in unknown))


def _select(template: Answers, argument: Any, where: str) -> Any:
    if isinstance(argument, list) and len(argument) == 2:
        index, values = argument
        for one in argument:
            if isinstance(one, Unresolved):
                return one
        text = as_text(index)
        if text is not None and re.fullmatch(r"[0-9]{1,6}", text) and isinstance(values, list):
            if int(text) < len(values):
                return values[int(text)]
            return template.problems.add(where, f"Fn::Select asks for value {text} of {len(values)}, counted from 0")
    return template.problems.add(where, "Fn::Select takes an index and a list")


def _split(template: Answers, argument: Any, where: str) -> Any:
    if isinstance(argument, list) and len(argument) == 2:
        at, text = argument
        if isinstance(text, Unresolved):
            return text
        if isinstance(at, str) and at and isinstance(text, str):
            return text.split(at)
    return template.problems.add(where, "Fn::Split takes a text to split at and a text")


def _base64(template: Answers, argument: Any, where: str) -> Any:
    text = as_text(argument)
    if isinstance(argument, Unresolved):
        return argument
    if text is None:
        return template.problems.add(where, "Fn::Base64 takes a text")
    return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()


def _length(template: Answers, argument: Any, where: str) -> Any:
    if isinstance(argument, Unresolved):
        return argument
    return len(argument) if isinstance(argument, list) else template.problems.add(where, "Fn::Length takes a list")


def _to_json(template: Answers, argument: Any, where: str) -> Any:  # noqa: ARG001  (the form of every function)
    unknown: list[Unresolved] = []

    def plain(value: Any) -> Any:
        unknown.append(value)
        return value.text

    text = json.dumps(argument, default=plain, separators=(",", ":"))
    return _joined("", [text, *(Unresolved(text="", why=one.why, is_reported=one.is_reported) for one in unknown)])


PLAIN: Mapping[str, Callable[[Answers, Any, str], Any]] = {
    "Fn::Base64": _base64,
    "Fn::Join": _join,
    "Fn::Length": _length,
    "Fn::Select": _select,
    "Fn::Split": _split,
    "Fn::ToJsonString": _to_json,
}
"""The functions whose argument is answered before them."""
NAMES = (*PLAIN, *UNKNOWABLE, "Fn::FindInMap", "Fn::GetAtt", "Fn::If", "Fn::ImportValue", "Fn::Sub")
