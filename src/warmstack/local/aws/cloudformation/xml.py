"""The query protocol, outward: members, written as XML by botocore's model of the operation."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree as ET

from warmstack.local.aws.errors import StackError


def write_answer(operation: Any, members: Mapping[str, Any], *, namespace: str, request_id: str) -> bytes:
    """Return the document of an answer.

    Args:
        operation: botocore's model of the operation.
        members: The members of its output; those that are None are left out.
        namespace: The XML namespace of the service.
        request_id: The request's id.

    Raises:
        TypeError: There is a member that the output does not have.
    """
    root = ET.Element(f"{operation.name}Response", xmlns=namespace)
    shape = operation.output_shape
    if shape is not None:
        wrapper = shape.serialization.get("resultWrapper")
        _structure(ET.SubElement(root, wrapper) if wrapper else root, members, shape)
    _metadata(root, request_id)
    return _document(root)


def write_error(error: StackError, *, namespace: str, request_id: str) -> bytes:
    """Return the document of an error."""
    root = ET.Element("ErrorResponse", xmlns=namespace)
    inner = ET.SubElement(root, "Error")
    ET.SubElement(inner, "Type").text = "Sender" if error.status < 500 else "Receiver"
    ET.SubElement(inner, "Code").text = error.code
    ET.SubElement(inner, "Message").text = _printable(error.message)
    ET.SubElement(root, "RequestId").text = request_id
    return _document(root)


def _document(root: ET.Element) -> bytes:
    body: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return body


def _metadata(root: ET.Element, request_id: str) -> None:
    ET.SubElement(ET.SubElement(root, "ResponseMetadata"), "RequestId").text = request_id


def _structure(element: ET.Element, members: Mapping[str, Any], shape: Any) -> None:
    unknown = members.keys() - shape.members.keys()
    if unknown:
        raise TypeError(f"{shape.name} has no {', '.join(sorted(unknown))}")
    for name, member in shape.members.items():
        value = members.get(name)
        if value is not None:
            _add(element, member.serialization.get("name", name), value, member)


def _add(parent: ET.Element, name: str, value: Any, shape: Any) -> None:
    element = ET.SubElement(parent, name)
    match shape.type_name:
        case "structure":
            _structure(element, value, shape)
        case "list":
            for one in value:
                _add(element, shape.member.serialization.get("name", "member"), one, shape.member)
        case "map":
            for key, one in value.items():
                entry = ET.SubElement(element, "entry")
                _add(entry, "key", key, shape.key)
                _add(entry, "value", one, shape.value)
        case _:
            element.text = _text(value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return _printable(str(value))


def _printable(text: str) -> str:
    """Return a text without what XML 1.0 has no form for: most control characters, and halves of surrogate pairs."""
    return "".join(one if _is_xml(ord(one)) else "�" for one in text)


def _is_xml(code: int) -> bool:
    return code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
