"""Files of formatters, written where a test needs them."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

HEADER = "from warmstack_formatters import input_formatter, output_formatter\n"
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file of formatters; ``folder`` puts it into a folder of its own."""

    def write_file(text: str, folder: str = "", *, header: str = HEADER) -> Path:
        path = tmp_path / folder / "formatters.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(header + textwrap.dedent(text), encoding="utf-8")
        return path

    return write_file
