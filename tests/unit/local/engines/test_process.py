"""The processes of engines: what ends them, and that nothing stays behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.local.engines.processes import running_in
from warmstack.local.engines.process import TETHER, TetheredProcess, exit_description

STAND_IN = Path(__file__).with_name("stand_in.py")
# What a process does that starts an engine: it says who the engine and its child are.
PARENT = """
import asyncio, os, sys, time
from pathlib import Path
from warmstack.local.engines.process import TetheredProcess

async def main():
    log = Path(sys.argv[2])
    command = [sys.executable, sys.argv[1], "1"]
    process = await TetheredProcess.start(command, environment=os.environ, log=log, folder=log.parent)
    while not log.read_text().endswith("\\n"):
        await asyncio.sleep(0.01)
    assert log.read_text().split()[0] == str(process.pid)
    print(log.read_text(), end="", flush=True)
    time.sleep(600)

asyncio.run(main())
"""


def is_there(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def eventually(condition: Callable[[], bool], seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


async def start(folder: Path, *arguments: str) -> tuple[TetheredProcess, list[int]]:
    """Return a stand-in for an engine, and the process ids of it and its children."""
    log = folder / "log"
    command = [sys.executable, str(STAND_IN), *arguments]
    process = await TetheredProcess.start(command, environment=os.environ, log=log, folder=folder)
    while not log.read_text(encoding="utf-8").endswith("\n"):
        await asyncio.sleep(0.01)
    return process, [int(one) for one in log.read_text(encoding="utf-8").split()]


def test_a_parent_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(STAND_IN), str(tmp_path / "log")],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        assert parent.stdout is not None
        pids = [int(one) for one in parent.stdout.readline().split()]
        assert len(pids) == 2
        assert all(is_there(pid) for pid in pids)
    finally:
        parent.kill()
        parent.communicate()
    assert eventually(lambda: not any(is_there(pid) for pid in pids)), pids


@pytest.mark.parametrize(("arguments", "status"), [(["2"], -signal.SIGTERM), (["2", "stubborn"], -signal.SIGKILL)])
def test_stop_ends_all_of_it(tmp_path: Path, arguments: list[str], status: int) -> None:
    async def scenario() -> tuple[list[int], int]:
        process, pids = await start(tmp_path, *arguments)
        assert process.returncode is None
        assert process.pid == pids[0]
        return pids, await process.stop(grace_seconds=0.5)

    pids, found = asyncio.run(scenario())
    assert found == status
    assert eventually(lambda: not any(is_there(pid) for pid in pids)), pids


def test_kill_ends_all_of_it_while_another_waits(tmp_path: Path) -> None:
    async def scenario() -> tuple[list[int], int, int]:
        process, pids = await start(tmp_path, "2")
        waiting = asyncio.create_task(process.wait())
        await asyncio.sleep(0)
        return pids, await process.kill(), await waiting

    pids, killed, waited = asyncio.run(scenario())
    assert (killed, waited) == (-signal.SIGKILL, -signal.SIGKILL)
    assert eventually(lambda: not any(is_there(pid) for pid in pids)), pids


def test_what_is_killed_by_others_takes_its_children_along(tmp_path: Path) -> None:
    async def scenario() -> tuple[list[int], int]:
        process, pids = await start(tmp_path, "1")
        os.kill(pids[0], signal.SIGKILL)
        return pids, await process.wait()

    pids, status = asyncio.run(scenario())
    assert status == -signal.SIGKILL
    assert eventually(lambda: not any(is_there(pid) for pid in pids)), pids


def test_a_killed_watcher_takes_the_engine_along(tmp_path: Path) -> None:
    async def scenario() -> tuple[list[int], int]:
        process, pids = await start(tmp_path, "1")
        engine = pids[0]
        watcher = int(Path(f"/proc/{pids[0]}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
        assert watcher != os.getpid()
        os.kill(watcher, signal.SIGKILL)
        # The engine at once, its children when somebody waits for it.
        assert eventually(lambda: not is_there(engine))
        return pids, await process.wait()

    pids, status = asyncio.run(scenario())
    assert status == -signal.SIGKILL
    assert eventually(lambda: not any(is_there(pid) for pid in pids)), pids


def test_status_and_output_are_kept(tmp_path: Path) -> None:
    async def scenario() -> tuple[int, str]:
        script = "import sys; print('\\n'.join(map(str, range(30)))); sys.exit(3)"
        process = await TetheredProcess.start(
            [sys.executable, "-c", script], environment={}, log=tmp_path / "log", folder=tmp_path
        )
        status = await process.wait()
        assert await process.stop(grace_seconds=1) == status
        return status, process.last_lines(2)

    assert asyncio.run(scenario()) == (3, "28\n29")


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    async def scenario() -> tuple[int, str]:
        process = await TetheredProcess.start(
            ["/no/such/program"], environment={}, log=tmp_path / "log", folder=tmp_path
        )
        return await process.wait(), process.last_lines()

    assert asyncio.run(scenario()) == (127, "cannot start /no/such/program: No such file or directory")


@pytest.mark.parametrize(
    ("code", "text"), [(0, "status 0"), (3, "status 3"), (-9, "signal SIGKILL"), (-99, "signal 99")]
)
def test_an_end_in_words(code: int, text: str) -> None:
    assert exit_description(code) == text


def test_a_start_that_is_cancelled_ends_after_what_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, slow = tmp_path / "begun", tmp_path / "slow.py"
    slow.write_text(
        # It takes up its work when the other end of its tether has been let go, and its child is a slow one.
        f"import os, pathlib, runpy, select, sys, time\npathlib.Path({str(begun)!r}).touch()\n"
        "select.select([int(sys.argv[1])], [], [])\nos.setsid = lambda: time.sleep(10)\n"
        f"runpy.run_path({str(TETHER)!r}, run_name='__main__')\n",
        encoding="utf-8",
    )
    monkeypatch.setattr("warmstack.local.engines.process.TETHER", slow)

    async def scenario() -> list[Path]:
        command = [sys.executable, str(STAND_IN)]
        starting = asyncio.create_task(
            TetheredProcess.start(command, environment=os.environ, log=tmp_path / "log", folder=tmp_path)
        )
        while not begun.exists():
            await asyncio.sleep(0.01)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        return running_in(tmp_path)

    assert asyncio.run(scenario()) == []
