"""The set-up of the clients' environment: stamped at its end, and nothing to do where the stamp is current."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import clients


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Any]:
    """The commands that were run, in an environment of the test's own."""
    found: list[Any] = []
    monkeypatch.setattr(clients, "PROJECT_PYTHON", Path(sys.executable))
    monkeypatch.setattr(clients, "VENV", tmp_path)
    monkeypatch.setattr(clients, "STAMP", tmp_path / "stamp")
    monkeypatch.setattr(subprocess, "run", lambda command, **_: found.append(command))
    return found


def test_a_second_run_does_nothing_and_other_pins_start_anew(
    started: list[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert clients.main() == 0
    assert len(started) == 2
    assert "--require-hashes" in started[1]
    assert clients.main() == 0
    assert len(started) == 2
    pins = tmp_path / "clients.txt"
    pins.write_text("openai==1.0.0\n", encoding="utf-8")
    monkeypatch.setattr(clients, "REQUIREMENTS", pins)
    assert clients.main() == 0
    assert len(started) == 4


@pytest.mark.usefixtures("started")
@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (subprocess.CalledProcessError(2, "uv"), 1, "clients: a command failed (2); its message is above\n"),
        (KeyboardInterrupt(), 130, "clients: interrupted; the next run starts anew\n"),
    ],
)
def test_a_run_that_fails_leaves_no_stamp(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    status: int,
    said: str,
) -> None:
    def fail(command: Any, **_: Any) -> None:
        raise error

    monkeypatch.setattr(subprocess, "run", fail)
    assert clients.main() == status
    assert capsys.readouterr().err == said
    assert not clients.STAMP.exists()
