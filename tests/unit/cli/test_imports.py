"""Commands start fast because they import little: not the CDK, and no AWS client."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

HEAVY = {"aws_cdk", "boto3", "botocore", "constructs", "jsii"}
# Runs a command as its console script does, then tells what it has imported.
PROGRAM = """
import sys
from warmstack.cli import main
try:
    main()
except SystemExit as end:
    assert end.code in (0, None), end.code
print("IMPORTED", *sorted({name.partition(".")[0] for name in sys.modules}))
"""


def _imported(root: Path, arguments: Sequence[str]) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split()[1:])


@pytest.mark.parametrize("command", ["validate", "plan"])
def test_a_command_imports_neither_the_cdk_nor_an_aws_client(root: Path, command: str) -> None:
    imported = _imported(root, [command, "specs/tiered-cache.yaml"])
    assert imported & HEAVY == set()
    assert {"pydantic", "yaml", "warmstack"} <= imported


def test_help_imports_no_specs_and_no_catalog(root: Path) -> None:
    imported = _imported(root, ["--help"])
    assert imported & (HEAVY | {"pydantic", "yaml"}) == set()
    assert "typer" in imported
