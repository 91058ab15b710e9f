"""The set-up: what makes it run again, and what it says when it cannot."""

from __future__ import annotations

import errno
import io
import os
import re
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import setup as setup_script
from tests.signals import WITH_DEFAULT_SIGNALS

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


# Stands in for venv, which begins a process of its own to install pip: one that ends when it is killed.
SLOW_VENV = """
import subprocess, sys
subprocess.run([sys.executable, "-c", "import time; print('begun', flush=True); time.sleep(600)"])
"""


@pytest.mark.parametrize("begun", [False, True])
def test_an_interrupt_shows_no_traceback_and_leaves_no_process(copy: Path, begun: bool) -> None:
    """To the whole group, as a terminal sends it, while the virtual environment is made."""
    (copy / "venv.py").write_text(SLOW_VENV, encoding="utf-8")
    command = [sys.executable, "scripts/setup.py", "runtime"]
    with subprocess.Popen(
        [*WITH_DEFAULT_SIGNALS, *command],
        cwd=copy,
        env={name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as started:
        try:
            assert started.stdout is not None
            assert started.stdout.readline().startswith("setup: creating .venv")
            if begun:
                assert started.stdout.readline() == "begun\n"
            os.killpg(started.pid, signal.SIGINT)
            # This reads to the end, which comes when no process holds the pipe any more.
            out, errors = started.communicate(timeout=60)
        finally:
            end_all(copy)
    assert (started.returncode, errors) == (130, "setup: interrupted; the next run continues\n")
    assert out in (("",) if begun else ("", "begun\n"))


def end_all(folder: Path) -> None:
    """End every process that works in the folder."""
    for place in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            if place.readlink() == folder and int(place.parent.name) != os.getpid():
                os.kill(int(place.parent.name), signal.SIGKILL)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C interrupts, also where the caller of the tests has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Watched(subprocess.Popen[str]):
    """Remembers the last one."""

    last: Watched

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        Watched.last = self


class InterruptedAsItBegins(Watched):
    """The command runs, and Ctrl-C comes before the caller knows of it."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        signal.raise_signal(signal.SIGINT)


class InterruptedAsItEnds(Watched):
    """The command has ended, and Ctrl-C comes before the caller knows of it."""

    def wait(self, timeout: float | None = None) -> int:
        fresh = self.returncode is None
        status = super().wait(timeout)
        if fresh:
            signal.raise_signal(signal.SIGINT)
        return status


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(("kind", "seconds"), [(InterruptedAsItBegins, 600), (InterruptedAsItEnds, 0)])
def test_an_interrupt_ends_the_command_whenever_it_comes(
    monkeypatch: pytest.MonkeyPatch, interruptible: None, apart: bool, kind: type[Watched], seconds: int
) -> None:
    monkeypatch.setattr(subprocess, "Popen", kind)
    with pytest.raises(KeyboardInterrupt):
        setup_script.run(["sleep", str(seconds)], "no", apart=apart)
    found = Watched.last.returncode
    Watched.last.kill()
    Watched.last.wait()
    assert found == (-signal.SIGKILL if seconds else 0)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


# Stands in for a Python whose compileall has workers: they outlive one that is killed alone.
WORKING = """#!/bin/sh
exec 9> held
sh -c 'echo begun >&9; exec sleep 600' &
wait
"""


class InterruptedAsItWorks(Watched):
    """Ctrl-C comes when a worker has begun."""

    held: io.FileIO

    def wait(self, timeout: float | None = None) -> int:
        if not hasattr(self, "held"):
            self.held = io.FileIO(os.open("held", os.O_RDONLY | os.O_NONBLOCK))
            assert select.select([self.held], [], [], 60)[0]
            assert self.held.readline() == b"begun\n"
            signal.raise_signal(signal.SIGINT)
        return super().wait(timeout)


def test_an_interrupt_ends_the_workers_that_compile(
    copy: Path, monkeypatch: pytest.MonkeyPatch, interruptible: None
) -> None:
    python = copy / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(WORKING, encoding="utf-8")
    python.chmod(0o755)
    (copy / ".venv" / "lib" / "python3" / "site-packages").mkdir(parents=True)
    os.mkfifo(copy / "held")
    monkeypatch.chdir(copy)
    monkeypatch.setattr(setup_script, "VENV", copy / ".venv")
    monkeypatch.setattr(subprocess, "Popen", InterruptedAsItWorks)
    try:
        with pytest.raises(KeyboardInterrupt):
            setup_script.compile_bytecode()
        held = Watched.last.held  # type: ignore[attr-defined]
        # Its end comes when no process holds the other one any more.
        assert select.select([held], [], [], 60)[0]
        assert held.read() == b""
        held.close()
    finally:
        end_all(copy)


def test_an_ignored_interrupt_is_ignored_by_the_command_too(interruptible: None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    setup_script.run([sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGINT)"], "no")


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
