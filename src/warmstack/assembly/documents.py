"""Files of an assembly, read into plain values with bounds on their size and depth."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import yaml

from warmstack.assembly.template_yaml import load_yaml

# CloudFormation takes templates of up to 1 MB; asset manifests and trees of large apps are larger.
LARGEST_BYTES = 20_000_000
# Which are JSON. YAML is read slowly, and a template in it has CloudFormation's bound.
LARGEST_YAML_BYTES = 2_000_000
DEEPEST = 50


class DocumentError(ValueError):
    """A file that cannot be read as a document; the text says why, without the file's name."""


def read_document(path: Path) -> Mapping[str, Any]:
    """Return the mapping that a JSON or YAML file holds.

    Raises:
        DocumentError: It cannot be read, is too large or too deep, or holds something else.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise DocumentError(f"cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # a null byte in the name
        raise DocumentError(f"cannot be read: {error}") from None
    if len(data) > LARGEST_BYTES:
        raise DocumentError(f"is larger than {LARGEST_BYTES} bytes; that is no template")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentError(f"is not UTF-8: byte {error.start} begins no character") from None
    return parse_document(text)


def parse_document(text: str) -> Mapping[str, Any]:
    """Return the mapping that a JSON or YAML text holds.

    Raises:
        DocumentError: It is neither, is too deep, or holds something else.
    """
    document = _parse(text)
    if not isinstance(document, dict):
        raise DocumentError(f"holds {_kind(document)}; a template is a mapping")
    _check_depth(document)
    return document


def _parse(text: str) -> Any:
    try:
        if text.lstrip().startswith("{"):
            return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
        if len(text) > LARGEST_YAML_BYTES:
            raise DocumentError(f"is YAML of more than {LARGEST_YAML_BYTES} bytes; that is no template")
        return load_yaml(text)
    except json.JSONDecodeError as error:
        raise DocumentError(f"is no JSON: line {error.lineno}, column {error.colno}: {error.msg}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = "" if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: "
        raise DocumentError(f"is no YAML of CloudFormation: {place}{error.problem}") from None
    except yaml.YAMLError as error:
        raise DocumentError(f"is no YAML: {' '.join(str(error).split())}") from None
    except RecursionError:
        raise DocumentError(f"is nested deeper than {DEEPEST} levels") from None
    except DocumentError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        # Guard: PyYAML lets whatever Python raises through, as for `!!bool x` and for numbers of 5000 digits.
        raise DocumentError("holds a value that cannot be read, such as a number of thousands of digits") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise DocumentError(f"is no JSON of CloudFormation: the key {twice!r} is there twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise DocumentError(f"is no JSON: {name} is no number")


def _check_depth(document: Any) -> None:
    level = [document]
    for _ in range(DEEPEST):
        deeper: dict[int, Any] = {}
        for one in level:
            for child in one.values() if isinstance(one, dict) else one:
                if isinstance(child, dict | list):
                    deeper[id(child)] = child
        level = list(deeper.values())
        if not level:
            return
    raise DocumentError(f"is nested deeper than {DEEPEST} levels")


def _kind(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case list():
            return "a list"
        case str():
            return "a text"
        case _:
            return "a single value"
