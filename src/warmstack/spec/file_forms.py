"""What the files that a spec names have to be: said now, because a container would say it after a long build."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping

FORMATTERS = ("input_formatter", "output_formatter")
COUNTS = ("hidden_size", "target_hidden_size", "vocab_size", "draft_vocab_size")


def read_draft_config(text: str) -> None:
    """Look at a draft's config.json.

    Raises:
        ValueError: it is no JSON object, or what is compared in it is of another kind.
    """
    try:
        config = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(config, dict):
        raise ValueError("it holds no JSON object")
    names = config.get("architectures")
    if names is not None and not (isinstance(names, list) and all(isinstance(one, str) for one in names)):
        raise ValueError(f"architectures is {names!r:.60}; it must be a list of names")
    inner = config.get("text_config")
    for part in (config, inner if isinstance(inner, dict) else {}):
        for key in COUNTS:
            value = part.get(key)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
                raise ValueError(f"{key} is {value!r:.60}; it must be a whole number")
    if names is None and not any(key in part for part in (config, inner or {}) for key in COUNTS):
        raise ValueError("it has neither architectures nor sizes; name the config.json of the draft model")


def read_formatters(text: str) -> None:
    """Look at a file with formatters; it is not run.

    Raises:
        ValueError: it does not parse, or no function in it is decorated as a formatter.
    """
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise ValueError(f"line {error.lineno}: {error.msg}") from error
    functions = [one for one in tree.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)]
    named = _names_of_decorators(tree)
    if not any(_last_name(mark) in named for one in functions for mark in one.decorator_list):
        raise ValueError("no function in it is decorated with @input_formatter or @output_formatter")


def _names_of_decorators(tree: ast.Module) -> set[str]:
    """Return what the decorators are called in this file: their own names, and those they are imported under."""
    imported = [alias for one in tree.body if isinstance(one, ast.ImportFrom) for alias in one.names]
    return {*FORMATTERS, *(alias.asname for alias in imported if alias.name in FORMATTERS and alias.asname)}


def _last_name(node: ast.expr) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


def read_chat_template(text: str) -> None:
    """Look at a chat template.

    Raises:
        ValueError: it does not parse.
    """
    # Late: most specs name no template.
    from warmstack.spec.chat_template import parse_chat_template

    parse_chat_template(text)


READERS: Mapping[str, Callable[[str], None]] = {
    "chat_template": read_chat_template,
    "draft_config": read_draft_config,
    "formatters": read_formatters,
}
"""What looks at a file, by the field that names it."""
