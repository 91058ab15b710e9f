"""The text of a spec as a tree in which every key and value knows where it stands.

The tree is what merging works on and what every later message points into: pydantic and the checks name a
path such as ``("components", 0, "name")``, :func:`locate` turns it into a file, a line and a column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Path = tuple[str | int, ...]
Plain = str | int | float | bool | None | tuple["Plain", ...] | dict[str, "Plain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A place in a text: file as the user named it, line and column from 1, length in characters."""

    file: str
    line: int
    column: int
    length: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarNode:
    """A scalar: its value by YAML 1.2's core schema, and ``text``, the way it was written."""

    value: str | int | float | bool | None
    text: str
    mark: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceNode:
    """A list."""

    items: tuple[Node, ...]
    mark: Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One key of a mapping with its value."""

    key_mark: Mark
    node: Node


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingNode:
    """A mapping; ``entries`` keeps the order of the text."""

    entries: Mapping[str, Entry] = field(default_factory=dict)
    mark: Mark


Node = ScalarNode | SequenceNode | MappingNode


def is_null(node: Node) -> bool:
    """Return whether the node is an explicit or empty null: in a spec, null removes the key."""
    return isinstance(node, ScalarNode) and node.value is None


def to_plain(node: Node) -> Plain:
    """Return the node as plain Python values; lists become tuples, keys whose value is null are left out."""
    if isinstance(node, ScalarNode):
        return node.value
    if isinstance(node, SequenceNode):
        return tuple(to_plain(item) for item in node.items)
    return {key: to_plain(entry.node) for key, entry in node.entries.items() if not is_null(entry.node)}


def child(node: Node, part: str | int) -> Node | None:
    """Return the value below ``node`` that ``part`` names, or None."""
    if isinstance(node, MappingNode) and isinstance(part, str):
        entry = node.entries.get(part)
        return None if entry is None else entry.node
    if isinstance(node, SequenceNode) and isinstance(part, int) and 0 <= part < len(node.items):
        return node.items[part]
    return None


def find(node: Node, path: Sequence[str | int]) -> Node | None:
    """Return the value at ``path``, or None where the text has none."""
    current: Node | None = node
    for part in path:
        if current is None:
            return None
        current = child(current, part)
    return current


def locate(root: Node, path: Sequence[str | int], *, key: bool = False) -> Mark:
    """Return the place of ``path``, or of its nearest ancestor that the text holds.

    Args:
        root: the whole tree.
        path: keys and list positions from the root.
        key: point at the key instead of at the value.
    """
    current: Node = root
    mark = root.mark
    for position, part in enumerate(path):
        below = child(current, part)
        if below is None:
            break
        last = position == len(path) - 1
        entry = current.entries[part] if isinstance(current, MappingNode) and isinstance(part, str) else None
        if entry is not None and (key or not last or not isinstance(below, ScalarNode)):
            mark = entry.key_mark
        else:
            mark = below.mark
        current = below
    return mark
