"""`make demo` with simulated copies: it deploys, measures, edits a line, and leaves nothing running."""

from __future__ import annotations

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.deploy


def test_the_demo_shows_a_cache_that_gets_warm() -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    command = [sys.executable, "scripts/demo_loop.py", "--engine", "simulated", "--port", str(port)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "demo-local: passed" in done.stdout, "verify"
    rates = [int(one) for one in re.findall(r"([0-9]+)%$", done.stdout, re.MULTILINE)]
    assert len(rates) == 3
    naive, aware, conversation = rates
    # Of four requests about a document the first is cold: three quarters are the most that can be found.
    assert naive < 60
    assert (aware, conversation) == (75, 75)
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0, "it is left running"


def test_a_port_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        command = [sys.executable, "scripts/demo_loop.py", "--engine", "simulated", "--port", port]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    assert f"port {port}" in done.stdout + done.stderr
