"""What the files that a spec names have to be: said now, because a container would say it after a long build."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping

from warmstack.spec.formatter_code import formatter_faults, formatter_functions

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
        ValueError: it does not parse, no function in it is decorated as a formatter, or the container would refuse it.
    """
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise ValueError(f"line {error.lineno}: {error.msg}") from error
    functions = formatter_functions(tree)
    if not functions:
        raise ValueError("no function in it is decorated with @input_formatter or @output_formatter")
    for value, rule, fix in formatter_faults(functions):
        raise ValueError(f"{value}; {rule}: {fix}")


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
