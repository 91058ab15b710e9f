"""The LMI dialect in front of a simulated engine, held to its table."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.unit.local.dialects.benches import bench
from tests.unit.local.dialects.golden import EXPIRATION_SECONDS, SESSION, Row, run
from tests.unit.local.dialects.lmi_table import ROWS

ENVIRONMENT = {
    "OPTION_ENABLE_LORA": "true",
    "OPTION_ENABLE_STATEFUL_SESSIONS": "true",
    "OPTION_MAX_MODEL_LEN": "8192",
    "OPTION_SESSIONS_EXPIRATION": str(EXPIRATION_SECONDS),
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row(row: Row, tmp_path: Path) -> None:
    asyncio.run(run(row, bench(ENVIRONMENT, tmp_path, name="lmi", header=SESSION, changes={"server": "lmi"})))
