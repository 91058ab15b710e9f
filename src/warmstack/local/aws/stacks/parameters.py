"""The values of a template's parameters: given, kept, the default, or what the Parameter Store holds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from warmstack.assembly.unresolved import as_text
from warmstack.local.aws.errors import RefusedError, StackError, invalid
from warmstack.local.aws.ports import Aws
from warmstack.local.aws.stacks.records import Parameter

STORED = "AWS::SSM::Parameter::Value<"
_NUMBER = re.compile(r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")


async def read_parameters(
    section: Mapping[str, Any],
    given: Sequence[Mapping[str, Any]],
    previous: Sequence[Parameter],
    *,
    aws: Aws,
    region: str,
) -> tuple[Parameter, ...]:
    """Return the parameters' values.

    Args:
        section: The template's ``Parameters``.
        given: What the request says, as CloudFormation's API writes it.
        previous: The values that the stack has.
        aws: Has the Parameter Store.
        region: The Region.

    Raises:
        StackError: One has no value, or one that it does not take.
    """
    texts = _given(given, {one.key: one.value for one in previous})
    if unknown := sorted(texts.keys() - section.keys()):
        raise invalid(f"Parameters: [{', '.join(unknown)}] do not exist in the template")
    found: list[Parameter] = []
    missing: list[str] = []
    for key, entry in section.items():
        parameter = entry if isinstance(entry, Mapping) else {}
        text = texts.get(key, as_text(parameter.get("Default")))
        if text is None:
            missing.append(key)
            continue
        _check(key, text, parameter)
        hidden = as_text(parameter.get("NoEcho", False)) == "true"
        found.append(Parameter(key=key, value=text, is_hidden=hidden))
    if missing:
        raise invalid(f"Parameters: [{', '.join(missing)}] must have values")
    return tuple([await _resolved(one, str(section[one.key].get("Type")), aws, region) for one in found])


def _given(given: Sequence[Mapping[str, Any]], previous: Mapping[str, str]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for one in given:
        key = str(one.get("ParameterKey", ""))
        if one.get("UsePreviousValue"):
            if key not in previous:
                raise invalid(f"Invalid input for parameter key {key}. Cannot specify usePreviousValue as true for a "
                              "parameter key not in the previous template")  # fmt: skip
            texts[key] = previous[key]
        elif "ParameterValue" in one:
            texts[key] = str(one["ParameterValue"])
    return texts


def _check(key: str, text: str, parameter: Mapping[str, Any]) -> None:
    kind = str(parameter.get("Type"))
    allowed, pattern = parameter.get("AllowedValues"), parameter.get("AllowedPattern")
    # Of a list each value is looked at.
    is_list = kind == "CommaDelimitedList" or kind.startswith("List<")
    for one in [part.strip() for part in text.split(",")] if is_list else [text]:
        if isinstance(allowed, list) and one not in (texts := [str(as_text(each)) for each in allowed]):
            raise invalid(f"Parameter '{key}' must be one of AllowedValues: [{', '.join(texts)}]")
        if isinstance(pattern, str) and not _fits(pattern, one):
            raise _breaks(key, parameter, f"must match pattern {pattern}")
        if kind in ("Number", "List<Number>") and not _NUMBER.fullmatch(one):
            raise invalid(f"Parameter '{key}' is {text!r}; its type is {kind}")
    _check_bounds(key, text, parameter)


def _check_bounds(key: str, text: str, parameter: Mapping[str, Any]) -> None:
    match parameter.get("Type"):
        case "String":
            size, what = Decimal(len(text)), "Length"
            least, most = "must contain at least {} characters", "must contain at most {} characters"
        case "Number":
            size, what = Decimal(text), "Value"
            least, most = "must be a number not less than {}", "must be a number not greater than {}"
        case _:
            return
    bound = _bound(key, f"Min{what}", parameter)
    if bound is not None and size < bound:
        raise _breaks(key, parameter, least.format(bound))
    bound = _bound(key, f"Max{what}", parameter)
    if bound is not None and size > bound:
        raise _breaks(key, parameter, most.format(bound))


def _bound(key: str, name: str, parameter: Mapping[str, Any]) -> Decimal | None:
    if name not in parameter:
        return None
    text = as_text(parameter[name])
    if text is None or not _NUMBER.fullmatch(text):
        raise invalid(f"Template format error: [/Parameters/{key}] has {name} {parameter[name]!r}; it takes a number")
    return Decimal(text)


def _breaks(key: str, parameter: Mapping[str, Any], said: str) -> StackError:
    return invalid(f"Parameter '{key}' {parameter.get('ConstraintDescription') or said}")


def _fits(pattern: str, text: str) -> bool:
    try:
        return re.fullmatch(pattern, text) is not None
    except re.error:
        # Java's patterns, which CloudFormation takes, are not all Python's: what cannot be read refuses nothing.
        return True


async def _resolved(parameter: Parameter, kind: str, aws: Aws, region: str) -> Parameter:
    if not kind.startswith(STORED):
        return parameter
    try:
        answer = await aws.call("ssm", "GetParameter", {"Name": parameter.value}, region=region)
    except RefusedError as error:
        raise StackError(
            "ValidationError",
            f"Unable to fetch parameters [{parameter.value}] from parameter store for this account.",
        ) from error
    return Parameter(
        key=parameter.key,
        value=parameter.value,
        resolved=str(answer["Parameter"]["Value"]),
        is_hidden=parameter.is_hidden,
    )
