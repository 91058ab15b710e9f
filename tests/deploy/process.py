"""`warmstack local aws` in a process of its own, with folders of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

WAIT_SECONDS = 60


def local(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of `warmstack local`."""
    command = [sys.executable, "-m", "warmstack", "local", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=WAIT_SECONDS, check=False)


def local_aws(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of `warmstack local aws`."""
    return local(environment, "aws", *arguments)


@contextmanager
def serving(
    environment: dict[str, str], port: int, *options: str
) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """A local AWS in a process of its own, and the variables that lead to it."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "warmstack",
            "local",
            "aws",
            "up",
            "--engine",
            "simulated",
            "--port",
            str(port),
            "--json",
            *options,
        ],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout
        line = process.stdout.readline()
        assert line, process.communicate(timeout=WAIT_SECONDS)[1]
        yield process, json.loads(line)["environment"]
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=WAIT_SECONDS)
