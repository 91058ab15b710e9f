"""Where and how the commands print."""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console


def console(width: int | None = None) -> Console:
    """Return a console for standard output: colours only on a terminal, 120 columns when piped."""
    return Console(width=width or (None if sys.stdout.isatty() else 120), highlight=False, soft_wrap=False)


def print_json(value: Any) -> None:
    """Write a value as JSON: two spaces, UTF-8, keys in their own order."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
