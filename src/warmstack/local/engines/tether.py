"""Run a command that ends with whoever started it: ``python -IS tether.py DESCRIPTOR COMMAND...``.

The descriptor is one end of a socket pair; the other is held by the process that started this one, and closes when
that process dies, however it dies. Then the command and everything that it started is killed. Through the socket go the
command's process id, to there, and a byte for each SIGTERM, to here.

A process in between, and not the kernel's signal for the death of a parent: that signal does not reach the processes
that an engine starts itself. A script, and not a function between fork and exec: that one would run in a copy of a
process with threads.
"""

import contextlib
import ctypes
import os
import signal
import socket
import sys
import threading

PR_SET_PDEATHSIG = 1


def main() -> int:
    """Start the command, wait for its end; return its status, 128 and more for a signal."""
    ours, command = socket.socket(fileno=int(sys.argv[1])), sys.argv[2:]
    ours.set_inheritable(False)
    watcher = os.getpid()
    child = os.fork()
    if child == 0:
        _become(command, watcher)
    # Guard: whoever started this may have gone already. That is seen below, where the command is ended and reaped.
    with contextlib.suppress(OSError):
        ours.sendall(b"%d\n" % child)
    threading.Thread(target=_listen, args=(ours, child), daemon=True).start()
    # Guard: without reaping it, so that its number stays its own while its group is killed.
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    _signal_group(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


def _become(command: list[str], watcher: int) -> None:
    os.setsid()
    if sys.platform == "linux":
        # For the case that somebody kills this watcher: then at least the command itself ends.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        # Guard: the watcher may have died before the line above; nobody would send the signal then.
        if os.getppid() != watcher:
            os._exit(1)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"cannot start {command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(127)


def _listen(ours: socket.socket, child: int) -> None:
    with contextlib.suppress(OSError):
        while ours.recv(1):
            _signal_group(child, signal.SIGTERM)
    _signal_group(child, signal.SIGKILL)


def _signal_group(leader: int, number: signal.Signals) -> None:
    # Guard: before the child has become a leader there is no group of its number; it is alone then.
    try:
        os.killpg(leader, number)
    except ProcessLookupError:
        with contextlib.suppress(ProcessLookupError):
            os.kill(leader, number)


if __name__ == "__main__":
    sys.exit(main())
