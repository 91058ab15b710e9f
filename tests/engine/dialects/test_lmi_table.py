"""The LMI dialect in front of a real vLLM, held to its table."""

from __future__ import annotations

import pytest

from tests.engine.dialects.conftest import MODEL, RealCopies, real_time
from tests.unit.local.definitions import model
from tests.unit.local.dialects.golden import EXPIRATION_SECONDS, SESSION, Bench, Row, run
from tests.unit.local.dialects.lmi_table import ROWS
from warmstack.local.dialects.front import in_front

pytestmark = pytest.mark.engine
ENVIRONMENT = {"OPTION_ENABLE_LORA": "true", "OPTION_SESSIONS_EXPIRATION": str(EXPIRATION_SECONDS)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row(row: Row, copies: RealCopies) -> None:
    container = in_front(model(server="lmi", environment=ENVIRONMENT), copies.without, real=True)
    bench = Bench(
        container=container, folder=copies.adapter, model=MODEL, pass_time=real_time, new_session_header=SESSION
    )
    copies.loop.run(run(row, bench))
