"""Stands in for an engine: ``stand_in.py CHILDREN`` starts processes that ignore SIGTERM, and says who they are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

SLEEPER = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


def main() -> None:
    children = [subprocess.Popen([sys.executable, "-c", SLEEPER]) for _ in range(int(sys.argv[1]))]
    if len(sys.argv) > 2:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(os.getpid(), *(child.pid for child in children), flush=True)
    time.sleep(600)


if __name__ == "__main__":
    main()
