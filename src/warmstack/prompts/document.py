"""The report as JSON: the same names as the values, lengths in bytes, shares of 0..1."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from warmstack.prompts.report import LintReport

DOCUMENT_VERSION = 1


def report_document(report: LintReport) -> dict[str, Any]:
    """Return a report as plain dicts, lists, texts and numbers."""
    return {"version": DOCUMENT_VERSION, **_plain(asdict(report))}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return round(value, 4)
    return str(value) if isinstance(value, str) else value
