"""The image's script for older drivers: run when the stock entrypoint would run it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from session_server.engine_process import run_cuda_compat


@pytest.mark.parametrize(("tools", "runs"), [(("nvidia-smi", "nvcc"), True), (("nvidia-smi",), False), ((), False)])
def test_it_runs_with_a_gpus_tools_only(
    tools: tuple[str, ...], runs: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tool in tools:
        (tmp_path / tool).write_text("#!/bin/sh\n", encoding="utf-8")
        (tmp_path / tool).chmod(0o755)
    script = tmp_path / "compat.sh"
    script.write_text(f"echo ran > {tmp_path}/ran\n", encoding="utf-8")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")
    asyncio.run(run_cuda_compat(script))
    assert (tmp_path / "ran").exists() is runs


def test_an_image_without_it_is_fine(tmp_path: Path) -> None:
    asyncio.run(run_cuda_compat(tmp_path / "absent.sh"))
