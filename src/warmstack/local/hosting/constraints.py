"""What botocore's model of SageMaker says of an operation's members, checked before anything is done.

Forms, required members, lengths, ranges and patterns; the words are those of SageMaker's own refusals, but for forms.
Enumerations are not checked, so that an instance type may be newer than botocore; nor are members that the model does
not have, which SageMaker leaves out, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from warmstack.local.hosting.records import refused
from warmstack.local.own_session import service_model

LONGEST_SHOWN = 200
_FORMS: Mapping[str, tuple[Any, str]] = {
    "structure": (dict, "an object"),
    "map": (dict, "an object"),
    "list": (list, "a list"),
    "string": (str, "a text"),
    "boolean": (bool, "true or false"),
    "integer": (int, "a whole number"),
    "long": (int, "a whole number"),
    "float": ((int, float), "a number"),
    "double": ((int, float), "a number"),
    "timestamp": ((int, float, str), "a time"),
}


def check_members(operation: str, members: Mapping[str, Any]) -> None:
    """Check the members of an operation.

    Args:
        operation: Its name; one that the model does not have is not checked.
        members: As its caller wrote them.

    Raises:
        ApiError: Some are not what SageMaker takes: a ValidationException that names each of them.
    """
    model = service_model("sagemaker")
    shape = model.operation_model(operation).input_shape if operation in model.operation_names else None
    found = [] if shape is None else list(_structure(dict(members), shape, ""))
    if found:
        plural = "" if len(found) == 1 else "s"
        raise refused(f"{len(found)} validation error{plural} detected: {'; '.join(found)}")


def _value(value: Any, shape: Any, where: str) -> Iterator[str]:
    kind = shape.type_name
    taken, form = _FORMS.get(kind, (object, ""))
    if not isinstance(value, taken) or (isinstance(value, bool) and kind != "boolean"):
        yield _failed(value, where, f"be {form}")
        return
    match kind:
        case "structure":
            yield from _structure(value, shape, where)
        case "list":
            yield from _bounded(value, len(value), shape, where, "length")
            for index, one in enumerate(value, 1):
                yield from _value(one, shape.member, f"{where}.{index}.member")
        case "map":
            yield from _bounded(value, len(value), shape, where, "length")
            for key, one in value.items():
                yield from _value(key, shape.key, f"{where}.{key}.key")
                yield from _value(one, shape.value, f"{where}.{key}.value")
        case "string":
            wrong = [*_bounded(value, len(value), shape, where, "length")]
            yield from wrong or _matched(value, shape, where)
        case "integer" | "long" | "float" | "double":
            yield from _bounded(value, value, shape, where, "value")


def _structure(value: Mapping[str, Any], shape: Any, where: str) -> Iterator[str]:
    for name, member in shape.members.items():
        place = f"{where}.{_camel(name)}" if where else _camel(name)
        if value.get(name) is not None:
            yield from _value(value[name], member, place)
        elif name in shape.required_members:
            yield f"Value null at '{place}' failed to satisfy constraint: Member must not be null"


def _bounded(value: Any, size: float, shape: Any, where: str, what: str) -> Iterator[str]:
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    if least is not None and size < least:
        yield _failed(value, where, f"have {what} greater than or equal to {least}")
    if most is not None and size > most:
        yield _failed(value, where, f"have {what} less than or equal to {most}")


def _matched(value: str, shape: Any, where: str) -> Iterator[str]:
    pattern = shape.metadata.get("pattern")
    if pattern is not None and not _fits(pattern, value):
        yield _failed(value, where, f"satisfy regular expression pattern: {pattern}")


def _fits(pattern: str, value: str) -> bool:
    try:
        return re.fullmatch(pattern, value, re.ASCII) is not None
    except re.error:
        # Java's patterns are not all Python's: what cannot be read refuses nothing.
        return True


def _failed(value: Any, where: str, rule: str) -> str:
    shown = str(value)
    shown = shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}…"
    return f"Value '{shown}' at '{where}' failed to satisfy constraint: Member must {rule}"


def _camel(name: str) -> str:
    return name[:1].lower() + name[1:]
