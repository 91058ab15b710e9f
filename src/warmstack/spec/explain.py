"""pydantic's errors in the words of the language: the value, the rule, the place, the way out."""

from __future__ import annotations

import difflib
import re
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from warmstack.spec.deployment import RESERVED_KEYS, DeploymentSpec
from warmstack.spec.diagnostics import Diagnostic
from warmstack.spec.tree import MappingNode, Node, Path, ScalarNode, SequenceNode, find, locate

_KINDS = {
    "string_type": "a text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "dict_type": "a mapping of keys",
    "mapping_type": "a mapping of keys",
    "model_type": "a mapping of keys",
    "model_attributes_type": "a mapping of keys",
    "tuple_type": "a list",
    "string_sub_type": "a text",
}


# The values of a mapping with free keys have no field that could say what they must be.
_RULES_OF_VALUES = {
    "acknowledge": "a reason of 3 to 300 characters",
    "tags": "1 to 256 letters, digits, spaces and any of _.:/=+@-",
}


def explain(error: ValidationError, root: MappingNode, *, partial: bool = False) -> list[Diagnostic]:
    """Return one message for each of pydantic's errors, each at the text that causes it.

    Args:
        error: pydantic's errors.
        root: the tree that was validated.
        partial: part of the text is not in the tree, so what is missing is not reported.
    """
    items = error.errors(include_url=False)
    if partial:
        items = [one for one in items if one["type"] != "missing" and one["loc"]]
    return [_explain_one(item, root) for item in items]


def near(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that ``word`` most likely stands for, or None."""
    names = list(known)
    folded = {name.lower(): name for name in names}
    if word.lower().replace("-", "_") in folded:
        return folded[word.lower().replace("-", "_")]
    found = difflib.get_close_matches(word.lower(), list(folded), n=1, cutoff=0.7)
    return folded[found[0]] if found else None


def model_at(path: Sequence[str | int]) -> type[BaseModel] | None:
    """Return the model class of the mapping at ``path``, or None where the language has none there."""
    model: type[BaseModel] | None = DeploymentSpec
    for part in path:
        if isinstance(part, int):
            continue
        info = None if model is None else model.model_fields.get(part)
        model = None if info is None else _inner_model(info.annotation)
    return model


def field_at(path: Sequence[str | int]) -> FieldInfo | None:
    """Return the field that ``path`` names, or None."""
    names = [part for part in path if isinstance(part, str)]
    model = model_at(path[:-1]) if names else None
    return None if model is None else model.model_fields.get(names[-1])


def _inner_model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if typing.get_origin(annotation) in (typing.Union, types.UnionType, typing.Annotated, tuple):
        for argument in typing.get_args(annotation):
            found = _inner_model(argument)
            if found is not None:
                return found
    return None


def _explain_one(item: Mapping[str, Any], root: MappingNode) -> Diagnostic:
    kind: str = item["type"]
    path: Path = tuple(item["loc"])
    if path and path[-1] == "[key]":
        return _bad_key(path[:-1], root, str(item["input"]))
    if kind == "extra_forbidden":
        return _unknown_key(path, root)
    if kind == "missing":
        return _missing_key(path, root)
    node = find(root, path)
    if _note(path, "x-secret"):
        message = f"{dotted(path)} must be {_note(path, 'x-rule')}"
        return Diagnostic(severity="error", message=message, mark=locate(root, path), secret=True)
    message = _message(kind, item, path, node)
    return Diagnostic(severity="error", message=message, mark=locate(root, path), hint=_hint(kind, path, node))


def _message(kind: str, item: Mapping[str, Any], path: Path, node: Node | None) -> str:
    label = dotted(path)
    context = item.get("ctx", {})
    if kind == "value_error":
        return str(context["error"])
    if kind == "literal_error":
        return _not_one_of(label, _written(node), path, str(context["expected"]))
    if kind in _KINDS:
        return f"{label} is {_written(node)}; it must be {_KINDS[kind]}"
    rule = _note(path, "x-rule")
    if kind in ("greater_than_equal", "less_than_equal"):
        low_high = {"greater_than_equal": "at least", "less_than_equal": "at most"}[kind]
        bound = context.get("ge", context.get("le"))
        return f"{label} is {_written(node)}; {rule or f'it must be {low_high} {bound}'}"
    if kind in ("string_pattern_mismatch", "string_too_short", "string_too_long") and rule:
        limit = f" and at most {context['max_length']} characters" if kind == "string_too_long" else ""
        return f"{label} is {_written(node)}; it must be {rule}{limit}"
    text = str(item["msg"])
    return f"{label} is {_written(node)}; {text[0].lower()}{text[1:]}"


def _note(path: Path, name: str) -> str | None:
    """Return a schema note of the field at ``path``, or None."""
    if path and path[0] in _RULES_OF_VALUES:
        return _RULES_OF_VALUES[str(path[0])] if name == "x-rule" else None
    info = field_at(path)
    if info is None:
        return None
    for extra in (info.json_schema_extra, *_extras(info.annotation)):
        if isinstance(extra, dict) and name in extra:
            return str(extra[name])
    return None


def _extras(annotation: Any) -> Iterable[Any]:
    """Yield the schema notes of the types inside a union: a field's own type may be one of them."""
    for argument in typing.get_args(annotation):
        if isinstance(argument, FieldInfo):
            yield argument.json_schema_extra
        yield from _extras(argument)


def _hint(kind: str, path: Path, node: Node | None) -> str | None:
    if kind == "string_type" and isinstance(node, ScalarNode) and not isinstance(node.value, str):
        return f'write it in quotes: "{node.text}"'
    typed = isinstance(node, ScalarNode) and re.fullmatch(r"[a-z][a-z0-9-]*\.[a-z0-9]+", node.text)
    if path == ("endpoint", "instance_type") and typed and isinstance(node, ScalarNode):
        return f"did you mean ml.{node.text}?"
    info = field_at(path)
    if kind.startswith("string_") and info is not None and info.examples:
        return f"for example {info.examples[0]}"
    return None


def _not_one_of(label: str, written: str, path: Path, expected: str) -> str:
    del expected
    info = field_at(path)
    choices = [str(one) for one in _choices(None if info is None else info.annotation)]
    guess = near(written.strip("'"), choices)
    ask = f"; did you mean {guess!r}?" if guess else ""
    return f"{label} is {written}; it must be one of {', '.join(choices)}{ask}"


def _choices(annotation: Any) -> tuple[Any, ...]:
    if typing.get_origin(annotation) is typing.Literal:
        return typing.get_args(annotation)
    found: tuple[Any, ...] = ()
    for argument in typing.get_args(annotation):
        found += _choices(argument)
    return found


def _written(node: Node | None) -> str:
    if node is None:
        return "not set"
    if isinstance(node, ScalarNode):
        if isinstance(node.value, str):
            return repr(node.text if len(node.text) <= 80 else node.text[:77] + "…")
        return node.text
    return "a list" if isinstance(node, SequenceNode) else "a mapping"


def _unknown_key(path: Path, root: MappingNode) -> Diagnostic:
    key = str(path[-1])
    place = f" in {dotted(path[:-1])}" if len(path) > 1 else ""
    mark = locate(root, path, key=True)
    if key in RESERVED_KEYS:
        return Diagnostic(
            severity="error",
            message=f"'{key}'{place} is not supported yet: the key is reserved until it has resources",
            mark=mark,
            hint="remove it; nothing would be deployed for it",
        )
    model = model_at(path[:-1])
    known = () if model is None else tuple(model.model_fields)
    guess = near(key, known)
    ask = f"; did you mean '{guess}'?" if guess else ""
    return Diagnostic(
        severity="error",
        message=f"unknown key '{key}'{place}{ask}",
        mark=mark,
        hint=None if guess else _elsewhere(key, known),
        # A key of such a name may have a secret behind it: the line stays out of logs.
        secret=re.search(r"token|secret|passw|api_?key|credential", key, re.IGNORECASE) is not None,
    )


def _elsewhere(key: str, known: Sequence[str]) -> str | None:
    """Name the mapping where the key belongs, or else the keys that are known here."""
    homes = []
    for prefix, model in all_models(DeploymentSpec, without="components"):
        if key in model.model_fields:
            homes.append(".".join((*prefix, key)))
    if homes:
        return f"it belongs to {' or '.join(homes[:2])}"
    return f"known here: {', '.join(known)}" if known else None


def all_models(
    model: type[BaseModel], prefix: tuple[str, ...] = (), *, without: str | None = None
) -> Iterable[tuple[tuple[str, ...], type[BaseModel]]]:
    """Yield every model of the language below one, with the keys that lead to it; ``without`` skips a key."""
    yield prefix, model
    for name, info in model.model_fields.items():
        inner = _inner_model(info.annotation)
        if inner is not None and name != without:
            yield from all_models(inner, (*prefix, name), without=without)


def _missing_key(path: Path, root: MappingNode) -> Diagnostic:
    info = field_at(path)
    place = f" in {dotted(path[:-1])}" if len(path) > 1 else ""
    example = info.examples[0] if info is not None and info.examples else None
    hint = None if example is None else f"for example {path[-1]}: {example}"
    return Diagnostic(
        severity="error",
        message=f"missing key '{path[-1]}'{place}",
        mark=locate(root, path[:-1], key=True),
        hint=hint,
    )


def _bad_key(path: Path, root: MappingNode, key: str) -> Diagnostic:
    rules = {
        "acknowledge": "the id of a check, such as WS062",
        "tags": "1 to 128 letters, digits, spaces and any of _.:/=+@-",
    }
    rule = rules.get(str(path[0]), "a valid key")
    return Diagnostic(
        severity="error",
        message=f"{key!r} in {dotted(path[:-1])} is not {rule}",
        mark=locate(root, path, key=True),
    )


def dotted(path: Sequence[str | int]) -> str:
    """Return a path as people write it: ``components[0].copies.min``."""
    out = ""
    for part in path:
        out += f"[{part}]" if isinstance(part, int) else f".{part}" if out else part
    return out or "the spec"
