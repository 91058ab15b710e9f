"""What a parameter takes: its allowed values, its pattern, its bounds.

Source: the template reference's "Parameters" (read 2026-11-30).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from warmstack.assembly.unresolved import as_text

STORED = "AWS::SSM::Parameter::Value<"
"""Types whose value is the name of a parameter in the Parameter Store, which holds what is referred to."""
_NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")


def is_list(kind: str) -> bool:
    """Return whether a parameter of a type is a list of texts where it is referred to."""
    return "CommaDelimitedList" in kind or "List<" in kind


def is_hidden(parameter: Mapping[str, Any]) -> bool:
    """Return whether a parameter's value is never shown."""
    return as_text(parameter.get("NoEcho", False)) == "true"


def listed(text: str) -> list[str]:
    """Return the values of a list."""
    return [one.strip() for one in text.split(",")]


def refusal(key: str, text: str, parameter: Mapping[str, Any]) -> str | None:
    """Return why a parameter does not take a value, in CloudFormation's words; None if it does.

    A value that is never shown is not in the text.

    Args:
        key: The parameter's name.
        text: What is given, or the default; for the Parameter Store's types a parameter's name.
        parameter: The parameter as it is written.
    """
    kind = str(parameter.get("Type"))
    allowed, pattern = parameter.get("AllowedValues"), parameter.get("AllowedPattern")
    # Of a list each value is looked at.
    for one in listed(text) if is_list(kind) and not kind.startswith(STORED) else [text]:
        if isinstance(allowed, list) and one not in (texts := [str(as_text(each)) for each in allowed]):
            return f"Parameter '{key}' must be one of AllowedValues: [{', '.join(texts)}]"
        if isinstance(pattern, str) and not _fits(pattern, one):
            return _breaks(key, parameter, f"must match pattern {pattern}")
        if kind in ("Number", "List<Number>") and not _NUMBER.fullmatch(one):
            shown = "no number" if is_hidden(parameter) else repr(text)
            return f"Parameter '{key}' is {shown}; its type is {kind}"
    return _out_of_bounds(key, text, parameter)


def _out_of_bounds(key: str, text: str, parameter: Mapping[str, Any]) -> str | None:
    match parameter.get("Type"):
        case "String":
            size, what = Decimal(len(text)), "Length"
            said = ("must contain at least {} characters", "must contain at most {} characters")
        case "Number":
            size, what = Decimal(text), "Value"
            said = ("must be a number not less than {}", "must be a number not greater than {}")
        case _:
            return None
    for name, sign, words in ((f"Min{what}", 1, said[0]), (f"Max{what}", -1, said[1])):
        if name not in parameter:
            continue
        bound = as_text(parameter[name])
        if bound is None or not _NUMBER.fullmatch(bound):
            return f"Template format error: [/Parameters/{key}] has {name} {parameter[name]!r}; it takes a number"
        if sign * size < sign * Decimal(bound):
            return _breaks(key, parameter, words.format(bound))
    return None


def _breaks(key: str, parameter: Mapping[str, Any], said: str) -> str:
    return f"Parameter '{key}' {parameter.get('ConstraintDescription') or said}"


def _fits(pattern: str, text: str) -> bool:
    try:
        return re.fullmatch(pattern, text) is not None
    except re.error:
        # Java's patterns, which CloudFormation takes, are not all Python's: what cannot be read refuses nothing.
        return True
