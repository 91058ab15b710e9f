"""Small specs for tests of the plan, written as changes of one base."""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path
from typing import Any

import yaml

from warmstack.catalog import load_catalog
from warmstack.plan import Finding, Plan, PlanError, draft_plan
from warmstack.spec import LoadedSpec, load_spec

BASE: dict[str, Any] = {
    "name": "chat",
    "model": {"id": "Qwen/Qwen2.5-7B-Instruct", "weights": {"s3": "s3://acme/qwen/"}, "max_model_len": 8192},
    "engine": {"server": "lmi", "version": "0.38.0-lmi29.0.0-cu130"},
    "endpoint": {"instance_type": "ml.g5.12xlarge"},
}
VLLM: dict[str, Any] = {"engine": {"server": "vllm", "version": "0.30.0"}}
SGLANG: dict[str, Any] = {"engine": {"server": "sglang", "version": "0.5.20"}}


FILES = "files beside the spec"
"""A key of a change that is no part of the spec: texts by file name."""


def changed(*changes: dict[str, Any]) -> dict[str, Any]:
    """Return the base with changes laid on top; None removes a key."""
    result = copy.deepcopy(BASE)
    for change in changes:
        _merge(result, change)
    return result


def _merge(into: dict[str, Any], change: dict[str, Any]) -> None:
    for key, value in change.items():
        if value is None:
            into.pop(key, None)
        elif isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = copy.deepcopy(value)


def loaded(*changes: dict[str, Any]) -> LoadedSpec:
    """Return the changed base as a loaded spec: through the real reader."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "spec.yaml"
        spec = changed(*changes)
        for name, text in spec.pop(FILES, {}).items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        path.write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
        return load_spec(path)


def planned(*changes: dict[str, Any]) -> Plan:
    """Return the plan of the changed base, errors and all."""
    spec = loaded(*changes)
    return draft_plan(spec.spec, load_catalog(), spec.shapes, spec.texts)


def found(*changes: dict[str, Any]) -> tuple[Finding, ...]:
    """Return the findings of the changed base, also where no plan can be made."""
    try:
        return planned(*changes).findings
    except PlanError as error:
        return error.findings
