"""Ways to run the commands in tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

from warmstack.cli.app import app


class Runner:
    """Runs the app in this process; ``code`` and ``out`` are the last run's."""

    def __call__(self, *words: str) -> str:
        result = CliRunner().invoke(app, list(words), catch_exceptions=False)
        self.code = result.exit_code
        self.err = result.stderr
        return result.stdout


def process(*words: str, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command as a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", "from warmstack.cli import main; main()", *words],
        cwd=cwd, env={**os.environ, **(env or {})}, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path
