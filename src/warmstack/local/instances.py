"""Which local endpoints run on this machine: one file for each port, and the process behind it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from warmstack.local.errors import LocalError


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A local endpoint's process.

    Args:
        port: Where it listens.
        host: On which address.
        pid: Its process.
        birth: When that process began, as the system counts: a number that is used again is another process.
    """

    port: int
    host: str
    pid: int
    birth: str

    @property
    def is_alive(self) -> bool:
        """Whether it is still that process."""
        return birth_of(self.pid) == self.birth


def state_folder(environment: Mapping[str, str]) -> Path:
    """Return where the files are: ``$XDG_STATE_HOME/warmstack``, or ``~/.local/state/warmstack``.

    Raises:
        LocalError: There is neither.
    """
    given = environment.get("XDG_STATE_HOME", "")
    try:
        base = Path(given) if given.startswith("/") else Path.home() / ".local" / "state"
    except RuntimeError as error:
        raise LocalError("this user has no home folder; set XDG_STATE_HOME to a folder for local endpoints") from error
    return base / "warmstack"


def birth_of(pid: int) -> str | None:
    """Return when a process began; None if there is none. Elsewhere than on Linux: only that there is one."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return _exists(pid)
    fields = stat.rpartition(")")[2].split()
    # A zombie has ended; its parent has not looked yet.
    return None if fields[0] == "Z" else fields[19]


def _exists(pid: int) -> str | None:
    if Path("/proc/self").exists():
        return None
    with suppress(OSError):
        os.kill(pid, 0)
        return "running"
    return None


def note(folder: Path, host: str, port: int) -> Path:
    """Write down that this process serves a port; return the file.

    Raises:
        LocalError: It cannot be written, or another one serves the port.
    """
    path = folder / f"local-{port}.json"
    other = running_on(folder, port)
    if other is not None and other.pid != os.getpid():
        # Guard: on another address the port is free, and one file cannot name both.
        raise serves_already(other)
    running = Running(port=port, host=host, pid=os.getpid(), birth=birth_of(os.getpid()) or "")
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_text(json.dumps(asdict(running)), encoding="utf-8")
    except OSError as error:
        raise LocalError(f"{path} cannot be written: {error.strerror}; XDG_STATE_HOME names another folder") from error
    return path


def serves_already(running: Running) -> LocalError:
    """Return what to say of a port that a local endpoint or a local AWS serves."""
    return LocalError(
        f"another one serves port {running.port} already (process {running.pid}); `warmstack local down --port "
        f"{running.port}` stops it, --port takes another one"
    )


def run_folder(state: Path, port: int, pid: int) -> Path:
    """Return where the files of a process are that serves a port."""
    return state / "runs" / f"{port}-{pid}"


def make_run_folder(state: Path, port: int) -> Path:
    """Return a folder for the files of this process: logs, sessions, disk tiers. Those of dead ones are removed.

    Raises:
        LocalError: It cannot be made.
    """
    folder = run_folder(state, port, os.getpid())
    runs = folder.parent
    try:
        runs.mkdir(parents=True, exist_ok=True, mode=0o700)
        for left in runs.iterdir():
            pid = left.name.rpartition("-")[2]
            # Guard: a process that was killed removes nothing, and a disk tier is large.
            if pid.isdigit() and birth_of(int(pid)) is None:
                shutil.rmtree(left, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    except OSError as error:
        raise LocalError(f"{folder} cannot be made: {error.strerror}; XDG_STATE_HOME names another folder") from error
    return folder


def running_on(folder: Path, port: int) -> Running | None:
    """Return who serves a port, if it was written down and still lives."""
    try:
        value: Any = json.loads((folder / f"local-{port}.json").read_text(encoding="utf-8"))
        found = Running(**value)
        texts = all(isinstance(value[name], str) for name in ("host", "birth"))
        # Guard: a signal goes to this process, and -1 would be every one.
        whole = texts and isinstance(value["pid"], int) and value["pid"] > 0
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return found if whole and found.is_alive else None
