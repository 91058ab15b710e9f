"""A spec file → :class:`LoadedSpec`. The one place that reads specs, and what they name, from disk.

Every problem of a file is reported at once: the text first (``reader``), then what the files inherit from each
other, then the language (pydantic), each pointing into the file that holds the text.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath

from pydantic import ValidationError

from warmstack.catalog import ModelShape
from warmstack.spec.deployment import DeploymentSpec
from warmstack.spec.diagnostics import Diagnostic, SpecError
from warmstack.spec.explain import dotted, explain
from warmstack.spec.merge import expand_components, merge
from warmstack.spec.named_files import read_file, read_named, reason_of
from warmstack.spec.reader import read_tree
from warmstack.spec.tree import (
    Entry,
    MappingNode,
    Mark,
    Node,
    Path,
    ScalarNode,
    SequenceNode,
    find,
    is_null,
    locate,
    to_plain,
)

MAX_EXTENDS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedSpec:
    """A valid spec, with the text it came from.

    Args:
        path: the file as the user named it.
        spec: what the user said.
        shapes: the shapes read from ``model.config`` files, by the place of the model in the spec.
        texts: what the other named files hold (chat template, formatters, a draft's config.json), by the place of
            the field that names the file.
        lines: the lines of every file that was read, by the names used in marks.
    """

    path: str
    spec: DeploymentSpec
    shapes: Mapping[Path, ModelShape]
    texts: Mapping[Path, str]
    lines: Mapping[str, Sequence[str]]
    _root: MappingNode

    def mark(self, path: Sequence[str | int]) -> Mark:
        """Return the place of a path in the spec, or of the nearest text above it."""
        return locate(self._root, path)


def load_spec(path: str | FilePath) -> LoadedSpec:
    """Read, merge and validate one spec file.

    Raises:
        SpecError: with every problem that was found.
    """
    reading = _Reading()
    name = FilePath(path).as_posix()
    root = reading.file(FilePath(path), name)
    if root is None:
        raise SpecError(reading.diagnostics, reading.lines)
    _check_names(root, reading)
    _check_inherited_parts(root, reading)
    expanded = expand_components(root)
    spec = _validate(expanded, reading)
    shapes, texts = read_named(expanded, reading.diagnostics)
    if spec is None or reading.diagnostics:
        raise SpecError(reading.diagnostics, reading.lines)
    return LoadedSpec(path=name, spec=spec, shapes=shapes, texts=texts, lines=reading.lines, _root=expanded)


@dataclass(slots=True)
class _Reading:
    diagnostics: list[Diagnostic] = field(default_factory=list)
    lines: dict[str, Sequence[str]] = field(default_factory=dict)
    partial: bool = False

    def error(self, message: str, mark: Mark, hint: str | None = None) -> None:
        self.diagnostics.append(Diagnostic(severity="error", message=message, mark=mark, hint=hint))

    def file(
        self, path: FilePath, name: str, named_at: Mark | None = None, above: tuple[str, ...] = ()
    ) -> MappingNode | None:
        """Return the tree of a file with what it extends merged below it, or None after an error."""
        mark = named_at or Mark(file=name, line=1, column=1)
        data = self._bytes(path, name, mark, above)
        if data is None:
            return None
        result = read_tree(data, name)
        self.lines[name] = result.lines
        self.diagnostics += result.diagnostics
        self.partial = self.partial or result.partial
        root = result.root
        if root is None or "extends" not in root.entries:
            return root
        entry = root.entries["extends"]
        own = MappingNode(entries={key: one for key, one in root.entries.items() if key != "extends"}, mark=root.mark)
        base = self._base(entry, path, name, above)
        self.partial = self.partial or base is None
        return own if base is None else _as_mapping(merge(base, own))

    def _bytes(self, path: FilePath, name: str, mark: Mark, above: tuple[str, ...]) -> bytes | None:
        try:
            return read_file(path)
        except FileNotFoundError:
            hint = _near_file(path) or "`warmstack init NAME` writes a first spec"
            self.error(f"there is no file {name}", mark, None if above else hint)
        except (OSError, ValueError) as error:
            self.error(f"{name} cannot be read: {reason_of(error)}", mark)
        return None

    def _base(self, entry: Entry, path: FilePath, name: str, above: tuple[str, ...]) -> MappingNode | None:
        node = entry.node
        if not isinstance(node, ScalarNode) or not isinstance(node.value, str) or not node.value:
            self.error("extends must be the path of one spec file, relative to this one", node.mark)
            return None
        chain = (*above, _identity(path))
        base_path = path.parent / node.value
        if _identity(base_path) in chain:
            names = " → ".join(FilePath(one).name for one in (*chain, _identity(base_path)))
            self.error(f"extends comes back to a file that it started from: {names}", node.mark)
            return None
        if len(chain) >= MAX_EXTENDS:
            self.error(f"extends is more than {MAX_EXTENDS} files deep", node.mark)
            return None
        base_name = (FilePath(name).parent / node.value).as_posix()
        return self.file(base_path, base_name, node.mark, chain)


def _identity(path: FilePath) -> str:
    """Return what tells one file from another; a path that cannot be resolved stands for itself."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return str(path)


def _as_mapping(node: Node) -> MappingNode:
    assert isinstance(node, MappingNode)  # merge() of two mappings
    return node


def _validate(root: MappingNode, reading: _Reading) -> DeploymentSpec | None:
    try:
        return DeploymentSpec.model_validate(to_plain(root))
    except ValidationError as error:
        # What the text itself has been blamed for is not said again, nor what only a missing part lacks.
        blamed = {(one.mark.file, one.mark.line, one.mark.column) for one in reading.diagnostics}
        reading.diagnostics += [
            one
            for one in explain(error, root, partial=reading.partial)
            if (one.mark.file, one.mark.line, one.mark.column) not in blamed
        ]
        return None


def _check_names(root: MappingNode, reading: _Reading) -> None:
    """Two items of one named list must not share a name: merging and construct ids go by it."""
    components = find(root, ("components",))
    if components is not None and not isinstance(components, SequenceNode):
        return
    if components is not None and not components.items:
        reading.error(
            "components is an empty list",
            locate(root, ("components",)),
            "remove the key: the variant hosts the model",
        )
    lists: list[tuple[str, Node | None]] = [("components", components)]
    for index, item in enumerate(components.items if components is not None else ()):
        lists.append((f"components[{index}].adapters", find(item, ("adapters",))))
    for label, node in lists:
        first: dict[object, int] = {}
        for item in node.items if isinstance(node, SequenceNode) else ():
            name = find(item, ("name",))
            if not isinstance(name, ScalarNode):
                continue
            if name.value in first:
                line = first[name.value]
                reading.error(f"{label} has the name {name.text!r} twice; the first is in line {line}", name.mark)
            first.setdefault(name.value, name.mark.line)


# What belongs to one model and must not reach another by inheritance, and where it stands.
DRAFT_CONFIG: Path = ("engine", "speculative", "draft_config")
_OF_ONE_MODEL = (
    ("weights", ("model", "weights")),
    ("config", ("model", "config")),
    ("quantization", ("model", "quantization")),
    ("chat template", ("model", "chat_template")),
    ("speculative draft", ("engine", "speculative", "draft")),
)


def _check_inherited_parts(root: MappingNode, reading: _Reading) -> None:
    """A component that names another model must say what belongs to it, not inherit the shared model's."""
    components = find(root, ("components",))
    shared_id = find(root, ("model", "id"))
    if not isinstance(components, SequenceNode):
        return
    shared_config = find(root, DRAFT_CONFIG)
    for index, item in enumerate(components.items):
        own_draft = find(item, ("engine", "speculative", "draft"))
        if isinstance(own_draft, ScalarNode) and shared_config is not None and not _says(item, DRAFT_CONFIG):
            reading.error(
                f"components[{index}] names a draft of its own but would inherit the shared draft's config.json",
                own_draft.mark,
                f"write {dotted(DRAFT_CONFIG)} in this component, or null for none",
            )
        own_id = find(item, ("model", "id"))
        if not isinstance(own_id, ScalarNode):
            continue
        if isinstance(shared_id, ScalarNode) and own_id.value == shared_id.value:
            continue
        for what, path in _OF_ONE_MODEL:
            shared = find(root, path)
            if shared is None or is_null(shared) or _says(item, path):
                continue
            reading.error(
                f"components[{index}].model names another model but would inherit the {what} of the shared one",
                own_id.mark,
                f"write {dotted(path)} in this component, or null for none",
            )


def _says(item: Node, path: Path) -> bool:
    """Return whether a component speaks of a path itself: its value, or a null anywhere above it."""
    for end in range(1, len(path) + 1):
        node = find(item, path[:end])
        if node is None:
            return False
        if is_null(node):
            return True
    return True


def _near_file(path: FilePath) -> str | None:
    """Return the question whether another spec is meant: one beside it, or of the folder ``specs`` there."""
    wanted = path.name if path.suffix else f"{path.name}.yaml"
    there = {one.name: one for folder in (path.parent / "specs", path.parent) for one in folder.glob("*.yaml")}
    near = difflib.get_close_matches(wanted, there, n=1, cutoff=0.75)
    return f"did you mean {there[near[0]].as_posix()}?" if near else None
