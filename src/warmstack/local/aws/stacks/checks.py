"""What is wrong with a template is said before anything of it is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from warmstack.assembly.unresolved import Unresolved, as_text
from warmstack.local.aws.errors import StackError, invalid
from warmstack.local.aws.resources.property_names import check_names
from warmstack.local.aws.resources.recorded import CUSTOM_RESOURCE
from warmstack.local.aws.resources.registry import HANDLERS, handler_of
from warmstack.local.aws.stacks.capabilities import needed_capability
from warmstack.local.aws.stacks.graph import dependencies
from warmstack.local.aws.stacks.live import NOT_YET, LiveTemplate
from warmstack.local.aws.stacks.references import references
from warmstack.local.aws.stacks.rules import check_rules


def check_template(template: LiveTemplate, *, capabilities: Sequence[str]) -> dict[str, frozenset[str]]:
    """Check a template against what the local AWS can make.

    Args:
        template: The template, of which no resource is there yet.
        capabilities: What the request acknowledges.

    Returns:
        For each resource what it waits for, in an order in which they can be made.

    Raises:
        StackError: It cannot be deployed; the text names each reason.
    """
    document = template.source.document
    if document.get("Transform"):
        raise invalid(f"the template has the transform {document['Transform']}; the local AWS runs none")
    if not document.get("Resources"):
        raise invalid("Template format error: At least one Resources member must be defined.")
    check_rules(template)
    there = template.resource_ids()
    _check_types(template, there)
    waits = dependencies(template)
    for logical_id in there:
        if where := _deep_names(template.properties(logical_id), "Fn::Transform", logical_id):
            raise invalid(f"{where}: Fn::Transform runs a macro; the local AWS has none")
        properties = template.resolve(template.properties(logical_id), logical_id)
        if not isinstance(properties, dict):
            raise invalid(f"Template format error: [/Resources/{logical_id}/Properties] is no mapping")
        check_names(str(template.resource(logical_id)["Type"]), logical_id, properties)
        _check_value(properties, logical_id)
        _check_attributes(template, template.properties(logical_id), logical_id)
    _check_outputs(template)
    if template.problems:
        raise invalid(f"Template error: {'; '.join(template.problems)}")
    _check_capabilities(template, there, capabilities)
    return waits


def _check_outputs(template: LiveTemplate) -> None:
    section: dict[str, dict[str, Any]] = template.source.document.get("Outputs") or {}
    for key, output in section.items():
        where = f"Outputs.{key}"
        if "Condition" in output and template.condition(output["Condition"], where) is not True:
            continue
        _check_text(template, output["Value"], f"{where}.Value")
        if "Export" in output:
            _check_text(template, output["Export"]["Name"], f"{where}.Export.Name")


def _check_text(template: LiveTemplate, node: Any, where: str) -> None:
    """Refuse what is no text, as far as that is known before a deployment."""
    _check_attributes(template, node, where)
    value = template.resolve(node, where)
    _check_value(value, where)
    if not isinstance(value, Unresolved) and as_text(value) is None:
        raise invalid(f"Template format error: {where} is no single value; an output is a text")


def _check_types(template: LiveTemplate, there: Sequence[str]) -> None:
    kinds = dict(template.types())
    unknown = [one for one in there if handler_of(kinds[one]) is None]
    if unknown:
        named = ", ".join(f"{kinds[one] or 'no type'} ({one})" for one in unknown)
        known = ", ".join(sorted(HANDLERS))
        raise invalid(f"the local AWS cannot make {named}; nothing was created. It knows {known} and Custom::*")


def _check_value(value: Any, where: str) -> None:
    """Refuse what stays unknown in a deployment, too."""
    for path, unknown in _unknowns(value, where):
        others = [one for one in unknown.why.split("; ") if one != NOT_YET]
        if others and not unknown.is_reported:
            raise invalid(f"{path}: {unknown.text} cannot be answered: {'; '.join(others)}")


def _unknowns(value: Any, where: str) -> Iterator[tuple[str, Unresolved]]:
    if isinstance(value, Unresolved):
        yield where, value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _unknowns(one, f"{where}.{key}")
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from _unknowns(one, f"{where}[{index}]")


def _check_attributes(template: LiveTemplate, node: Any, where: str) -> None:
    """Refuse an attribute, in Fn::GetAtt or Fn::Sub, that a handler does not have."""
    kinds = dict(template.types())
    for one in references(template, node, where):
        kind = kinds.get(one.logical_id, "")
        handler = handler_of(kind)
        known = None if handler is None else handler.attributes
        if one.attribute is not None and known is not None and one.attribute not in known:
            has = f"it has {', '.join(sorted(known))}" if known else "it has none"
            if handler is CUSTOM_RESOURCE:
                has = "those of a custom resource come from its function, which does not run here"
            raise invalid(
                f"{where}: {one.logical_id} ({kind}) has no attribute {one.attribute!r} in the local AWS; {has}"
            )


def _deep_names(node: Any, wanted: str, where: str) -> str | None:
    """Return where in a value a function is called; None if it is not."""
    if isinstance(node, dict):
        if wanted in node:
            return where
        pairs = [(f"{where}.{key}", one) for key, one in node.items()]
    elif isinstance(node, list):
        pairs = [(f"{where}[{index}]", one) for index, one in enumerate(node)]
    else:
        return None
    return next((found for path, one in pairs if (found := _deep_names(one, wanted, path))), None)


def _check_capabilities(template: LiveTemplate, there: Sequence[str], capabilities: Sequence[str]) -> None:
    needed = needed_capability(template.resource(one) for one in there)
    if needed is not None and not {needed, "CAPABILITY_NAMED_IAM"} & set(capabilities):
        raise StackError("InsufficientCapabilitiesException", f"Requires capabilities : [{needed}]")
