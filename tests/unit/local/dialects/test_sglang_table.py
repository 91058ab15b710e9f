"""The session server in front of a simulated engine, and SGLang's stock image, held to their tables."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.unit.local.dialects.benches import bench
from tests.unit.local.dialects.golden import EXPIRATION_SECONDS, Row, run
from tests.unit.local.dialects.sglang_table import ROWS, STOCK

ENVIRONMENT = {
    "SAGEMAKER_SESSIONS_EXPIRATION": str(EXPIRATION_SECONDS),
    "SM_SGLANG_CONTEXT_LENGTH": "8192",
    "SM_SGLANG_ENABLE_LORA": "true",
    "SM_SGLANG_SERVED_MODEL_NAME": "acme/model",
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row(row: Row, tmp_path: Path) -> None:
    for sessions in (True, False) if row.sessions is None else (row.sessions,):
        environment = ENVIRONMENT | {"SAGEMAKER_ENABLE_STATEFUL_SESSIONS": str(sessions).lower()}
        asyncio.run(run(row, bench(environment, tmp_path, changes={"server": "sglang", "image": "${Image}"})))


@pytest.mark.parametrize("row", STOCK, ids=lambda row: row.name)
def test_stock_row(row: Row, tmp_path: Path) -> None:
    stock = {"server": "sglang", "image": "763104351884.dkr.ecr.us-west-2.example/sglang:0.5.20-gpu"}
    asyncio.run(run(row, bench(ENVIRONMENT, tmp_path, changes=stock)))
