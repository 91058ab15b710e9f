"""Run a command that the kernel kills when its parent dies: ``python -IS tether.py PARENT_PID COMMAND...``.

A script of its own, and not a function between fork and exec: that one would run in a copy of a process with threads.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main() -> None:
    """Tie this process to its parent, and become the command."""
    parent, command = int(sys.argv[1]), sys.argv[2:]
    if sys.platform == "linux":
        # Kept across exec. Children of the engine see its end themselves, or with the container's.
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        # Guard: the parent may have died before the line above; nobody would send the signal then.
        if os.getppid() != parent:
            sys.exit(1)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"session-server: cannot start {command[0]}: {error.strerror}", file=sys.stderr)
        sys.exit(127)


if __name__ == "__main__":
    main()
