"""The Plan as a document: plain values with stable keys, for `warmstack plan --json`."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from typing import Any

from warmstack.catalog import ModelShape, ServerImage
from warmstack.plan.image_plan import CarriedFiles
from warmstack.plan.model import Plan

DOCUMENT_VERSION = 1
"""Rises when a key changes its meaning or goes; new keys do not raise it."""

# Of the catalog's facts a plan quotes what identifies them; `warmstack catalog` has the rest.
SHAPE_KEYS = ("id", "architecture", "num_layers", "num_attention_heads", "num_key_value_heads", "head_dim")
IMAGE_KEYS = ("server", "version", "engine_version", "cuda")


def plan_document(plan: Plan) -> dict[str, Any]:
    """Return the plan as JSON values: dataclass fields by name, tuples as lists, sizes in bytes."""
    return {"version": DOCUMENT_VERSION, **_plain(plan)}


def _plain(value: Any) -> Any:
    if isinstance(value, ModelShape):
        return {key: _plain(getattr(value, key)) for key in SHAPE_KEYS}
    if isinstance(value, ServerImage):
        return {key: _plain(getattr(value, key)) for key in IMAGE_KEYS}
    if isinstance(value, CarriedFiles):
        # The plan says which files there are; `warmstack render` writes them.
        return {
            "folder": value.folder,
            "lmcache": _plain(value.lmcache),
            "chat_template": _digest(value.chat_template),
            "formatters": _digest(value.formatters),
        }
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    return value


def _digest(text: str | None) -> str | None:
    return None if text is None else f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
