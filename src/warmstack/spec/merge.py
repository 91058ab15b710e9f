"""How files and components inherit: mappings merge by key, named lists by name, null removes."""

from __future__ import annotations

from warmstack.spec.tree import Entry, MappingNode, Node, ScalarNode, SequenceNode, is_null

# The keys of a component that merge with the deployment's own key of that name.
INHERITED_BY_COMPONENTS = ("model", "engine", "cache")


def merge(base: Node, over: Node) -> Node:
    """Return ``base`` with ``over`` laid on top; every value keeps the mark of the text it came from."""
    if isinstance(base, MappingNode) and isinstance(over, MappingNode):
        entries = dict(base.entries)
        for key, entry in over.entries.items():
            below = entries.get(key)
            node = entry.node if below is None else merge(below.node, entry.node)
            entries[key] = Entry(key_mark=entry.key_mark, node=node)
        return MappingNode(entries=entries, mark=over.mark)
    if isinstance(base, SequenceNode) and isinstance(over, SequenceNode):
        return _merge_named(base, over) or over
    return over


def _merge_named(base: SequenceNode, over: SequenceNode) -> SequenceNode | None:
    """Merge two lists of named mappings: the base's order, then what is new; None if any item has no name."""
    names = [_name(item) for item in (*base.items, *over.items)]
    if None in names:
        return None
    merged: dict[str | None, Node] = {_name(item): item for item in base.items}
    if len(merged) != len(base.items) or len({_name(item) for item in over.items}) != len(over.items):
        return None  # a name stands twice: reported by the loader
    for item in over.items:
        name = _name(item)
        merged[name] = merge(merged[name], item) if name in merged else item
    return SequenceNode(items=tuple(merged.values()), mark=over.mark)


def _name(node: Node) -> str | None:
    if isinstance(node, MappingNode):
        entry = node.entries.get("name")
        if entry is not None and isinstance(entry.node, ScalarNode) and isinstance(entry.node.value, str):
            return entry.node.value
    return None


def expand_components(root: MappingNode) -> MappingNode:
    """Move the shared ``model``, ``engine`` and ``cache`` into each component, by the merge rule.

    Without components the deployment's own keys stand: the variant hosts the model itself.
    """
    listed = root.entries.get("components")
    if listed is None or not isinstance(listed.node, SequenceNode) or not listed.node.items:
        return root
    shared = {key: root.entries[key] for key in INHERITED_BY_COMPONENTS if key in root.entries}
    items = tuple(_expand_one(item, shared) for item in listed.node.items)
    entries = {key: entry for key, entry in root.entries.items() if key not in shared}
    components = SequenceNode(items=items, mark=listed.node.mark)
    entries["components"] = Entry(key_mark=listed.key_mark, node=components)
    return MappingNode(entries=entries, mark=root.mark)


def _expand_one(item: Node, shared: dict[str, Entry]) -> Node:
    if not isinstance(item, MappingNode):
        return item
    entries = dict(item.entries)
    for key, entry in shared.items():
        own = entries.get(key)
        if own is None:
            entries[key] = entry
        elif not is_null(own.node):
            entries[key] = Entry(key_mark=own.key_mark, node=merge(entry.node, own.node))
    return MappingNode(entries=entries, mark=item.mark)
