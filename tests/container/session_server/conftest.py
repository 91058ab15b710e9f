"""A session server in front of the stand-in engine, one for each test module that needs no special one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.container.session_server.harness import SESSIONS_ON, Stack, running_stack


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    """Sessions on, adapters on, an engine that answers at once."""
    with running_stack(SESSIONS_ON) as running:
        yield running


@pytest.fixture
def fresh() -> Iterator[Stack]:
    """As `stack`, for one test alone."""
    with running_stack(SESSIONS_ON) as running:
        yield running
