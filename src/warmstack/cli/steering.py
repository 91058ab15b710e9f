"""Texts of models and services, without what would steer a terminal."""

from __future__ import annotations

import re
import sys
from typing import TextIO

# Guard: escapes in a model's answer could move the cursor, set the window's title or write to the clipboard.
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def shown(text: str, stream: TextIO | None = None) -> str:
    """Return a text as a terminal may get it; a pipe gets every character.

    Args:
        text: Of a model or a service.
        stream: Where it is written; standard output by default.
    """
    return _STEERING.sub("�", text) if (stream or sys.stdout).isatty() else text
