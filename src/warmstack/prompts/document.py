"""The report as JSON: the same names as the values, lengths in bytes, shares of 0..1."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from warmstack.prompts.report import LintReport

DOCUMENT_VERSION = 1
_ALMOST_ALL = 0.9999


def report_document(report: LintReport) -> dict[str, Any]:
    """Return a report as plain dicts, lists, texts and numbers."""
    return {"version": DOCUMENT_VERSION, **_plain(asdict(report))}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        # Guard: rounding must not make all of less.
        return round(value, 4) if value >= 1 else min(round(value, 4), _ALMOST_ALL)
    return str(value) if isinstance(value, str) else value
