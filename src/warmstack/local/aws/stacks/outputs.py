"""The outputs of a stack, answered."""

from __future__ import annotations

from warmstack.assembly.unresolved import NO_VALUE, Unresolved, as_text
from warmstack.local.aws.errors import ResourceError
from warmstack.local.aws.stacks.live import LiveTemplate
from warmstack.local.aws.stacks.records import Output


def answer_outputs(template: LiveTemplate) -> tuple[Output, ...]:
    """Return a template's outputs, those whose condition does not hold left out.

    Raises:
        ResourceError: One of them has no value, or none that is a text.
    """
    section = template.source.document.get("Outputs")
    found: list[Output] = []
    for key, entry in (section if isinstance(section, dict) else {}).items():
        where = f"Outputs.{key}"
        if not isinstance(entry, dict):
            raise ResourceError(f"{where} is no mapping; it has a Value")
        if "Condition" in entry and template.condition(entry["Condition"], where) is not True:
            continue
        export = entry.get("Export")
        name = _text(template, export.get("Name"), f"{where}.Export.Name") if isinstance(export, dict) else None
        found.append(
            Output(
                key=key,
                value=_text(template, entry.get("Value"), f"{where}.Value"),
                description=str(entry.get("Description") or ""),
                export=name,
            )
        )
    template.raise_problems()
    return tuple(found)


def _text(template: LiveTemplate, node: object, where: str) -> str:
    value = template.resolve(node, where)
    template.raise_problems()
    if isinstance(value, Unresolved):
        raise ResourceError(f"{where}: {value.text} cannot be answered: {value.why}")
    text = None if value is NO_VALUE else as_text(value)
    if text is None:
        raise ResourceError(f"{where} is no single value; an output is a text")
    return text
