"""Fixtures of the command tests: a runner and specs with something wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.runner import Runner, write


@pytest.fixture
def run(root: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    monkeypatch.chdir(root)
    return Runner()


@pytest.fixture
def warned(tmp_path: Path) -> Path:
    """A spec with one warning: no engine.version."""
    return write(
        tmp_path / "warned.yaml",
        "name: chat\nmodel: {id: Qwen/Qwen2.5-7B-Instruct, weights: {s3: s3://acme/q/}}\n"
        "endpoint: {instance_type: ml.g5.12xlarge}\n",
    )


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A spec with a misspelt key."""
    return write(tmp_path / "broken.yaml", "name: chat\nmodle: {id: x}\nendpoint: {instance_type: ml.g5.12xlarge}\n")
