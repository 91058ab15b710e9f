"""The JSON Schema of the language (draft 2020-12), for editors."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from typing import Any

from pydantic import BaseModel

from warmstack.spec.deployment import RESERVED_KEYS, DeploymentSpec
from warmstack.spec.explain import all_models

DIALECT = "https://json-schema.org/draft/2020-12/schema"
# With `extends` the base may hold these, so an editor must not demand them of every file.
_REQUIRED_AT_ROOT = ("name", "endpoint")


def spec_schema() -> dict[str, Any]:
    """Return the schema of one spec file.

    A file that extends another may leave out what the base says, and a component may leave out what the
    deployment says; the loader checks the merged whole. What must be in a list item is its name.
    """
    schema = DeploymentSpec.model_json_schema(mode="validation")
    # A tier's two forms: a size, or a mapping with the size and more.
    disk = schema["$defs"]["TiersSpec"]["properties"]["disk"]
    short = schema["$defs"]["DiskTier"]["properties"]["size"]["anyOf"]
    disk["anyOf"] = [*short, {"$ref": disk.pop("$ref")}]
    models = {model.__name__: model for _, model in all_models(DeploymentSpec)}
    _describe(schema, DeploymentSpec)
    for name, definition in schema["$defs"].items():
        _tidy(definition)
        if name not in ("AdapterSpec", "ComponentSpec"):
            definition["type"] = [definition["type"], "null"]
        if name in models:
            _describe(definition, models[name])
        if name not in ("AdapterSpec", "ComponentSpec", "SpeculativeSpec"):
            definition.pop("required", None)
        elif name == "ComponentSpec":
            definition["required"] = ["name"]
    _tidy(schema)
    schema.pop("required", None)
    schema["properties"]["extends"] = {
        "type": "string",
        "description": "Another spec file, relative to this one, that this one is laid on top of.",
        "examples": ["bases/assistant.yaml"],
    }
    schema["properties"]["components"]["minItems"] = 1
    schema["if"] = {"not": {"required": ["extends"]}}
    schema["then"] = {"required": list(_REQUIRED_AT_ROOT)}
    schema["$comment"] = f"Reserved, refused until supported: {', '.join(sorted(RESERVED_KEYS))}."
    return {"$schema": DIALECT, **schema}


def schema_text() -> str:
    """Return the schema as the file that is checked in: two spaces, UTF-8, a line break at the end."""
    return json.dumps(spec_schema(), indent=2, ensure_ascii=False) + "\n"


def _tidy(definition: dict[str, Any]) -> None:
    """Drop what pydantic makes up: titles from names, defaults in their parsed form."""
    definition.pop("title", None)
    for prop in definition.get("properties", {}).values():
        prop.pop("title", None)
        if prop.get("default") is None or isinstance(prop["default"], dict | list):
            # Parsed values: what a user would write is in the description.
            prop.pop("default", None)
        _allow_null(prop)


def _allow_null(schema: dict[str, Any]) -> None:
    """Let a key be null, which removes it; and let a mapping have no keys but those that its pattern allows."""
    if "patternProperties" in schema:
        schema["additionalProperties"] = False
        for inner in schema["patternProperties"].values():
            _allow_null(inner)
    if "$ref" in schema:
        return  # the definition itself may be null: an error then names the key, and not a union
    if "anyOf" in schema:
        if {"type": "null"} not in schema["anyOf"]:
            schema["anyOf"].append({"type": "null"})
    elif "type" in schema:
        schema["type"] = [schema["type"], "null"]
        if "enum" in schema:
            schema["enum"] = [*schema["enum"], None]


def _describe(definition: dict[str, Any], model: type[BaseModel]) -> None:
    """Give every property the string that stands below its field in the source."""
    texts = field_texts(model)
    for name, prop in definition["properties"].items():
        prop["description"] = texts[name]


def field_texts(model: type[BaseModel]) -> dict[str, str]:
    """Return the string that stands below each field of a model in its source, on one line."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    assert isinstance(tree, ast.ClassDef)
    texts: dict[str, str] = {}
    for field, text in zip(tree.body, tree.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
        ):
            texts[field.target.id] = " ".join(str(text.value.value).split())
    return texts
