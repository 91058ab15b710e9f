"""The vLLM dialect in front of a simulated engine, held to the table that holds a real vLLM."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.unit.local.dialects.benches import bench
from tests.unit.local.dialects.golden import EXPIRATION_SECONDS, Row, run
from tests.unit.local.dialects.vllm_table import ROWS

ENVIRONMENT = {
    "SAGEMAKER_SESSIONS_EXPIRATION": str(EXPIRATION_SECONDS),
    "SM_VLLM_ENABLE_LORA": "true",
    "SM_VLLM_MAX_MODEL_LEN": "8192",
    "SM_VLLM_SERVED_MODEL_NAME": "acme/model",
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row(row: Row, tmp_path: Path) -> None:
    for sessions in (True, False) if row.sessions is None else (row.sessions,):
        environment = ENVIRONMENT | {"SAGEMAKER_ENABLE_STATEFUL_SESSIONS": str(sessions).lower()}
        asyncio.run(run(row, bench(environment, tmp_path)))
