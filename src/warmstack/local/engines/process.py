"""A process that cannot outlive this one, with its output in a file."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

TETHER = Path(__file__).with_name("tether.py")


class TetheredProcess:
    """A running command, the leader of a process group of its own, that dies with this process.

    Args:
        watcher: The process that holds the other end of the tether.
        tether: This process's end: as long as it is open, the command may run.
        pid: The command's own process id.
        log: The file with its output.
    """

    def __init__(self, watcher: asyncio.subprocess.Process, tether: socket.socket, *, pid: int, log: Path) -> None:
        self._watcher = watcher
        self._tether = tether
        self.pid = pid
        self.log = log

    @classmethod
    async def start(
        cls, command: Sequence[str], *, environment: Mapping[str, str], log: Path, folder: Path
    ) -> TetheredProcess:
        """Start a command.

        Args:
            command: The program and its arguments.
            environment: Its whole environment.
            log: The file that gets its output; made anew.
            folder: Its working folder.
        """
        ours, theirs = socket.socketpair()
        watcher: asyncio.subprocess.Process | None = None
        try:
            with theirs, log.open("wb") as output:
                watcher = await asyncio.create_subprocess_exec(
                    sys.executable,
                    "-IS",
                    str(TETHER),
                    str(theirs.fileno()),
                    *command,
                    env=dict(environment),
                    cwd=folder,
                    stdin=asyncio.subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    pass_fds=(theirs.fileno(),),
                    # Guard: Ctrl-C goes to everything in the terminal's group. This process ends its own in order.
                    start_new_session=True,
                )
            ours.setblocking(False)
            line = await asyncio.get_running_loop().sock_recv(ours, 32)
        except BaseException:
            # Closing it ends whatever came up; who asked for the end finds nothing left of it.
            ours.close()
            if watcher is not None:
                await asyncio.shield(watcher.wait())
            raise
        return cls(watcher, ours, pid=int(line or watcher.pid), log=log)

    @property
    def returncode(self) -> int | None:
        """The status, negative for a signal; None while it runs."""
        code = self._watcher.returncode
        return code if code is None or code <= 128 else 128 - code

    async def wait(self) -> int:
        """Wait for the end; return the status, negative for a signal."""
        await self._watcher.wait()
        code = self.returncode
        if self._watcher.returncode is not None and self._watcher.returncode < 0:
            # Somebody killed the watcher; what the command had started may still be there.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        self._tether.close()
        return 0 if code is None else code

    async def stop(self, *, grace_seconds: float) -> int:
        """End the command and all that it started: SIGTERM, then SIGKILL; return the status.

        Args:
            grace_seconds: How long it has after SIGTERM.
        """
        if self._watcher.returncode is None:
            with suppress(OSError):
                self._tether.send(b"t")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._watcher.wait(), grace_seconds)
        return await self.kill()

    async def kill(self) -> int:
        """End the command and all that it started at once; return the status."""
        self._tether.close()
        return await self.wait()

    def last_lines(self, count: int = 12) -> str:
        """Return the end of the output, to say why it failed."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines() if self.log.is_file() else []
        return "\n".join(lines[-count:])


def exit_description(returncode: int) -> str:
    """Say how a process ended."""
    if returncode >= 0:
        return f"status {returncode}"
    with suppress(ValueError):
        return f"signal {signal.Signals(-returncode).name}"
    return f"signal {-returncode}"
