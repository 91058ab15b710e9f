"""A real vLLM, held to the table that holds the vLLM dialect of simulated copies."""

from __future__ import annotations

import pytest

from tests.engine.dialects.conftest import MODEL, RealCopies, real_time
from tests.unit.local.dialects.golden import Bench, Row, run
from tests.unit.local.dialects.vllm_table import ROWS

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row(row: Row, copies: RealCopies) -> None:
    container = copies.copy(row.sessions)
    copies.loop.run(run(row, Bench(container=container, folder=copies.adapter, model=MODEL, pass_time=real_time)))
