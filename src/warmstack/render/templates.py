"""Jinja2, set up so that a template can format values and nothing more.

A value enters a template only through a filter that writes it as one token of the file's own language; a value that
the language cannot hold is an error, never an instruction.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from warmstack.authored import authored_folder
from warmstack.errors import WarmstackError

# An image reference as registries know them: host/path:tag or host/path@digest.
_REFERENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9./:@_-]*")


class RenderError(WarmstackError):
    """A file cannot be rendered or written; the message says which one, why, and the way out."""


def render_template(name: str, values: Mapping[str, object]) -> str:
    """Return a template with its values.

    Args:
        name: the file below ``templates/``.
        values: what it may use; a name that it uses and that is missing is an error.
    """
    return _environment().get_template(name).render(values)


@functools.cache
def _environment() -> Environment:
    # autoescape is for HTML; each of our languages has a filter of its own below.
    environment = Environment(
        loader=FileSystemLoader(authored_folder("templates"), encoding="utf-8"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters = {"label": docker_label, "reference": image_reference, "yaml_value": yaml_value}
    environment.filters |= {"exec_form": exec_form, "property": java_property}
    return environment


def docker_label(value: object) -> str:
    r"""Return a value in double quotes for a LABEL; Docker reads ``\``, ``"`` and ``$`` in them.

    Raises:
        RenderError: the value holds a control character.
    """
    text = str(value)
    if not text.isprintable():
        raise RenderError(f"{text!r} cannot be a label: it holds a line break or another control character")
    for one in ("\\", '"', "$"):
        text = text.replace(one, f"\\{one}")
    return f'"{text}"'


def image_reference(value: object) -> str:
    """Return an image reference as it is.

    Raises:
        RenderError: it holds a character that no reference has.
    """
    text = str(value)
    if _REFERENCE.fullmatch(text) is None:
        raise RenderError(f"{text!r} is no image reference")
    return text


def yaml_value(value: object) -> str:
    """Return a value as JSON, which is YAML too: no text in it can become a key."""
    return json.dumps(_plain(value), sort_keys=True, ensure_ascii=True, allow_nan=False)


def exec_form(value: object) -> str:
    """Return a command as Docker's exec form, a JSON array of texts.

    Raises:
        RenderError: a part holds a control character.
    """
    parts = [str(one) for one in value] if isinstance(value, tuple | list) else [str(value)]
    if not all(one.isprintable() for one in parts):
        raise RenderError(f"{parts!r} cannot be a command: it holds a line break or another control character")
    return json.dumps(parts)


def java_property(value: object) -> str:
    r"""Return a value of a Java properties file on one line: escapes for ``\``, breaks and what is not ASCII.

    Source: java.util.Properties.load. A leading blank would be skipped, so it is escaped too.
    """
    names = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"}
    text = "".join(names.get(one) or (one if " " <= one <= "~" else _java_unicode(one)) for one in str(value))
    return f"\\{text}" if text.startswith(" ") else text


def _java_unicode(one: str) -> str:
    units = one.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i] << 8 | units[i + 1]:04x}" for i in range(0, len(units), 2))


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value
