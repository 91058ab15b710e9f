"""The outputs of a stack, answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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


def resolve_outputs(template: LiveTemplate) -> None:
    """Ask for everything that the outputs are made of, whatever the answers are."""
    section = template.source.document.get("Outputs")
    for key, entry in (section if isinstance(section, dict) else {}).items():
        template.resolve(entry, f"Outputs.{key}")


def check_exports(
    outputs: Sequence[Output],
    *,
    before: Sequence[Output],
    owner: Callable[[str], str | None],
    users: Callable[[str], list[str]],
) -> None:
    """Refuse exports that another stack has, and changes of those that others use.

    Args:
        outputs: The new outputs.
        before: Those that are there.
        owner: Returns the id of another stack that has an export; None if none has.
        users: Returns the names of the stacks that use an export.

    Raises:
        ResourceError: One of the exports cannot be so.
    """
    exports: dict[str, Output] = {}
    for one in outputs:
        if one.export is None:
            continue
        if (other := owner(one.export)) is not None:
            raise ResourceError(f"Export with name {one.export} is already exported by stack {other}")
        if one.export in exports:
            both = f"{exports[one.export].key} and {one.key}"
            raise ResourceError(f"Outputs {both} both export {one.export}; the name of an export is unique")
        exports[one.export] = one
    for was in before:
        using = users(was.export) if was.export else []
        now = exports.get(was.export or "")
        if using and (now is None or now.value != was.value):
            word = "deleted" if now is None else "updated"
            raise ResourceError(f"Export {was.export} cannot be {word} as it is in use by {' and '.join(using)}")


def _text(template: LiveTemplate, node: object, where: str) -> str:
    value = template.resolve(node, where)
    template.raise_problems()
    if isinstance(value, Unresolved):
        raise ResourceError(f"{where}: {value.text} cannot be answered: {value.why}")
    text = None if value is NO_VALUE else as_text(value)
    if text is None:
        raise ResourceError(f"{where} is no single value; an output is a text")
    return text
