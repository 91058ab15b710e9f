"""The query protocol, inward: a form, read into members by botocore's model of the operation.

Source: Smithy's "AWS query protocol"; shapes: botocore's own model of CloudFormation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from warmstack.local.aws.errors import invalid

LONGEST_FORM = 20_000
"""Fields of one request; a stack has at most 200 parameters and 50 tags."""


def read_form(body: bytes) -> dict[str, str]:
    """Return the fields of a form.

    Raises:
        StackError: It is none.
    """
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, strict_parsing=bool(body), max_num_fields=LONGEST_FORM)
    except ValueError as error:
        raise invalid(f"the body is no form: {error}") from error
    return dict(pairs)


def read_members(form: Mapping[str, str], shape: Any) -> dict[str, Any]:
    """Return the members of an operation's input; fields that it does not have are left out.

    Args:
        form: The fields.
        shape: botocore's shape of the input; None for an operation without.

    Raises:
        StackError: A value is not of its type, or a required one is missing.
    """
    if shape is None:
        return {}
    return _structure(_tree(form), shape, "")


def _tree(form: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields as a tree: ``Tags.member.1.Key`` is a path."""
    root: dict[str, Any] = {}
    for name, value in form.items():
        *path, last = name.split(".")
        node = root
        for part in path:
            child = node.setdefault(part, {})
            if not isinstance(child, dict):
                raise invalid(f"the field {name} is inside a single value")
            node = child
        node[last] = value
    return root


def _structure(node: Any, shape: Any, where: str) -> dict[str, Any]:
    if not isinstance(node, dict):
        raise invalid(f"{where or shape.name} is a single value; it has members")
    place = f"{where}." if where else ""
    for name in shape.required_members:
        if name not in node:
            raise invalid(
                f"1 validation error detected: Value null at '{place}{name}' failed to satisfy constraint: Member must "
                "not be null"
            )
    return {
        name: _value(node[name], member, f"{place}{name}") for name, member in shape.members.items() if name in node
    }


def _value(node: Any, shape: Any, where: str) -> Any:
    match shape.type_name:
        case "structure":
            return _structure(node, shape, where)
        case "list":
            return _list(node, shape, where)
        case "map":
            return _map(node, shape, where)
    if not isinstance(node, str):
        raise invalid(f"{where} has members; it is a single value")
    match shape.type_name:
        case "boolean":
            return node.lower() == "true"
        case "integer" | "long":
            try:
                return int(node)
            except ValueError as error:
                raise invalid(f"{where} is {node[:40]!r}; it takes a whole number") from error
    return node


def _list(node: Any, shape: Any, where: str) -> list[Any]:
    # An empty list is an empty field.
    if node == "":
        return []
    entries = node.get(shape.member.serialization.get("name", "member")) if isinstance(node, dict) else None
    if not isinstance(entries, dict) or not all(key.isdecimal() for key in entries):
        raise invalid(f"{where} is no list; its values are {where}.member.1 and on")
    return [_value(entries[key], shape.member, f"{where}.{key}.member") for key in sorted(entries, key=int)]


def _map(node: Any, shape: Any, where: str) -> dict[str, Any]:
    if node == "":
        return {}
    entries = node.get("entry") if isinstance(node, dict) else None
    if not isinstance(entries, dict) or not all(
        key.isdecimal() and isinstance(one, dict) and isinstance(one.get("key"), str) and "value" in one
        for key, one in entries.items()
    ):
        raise invalid(f"{where} is no map; its entries are {where}.entry.1.key and {where}.entry.1.value, and on")
    found = (entries[key] for key in sorted(entries, key=int))
    return {one["key"]: _value(one["value"], shape.value, f"{where}.{one['key']}") for one in found}
