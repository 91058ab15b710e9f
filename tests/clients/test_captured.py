"""The clients send what is recorded. Needs `.venv-clients`: `make test-clients`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-clients" / "bin" / "python"
RECORDED = ROOT / "tests" / "data" / "client_bodies"
pytestmark = pytest.mark.clients


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bodies")
    sources = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    environment = {"HOME": str(folder / "home"), "PATH": os.environ["PATH"], "PYTHONPATH": sources}
    command = [PYTHON, "-W", "ignore", ROOT / "tests" / "clients" / "capture.py", folder]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_each_client_sends_the_bytes_that_are_recorded(captured: Path, request: pytest.FixtureRequest) -> None:
    found = {path.name: path.read_bytes() for path in sorted(captured.glob("*.jsonl"))}
    if request.config.getoption("--update-goldens"):
        for name, content in found.items():
            (RECORDED / name).write_bytes(content)
    recorded = {path.name: path.read_bytes() for path in sorted(RECORDED.glob("*.jsonl"))}
    assert list(found) == list(recorded)
    for name, content in found.items():
        assert content == recorded[name], f"{name}: this version of the client sends other bytes than are recorded"
