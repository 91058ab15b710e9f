"""YAML as CloudFormation writes it: with ``!Ref`` and its kin.

Every short form becomes its long form. What YAML 1.1 would turn into something that CloudFormation does not have stays
text: dates, numbers with a leading zero, numbers in base sixty.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

LONG_FORMS = {
    "Ref": "Ref",
    "Condition": "Condition",
    **{
        name: f"Fn::{name}"
        for name in (
            "And", "Base64", "Cidr", "Equals", "FindInMap", "GetAZs", "GetAtt", "If", "ImportValue", "Join", "Length",
            "Not", "Or", "Select", "Split", "Sub", "ToJsonString", "Transform",
        )
    },
}  # fmt: skip
# A document of a few lines can stand for billions of values through aliases.
LARGEST_VALUES = 500_000


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers = {  # noqa: RUF012  (PyYAML's own name and form)
        first: [one for one in resolvers if one[0].rsplit(":", 1)[-1] not in {"timestamp", "int", "float"}]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z"), list("-+0123456789"))
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?\Z"), list("-+0123456789")
)


def _short_form(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    if suffix not in LONG_FORMS:
        raise yaml.constructor.ConstructorError(
            None, None, f"!{suffix} is no function of CloudFormation", node.start_mark
        )
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
        if suffix == "GetAtt":
            value = str(value).split(".", 1)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        assert isinstance(node, yaml.MappingNode)
        value = loader.construct_mapping(node, deep=True)
    return {LONG_FORMS[suffix]: value}


_Loader.add_multi_constructor("!", _short_form)


def load_yaml(text: str) -> Any:
    """Return a YAML document with long forms only.

    Raises:
        yaml.YAMLError: It is no YAML, holds a key twice, or stands for more values than a template can have.
    """
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _count(node, {}, set())
        return loader.construct_document(node)
    finally:
        loader.dispose()


def _check_keys(node: yaml.MappingNode) -> None:
    """Refuse a key that is there twice, and let every key be the text that is written."""
    seen: set[str] = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise yaml.constructor.ConstructorError(None, None, "a key is no text", key.start_mark)
        if key.tag == "tag:yaml.org,2002:merge":
            continue
        # Guard: YAML 1.1 reads the key `ON` as true, and environment variables may have such names.
        key.tag = "tag:yaml.org,2002:str"
        if key.value in seen:
            raise yaml.constructor.ConstructorError(None, None, f"the key {key.value!r} is there twice", key.start_mark)
        seen.add(key.value)


def _count(node: yaml.Node, known: dict[int, int], open_nodes: set[int]) -> int:
    """Return for how many values a node stands with every alias written out."""
    if id(node) in known:
        return known[id(node)]
    if id(node) in open_nodes:
        raise yaml.constructor.ConstructorError(None, None, "an alias stands inside its own anchor", node.start_mark)
    open_nodes.add(id(node))
    total = 1
    if isinstance(node, yaml.SequenceNode):
        total += sum(_count(one, known, open_nodes) for one in node.value)
    elif isinstance(node, yaml.MappingNode):
        # Before anything is constructed: merge keys put a key into a mapping again.
        _check_keys(node)
        total += sum(_count(one, known, open_nodes) for pair in node.value for one in pair)
    open_nodes.discard(id(node))
    if total > LARGEST_VALUES:
        raise yaml.constructor.ConstructorError(
            None, None, f"its aliases stand for more than {LARGEST_VALUES} values", node.start_mark
        )
    known[id(node)] = total
    return total
