"""What the tests of templates share."""

from __future__ import annotations

import pytest

from tests.infrastructure.synthesis import ALL, Synthesized, synthesized


@pytest.fixture(params=ALL, ids=lambda path: path.stem)
def stack(request: pytest.FixtureRequest) -> Synthesized:
    """Every spec's stack: the examples and the extra ones."""
    return synthesized(request.param)
