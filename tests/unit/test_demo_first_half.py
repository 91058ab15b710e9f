"""`make demo`, its first half: what ends it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_ctrl_c_is_no_traceback() -> None:
    program = """
import runpy, subprocess, sys
def interrupted(*_, **__): raise KeyboardInterrupt
subprocess.run = interrupted
sys.argv = ["demo", "specs/rag-prefix-aware.yaml"]
sys.path.insert(0, "scripts")
runpy.run_path("scripts/demo.py", run_name="__main__")
"""
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (130, "")
