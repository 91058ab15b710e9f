"""One local AWS for all tests, emptied after each: what moto loads takes seconds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.local.aws.running import Running, running


@pytest.fixture(scope="session")
def shared_aws() -> Iterator[Running]:
    with running() as found:
        yield found


@pytest.fixture
def aws(shared_aws: Running) -> Iterator[Running]:
    try:
        yield shared_aws
    finally:
        shared_aws.empty()
