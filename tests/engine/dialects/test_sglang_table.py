"""The session server in front of a real vLLM, held to the table that it has in front of a simulated engine."""

from __future__ import annotations

import pytest

from tests.engine.dialects.conftest import MODEL, RealCopies, real_time
from tests.unit.local.definitions import model
from tests.unit.local.dialects.golden import EXPIRATION_SECONDS, Bench, Row, run
from tests.unit.local.dialects.sglang_table import ROWS
from warmstack.local.dialects.front import in_front

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row(row: Row, copies: RealCopies) -> None:
    environment = {
        "SAGEMAKER_ENABLE_STATEFUL_SESSIONS": "false" if row.sessions is False else "true",
        "SAGEMAKER_SESSIONS_EXPIRATION": str(EXPIRATION_SECONDS),
    }
    definition = model(server="sglang", image="${Image}", environment=environment)
    container = in_front(definition, copies.without, real=True)
    bench = Bench(container=container, folder=copies.adapter, model=MODEL, pass_time=real_time)
    copies.loop.run(run(row, bench))
