"""The values of a template's parameters: given, kept, the default, or what the Parameter Store holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warmstack.assembly.parameter_values import STORED, is_hidden, refusal
from warmstack.assembly.unresolved import as_text
from warmstack.local.aws.errors import RefusedError, StackError, invalid
from warmstack.local.aws.ports import Aws
from warmstack.local.aws.stacks.records import Parameter


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
        if why := refusal(key, text, parameter):
            raise invalid(why)
        found.append(Parameter(key=key, value=text, is_hidden=is_hidden(parameter)))
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
