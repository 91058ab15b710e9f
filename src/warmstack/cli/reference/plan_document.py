"""The page of ``warmstack plan --json``, from the dataclasses of the plan and their docstrings."""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Iterator, Mapping

from warmstack.catalog import InstanceType, ModelShape, ServerImage
from warmstack.cli.reference.markdown import code, page, sentence, table
from warmstack.plan import Plan
from warmstack.plan.document import DOCUMENT_VERSION, IMAGE_KEYS, SHAPE_KEYS

_INTRODUCTION = f"""\
`warmstack plan SPEC --json` writes the plan as one JSON object. `version` is {DOCUMENT_VERSION}: it rises when a key
changes its meaning or goes, and not when a key is added. Sizes are bytes, times are seconds; `null` stands for what is
not set or not known. The keys below are those of the object; a `[]` stands for every item of a list.

The command exits with 0, or with 1 when a finding is an error (with `--strict`, also a warning); the document is
written in both cases, with the errors in `findings`. When there is no plan at all, because the file is not a valid spec
or the catalog lacks what it names, the object holds `version` and `diagnostics` and nothing else; `diagnostics` is the
list of messages that `warmstack validate --format json` writes.

Texts that name AWS resources are for CloudFormation's `Fn::Sub`: `${{AWS::Region}}` and the like are its pseudo
parameters, and `${{Registry}}` stands for the account in `registries`."""

# Of the catalog's facts the document quotes a part.
_QUOTED: Mapping[type, tuple[str, ...]] = {ModelShape: SHAPE_KEYS, ServerImage: IMAGE_KEYS}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key of the document: its path, its type in JSON, and what it says."""

    path: str
    type: str
    description: str


def plan_document_page() -> str:
    """Return the page with every key of the document: one table for each object in it."""
    sections: list[str] = []
    seen: set[str] = set()
    for title, about, keys in _objects(Plan, ""):
        if title in seen:
            continue
        seen.add(title)
        rows = [(code(one.path.rsplit(".", 1)[-1]), one.type, one.description) for one in keys]
        heading = "## The document" if not title else f"## {code(title)}"
        sections.append(f"{heading}\n\n{about}\n\n{table(('key', 'type', 'meaning'), rows)}")
    return page("The plan as JSON", _INTRODUCTION, *sections)


def document_keys() -> tuple[Key, ...]:
    """Return every key of the document."""
    return tuple(one for _, _, keys in _objects(Plan, "") for one in keys)


def _objects(kind: type, path: str) -> Iterator[tuple[str, str, list[Key]]]:
    """Yield the object of a dataclass and those inside it: path, what it is, keys."""
    summary, described = _docstring(kind)
    hints = typing.get_type_hints(kind)
    fields = dataclasses.fields(kind)
    names = _QUOTED.get(kind) or tuple(one.name for one in fields)
    keys = [
        Key(
            path=f"{path}.{name}" if path else name,
            type=_json_type(hints[name]),
            description=described.get(name, ""),
        )
        for name in names
    ]
    if not path:
        keys.insert(0, Key(path="version", type="number", description="the version of this document."))
    yield path, summary, keys
    for name in names:
        inner, listed = _inner(hints[name])
        if inner is not None:
            yield from _objects(inner, f"{path}.{name}".removeprefix(".") + ("[]" if listed else ""))


def _docstring(kind: type) -> tuple[str, dict[str, str]]:
    """Return the first paragraph of a class's docstring, and what it says of each attribute."""
    text = inspect.getdoc(kind) or ""
    summary = re.sub(r"\b`?None`?\b", "null", sentence(text.split("\n\n", 1)[0]))
    match = re.search(r"^(?:Args|Attributes):\n(?P<body>(?:(?: .*)?\n?)*)", text, re.MULTILINE)
    entries: dict[str, str] = {}
    for block in re.split(r"^ {4}(?=[a-z0-9_]+: )", match["body"] if match else "", flags=re.MULTILINE)[1:]:
        name, _, about = block.partition(": ")
        entries[name] = re.sub(r"\bNone\b", "null", sentence(about))
    return summary, entries


def _inner(hint: object) -> tuple[type | None, bool]:
    """Return the dataclass that a field holds, if any, and whether it holds a list of them."""
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return hint, False
    if typing.get_origin(hint) is tuple:
        found, _ = _inner(typing.get_args(hint)[0])
        return found, True
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        return next((_inner(one) for one in typing.get_args(hint) if _inner(one)[0] is not None), (None, False))
    return None, False


def _json_type(hint: object) -> str:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return ", ".join(code(one) for one in arguments)
    if origin in (types.UnionType, typing.Union):
        return " or ".join(dict.fromkeys(_json_type(one) for one in arguments))
    if origin is tuple:
        return f"list of {_plural(_json_type(arguments[0]))}"
    if origin is not None and issubclass(origin, Mapping):
        return f"object of {_plural(_json_type(arguments[1]))}"
    if hint is type(None):
        return "null"
    if isinstance(hint, type) and (dataclasses.is_dataclass(hint) or hint in (ModelShape, ServerImage, InstanceType)):
        return "object"
    return {"str": "text", "int": "number", "float": "number", "bool": "true or false", "object": "value"}[
        getattr(hint, "__name__", "object")
    ]


def _plural(text: str) -> str:
    if " or " in text:
        return "values"
    first, of, rest = text.partition(" of ")
    return f"{first}s{of}{rest}"
