"""The set-up: what makes it run again, and what it says when it cannot."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import setup as setup_script

READ = ("pyproject.toml", "package-lock.json", ".npmrc", "scripts/setup.py")


@pytest.fixture
def copy(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that the set-up reads, in a folder of their own."""
    for name in (*READ, *(f"requirements/{path.name}" for path in (root / "requirements").iterdir())):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / name, tmp_path / name)
    monkeypatch.setattr(setup_script, "ROOT", tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["requirements/dev.txt", "package-lock.json", "scripts/setup.py", ".npmrc"])
def test_a_changed_input_makes_it_run_again(copy: Path, name: str) -> None:
    before = setup_script.inputs_hash("dev")
    assert setup_script.inputs_hash("dev") == before
    (copy / name).write_text((copy / name).read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert setup_script.inputs_hash("dev") != before


def test_tool_settings_do_not_make_it_run_again(copy: Path) -> None:
    before = setup_script.inputs_hash("dev")
    text = (copy / "pyproject.toml").read_text(encoding="utf-8")
    (copy / "pyproject.toml").write_text(text.replace("line-length = 120", "line-length = 90"), encoding="utf-8")
    assert setup_script.inputs_hash("dev") == before
    (copy / "pyproject.toml").write_text(text.replace('name = "warmstack"', 'name = "other"'), encoding="utf-8")
    assert setup_script.inputs_hash("dev") != before


def test_a_second_run_installs_nothing(root: Path) -> None:
    stamp = root / ".venv" / "warmstack-setup.json"
    before = stamp.stat().st_mtime_ns
    done = subprocess.run(
        [sys.executable, "scripts/setup.py", "dev"], cwd=root, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert stamp.stat().st_mtime_ns == before


def test_a_clone_that_cannot_be_written_to_is_named(
    copy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(copy / ".venv"))

    monkeypatch.setattr(setup_script, "install", refuse)
    monkeypatch.setattr(sys, "argv", ["setup", "dev"])
    assert setup_script.main() == 1
    told = capsys.readouterr().err
    assert told == f"setup: {copy / '.venv'}: Read-only file system; it installs into the clone's folder\n"


@pytest.mark.parametrize("delay", [0.2, 0.6])
def test_an_interrupt_shows_no_traceback(copy: Path, delay: float) -> None:
    """To the whole group, as a terminal sends it, while the virtual environment is made."""
    command = [sys.executable, "scripts/setup.py", "runtime"]
    with subprocess.Popen(
        command, cwd=copy, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as started:
        assert started.stdout is not None
        assert started.stdout.readline().startswith("setup: creating .venv")
        time.sleep(delay)
        os.killpg(started.pid, signal.SIGINT)
        out, errors = started.communicate(timeout=60)
    assert (started.returncode, out, errors) == (130, "", "setup: interrupted; the next run continues\n")
    # Nothing goes on in the background: the folder stays as it is.
    before = sorted((copy / ".venv").rglob("*"))
    time.sleep(0.3)
    assert sorted((copy / ".venv").rglob("*")) == before


def test_requirements_are_pinned_with_hashes_and_name_no_address(root: Path) -> None:
    files = sorted((root / "requirements").glob("*.txt"))
    assert files
    for path in files:
        text = path.read_text(encoding="utf-8")
        pins = re.findall(r"^[a-z0-9][a-z0-9._\[\]-]*==\S+", text, re.MULTILINE | re.IGNORECASE)
        assert pins, path
        assert text.count("--hash=sha256:") >= len(pins)
        assert "://" not in text
        assert "index-url" not in text
    for name in ("package-lock.json", ".npmrc", "package.json"):
        assert 'resolved":' not in (root / name).read_text(encoding="utf-8")
    assert not (root / "uv.lock").exists()
