"""Canonical bytes, pinned: a version of orjson, or an edit, that writes them otherwise makes every warm cache cold."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from warmstack.payload import canonical

CASES = Path(__file__).parent / "payload"


@pytest.mark.parametrize("case", sorted(path.name for path in CASES.iterdir()))
def test_bytes(case: str, golden: Callable[[Path, str], None]) -> None:
    body = json.loads((CASES / case / "body.json").read_bytes())
    golden(CASES / case / "expected.json", canonical(body).decode())
