"""What the tests of templates share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.infrastructure.synthesis import ALL, EXAMPLES, Synthesized, synthesized


@pytest.fixture(params=ALL, ids=lambda path: path.stem)
def stack(request: pytest.FixtureRequest) -> Synthesized:
    """Every spec's stack: the examples and the extra ones."""
    return synthesized(request.param)


@pytest.fixture(params=EXAMPLES, ids=lambda path: path.stem)
def example(request: pytest.FixtureRequest) -> Path:
    """Every example spec."""
    path: Path = request.param
    return path
