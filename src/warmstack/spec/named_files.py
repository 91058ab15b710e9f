"""The files that a spec names: read beside it, with every problem told at the place that names the file."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import TypeGuard

from warmstack.catalog import ModelShape, shape_from_config
from warmstack.errors import CatalogError
from warmstack.spec.diagnostics import Diagnostic
from warmstack.spec.explain import dotted
from warmstack.spec.file_forms import READERS
from warmstack.spec.reader import MAX_BYTES
from warmstack.spec.tree import MappingNode, Node, Path, ScalarNode, SequenceNode, find

# Fields of one served model that name a text file.
TEXT_FIELDS: tuple[Path, ...] = (
    ("model", "chat_template"),
    ("model", "formatters"),
    ("engine", "speculative", "draft_config"),
)


def read_named(root: MappingNode, diagnostics: list[Diagnostic]) -> tuple[dict[Path, ModelShape], dict[Path, str]]:
    """Return the shapes of ``model.config`` files by the model's place, and the other files' texts by field.

    Args:
        root: the whole spec, with components expanded.
        diagnostics: gets an error for each file that cannot be used.
    """
    shapes: dict[Path, ModelShape] = {}
    texts: dict[Path, str] = {}
    for above in _served(root):
        node, model_id = find(root, (*above, "model", "config")), find(root, (*above, "model", "id"))
        if _names_a_file(node, diagnostics):
            shape = _shape(node, model_id, dotted((*above, "model")), diagnostics)
            if shape is not None:
                shapes[(*above, "model")] = shape
        for field in TEXT_FIELDS:
            place = (*above, *field)
            node = find(root, place)
            if _names_a_file(node, diagnostics):
                text = _text(node, dotted(place), diagnostics)
                if text is not None:
                    texts[place] = text
    return shapes, texts


def read_file(path: FilePath) -> bytes:
    """Return a regular file's bytes, at most one more than a spec may have: enough to tell that it is too large.

    Raises:
        OSError: it cannot be read, or is a folder, a pipe or a device (a pipe would be waited for).
        ValueError: the path has a character that no path can have.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder; name a file in it")
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is not a regular file")
    with path.open("rb") as stream:
        return stream.read(MAX_BYTES + 1)


def reason_of(error: Exception) -> str:
    """Return what went wrong with a file, in words."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def _served(root: MappingNode) -> Iterator[Path]:
    components = find(root, ("components",))
    yield ()
    for index in range(len(components.items) if isinstance(components, SequenceNode) else 0):
        yield ("components", index)


def _names_a_file(node: Node | None, diagnostics: list[Diagnostic]) -> TypeGuard[ScalarNode]:
    # Components share an inherited file; what is wrong with it is said once.
    return (
        isinstance(node, ScalarNode)
        and isinstance(node.value, str)
        and not any(one.mark == node.mark for one in diagnostics)
    )


def _shape(node: ScalarNode, model_id: Node | None, label: str, diagnostics: list[Diagnostic]) -> ModelShape | None:
    written = str(node.value)
    name = model_id.text if isinstance(model_id, ScalarNode) else written
    try:
        config = json.loads(_content(_beside(node)).decode("utf-8-sig"))
        if not isinstance(config, dict):
            raise CatalogError("it holds no JSON object")
        return shape_from_config(config, model_id=name, source=written)
    except (OSError, ValueError, RecursionError, CatalogError) as error:
        _unusable(f"{label}.config", node, error, diagnostics)
        return None


def _text(node: ScalarNode, label: str, diagnostics: list[Diagnostic]) -> str | None:
    try:
        text = _content(_beside(node)).decode("utf-8-sig")
        if not text.strip():
            raise CatalogError("it is empty")
        if "\0" in text:
            raise CatalogError("it holds a zero byte; it is not a text file")
        # One kind of line break, so that the image is the same whatever the checkout does to line ends.
        text = text.replace("\r\n", "\n")
        READERS[str(label.rsplit(".", 1)[-1])](text)
        return text
    except UnicodeDecodeError as error:
        _unusable(label, node, ValueError(f"it is not UTF-8 (byte {error.start})"), diagnostics)
    except (OSError, ValueError, RecursionError, CatalogError) as error:
        _unusable(label, node, error, diagnostics)
    return None


def _beside(node: ScalarNode) -> FilePath:
    return FilePath(node.mark.file).parent / str(node.value)


def _content(path: FilePath) -> bytes:
    data = read_file(path)
    if len(data) > MAX_BYTES:
        raise CatalogError("it is larger than 1 MiB")
    return data


def _unusable(label: str, node: ScalarNode, error: Exception, diagnostics: list[Diagnostic]) -> None:
    message = f"{label}: {_beside(node).as_posix()} cannot be used: {reason_of(error)}"
    hint = f"write the path of a file, relative to {node.mark.file}"
    diagnostics.append(
        Diagnostic(severity="error", message=message, mark=node.mark, hint=hint if isinstance(error, OSError) else None)
    )
