"""Starts processes that signals reach, whatever the caller of the tests has ignored."""

from __future__ import annotations

import sys

_CODE = """
import os, signal, sys
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])
"""

WITH_DEFAULT_SIGNALS = (sys.executable, "-I", "-S", "-c", _CODE)
"""Stands before a command. `nohup` and a shell's `&` ignore signals for all that they start, and for what that starts.

The process keeps its id. A preexec_fn would fork a process that has threads, which Python 3.12 warns of.
"""
