"""The page of the spec language, from its JSON Schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from warmstack.cli.reference.markdown import code, page, sentence, table
from warmstack.spec import RESERVED_KEYS, DeploymentSpec, spec_schema
from warmstack.units import PERCENT_PATTERN, SIZE_PATTERN, TIME_PATTERN

Schema = Mapping[str, Any]

_INTRODUCTION = """\
One YAML file is one deployment: one endpoint. Every key is listed here with its type, its default and its meaning; a
key that is not listed is an error. An editor that understands JSON Schema checks a spec while it is written when its
first line is `# yaml-language-server: $schema=../schemas/deployment.schema.json`.

- **Sizes** are a number and a unit: `400GiB`, `1.5TiB`, `500MB`. `GiB` is 2^30 bytes, `GB` is 10^9 bytes.
- **Times** are a whole number and a unit: `90s`, `20m`, `2h`.
- **Shares** are a whole percentage: `60%`.
- Every key but `extends` may be `null`, which removes it: what a base says of it goes, and its default holds.
- "Required" holds for the merged whole: a file that `extends` another, or a component that inherits from the
  deployment, may leave out what the other says. [Edit a spec](../guides/edit-a-spec.md) has the rules.
- The YAML is the 1.2 core schema. Anchors, aliases, merge keys, tags and the bare words `yes`, `no`, `on` and `off` are
  refused."""

_PATTERNS = {PERCENT_PATTERN: "share", SIZE_PATTERN: "size", TIME_PATTERN: "time"}
_TYPES = {"string": "text", "integer": "whole number", "boolean": "true or false", "number": "number"}


def spec_page() -> str:
    """Return the page with every key: one section for each mapping of the language, outermost first."""
    schema = spec_schema()
    sections = [_section("The root", "", schema, schema)]
    sections += [_section(code(path), path, mapping, schema) for path, mapping in _mappings(schema)]
    reserved = ", ".join(code(key) for key in sorted(RESERVED_KEYS))
    about = f"{reserved} are refused by name: they will get a meaning when there are resources for them."
    sections.append(f"## Reserved keys\n\n{about}")
    return page("Spec", _INTRODUCTION, *sections)


def key_paths() -> Iterator[str]:
    """Yield the path of every key of the language, such as ``endpoint.routing.prefix_length``."""
    schema = spec_schema()
    for path, mapping in (("", schema), *_mappings(schema)):
        for key in mapping["properties"]:
            yield f"{path}.{key}" if path else key


def _mappings(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield every mapping below the root with its path, in the order of the text."""
    yield from _below("", schema, schema)


def _below(path: str, mapping: Schema, root: Schema) -> Iterator[tuple[str, Schema]]:
    for key, prop in mapping["properties"].items():
        here = f"{path}.{key}" if path else key
        if path == "components[]" and key in ("model", "engine", "cache"):
            continue  # the same mapping as the deployment's own, listed once
        inner = _inner(prop, root)
        if inner is not None:
            here += "[]" if any(one.get("type") == "array" for one in _forms(prop)) else ""
            yield here, inner
            yield from _below(here, inner, root)


def _inner(prop: Schema, root: Schema) -> Schema | None:
    """Return the mapping that a property holds, alone, in a list, or beside other forms; None if it holds none."""
    for one in (prop.get("items", {}), *_forms(prop)):
        if "$ref" in one:
            found: Schema = root["$defs"][one["$ref"].rsplit("/", 1)[-1]]
            return found
    return None


def _forms(prop: Schema) -> list[Schema]:
    """Return the forms that a value may have, each of one type. Null is left out: it removes a key and is no value."""
    forms: list[Schema] = []
    for one in prop.get("anyOf") or (prop,):
        types = one["type"] if isinstance(one.get("type"), list) else [one.get("type")]
        forms += [{**one, "type": kind} for kind in types if kind != "null"]
    return forms


def _section(title: str, path: str, mapping: Schema, root: Schema) -> str:
    required = _required(path, mapping, root)
    rows = [_row(key, prop, root, required=key in required) for key, prop in mapping["properties"].items()]
    heading = table(("key", "type", "default", "meaning", "example"), rows)
    return f"## {title}\n\n{_text(mapping.get('description', ''))}\n\n{heading}"


def _required(path: str, mapping: Schema, root: Schema) -> list[str]:
    # The editors' schema demands little, because another file may hold the rest: the model itself knows.
    whole = DeploymentSpec.model_json_schema()
    if not path:
        return list(whole["required"])
    names = [name for name, one in root["$defs"].items() if one is mapping]
    return list(whole["$defs"][names[0]].get("required", ()))


def _row(key: str, prop: Schema, root: Schema, *, required: bool) -> tuple[str, str, str, str, str]:
    inner = _inner(prop, root)
    about = prop.get("description") or (inner or {}).get("description", "")
    text, default = _parts(_text(about))
    if "default" in prop:
        default = code(_written(prop["default"]))
    rule = next((one["x-rule"] for one in (prop, *prop.get("anyOf", ())) if "x-rule" in one), None)
    bounded = any("minimum" in one for one in (prop, *prop.get("anyOf", ())))
    if rule is not None and not bounded and not _says(text, rule):
        text = f"{text} Written as {rule}."
    examples = ", ".join(code(_written(one)) for one in prop.get("examples", ())[:2])
    return code(key), _type(prop, root), "required" if required else default, text, examples


def _says(text: str, rule: str) -> bool:
    """Tell whether a description holds every word of a rule already: "the branch, tag or commit to download"."""
    words = re.compile(r"[\w-]+")
    return set(words.findall(rule.lower())) - {"a", "an", "of"} <= set(words.findall(text.lower()))


def _parts(description: str) -> tuple[str, str]:
    """Return a description without its sentence about the default, and that sentence."""
    match = re.search(r"\s?\bDefault: (?P<default>.+?)\.?$", description)
    if match is None or match.start() == 0:
        return description, ""
    return description[: match.start()].strip(), match["default"]


def _text(description: str) -> str:
    return sentence(description.replace("\n\n", " "))


def _written(value: object) -> str:
    """Return a value as a spec would have it on one line."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _type(prop: Schema, root: Schema) -> str:
    kinds = [_kind(one, root) for one in _forms(prop)]
    text = " or ".join(dict.fromkeys(kinds))
    return f"{text}; {prop['x-unit']}" if "x-unit" in prop and "time" not in kinds else text


def _kind(one: Schema, root: Schema) -> str:
    if "enum" in one:
        return ", ".join(code(choice) for choice in one["enum"] if choice is not None)
    if "$ref" in one:
        return "mapping"
    if one.get("type") == "array":
        return f"list of {_kind(one['items'], root)}s"
    if one.get("type") == "object":
        return "mapping"
    if one.get("pattern") in _PATTERNS:
        return _PATTERNS[one["pattern"]]
    kind = _TYPES[one["type"]]
    if "minimum" in one:
        return f"{kind}, {one['minimum']} to {one['maximum']}"
    if "maxLength" in one:
        return f"{kind}, at most {one['maxLength']} characters"
    return kind
