"""Values of vLLM's flags: written as arguments, and judged as its parser would."""

from __future__ import annotations

import math
import re

from warmstack.catalog import Flag
from warmstack.local.engines.translation.replacements import Given

_UNITS = {"k": 10**3, "m": 10**6, "g": 10**9, "K": 2**10, "M": 2**20, "G": 2**30}


def flag_arguments(flag: Flag, value: bool | str | tuple[str, ...]) -> list[str]:
    """Return a flag and its value as arguments; a switch that cannot be said to be off is left out."""
    name = flag.name.replace("_", "-")
    if value is True:
        return [f"--{name}"]
    if value is False:
        return [f"--no-{name}"] if flag.has_no_form else []
    return [f"--{name}", *(value if isinstance(value, tuple) else (value,))]


def problem_of(flag: Flag, given: Given) -> str | None:
    """Return what vLLM's parser would say of a value."""
    if isinstance(given.value, bool):
        return None if flag.kind == "bool" else "it has no value"
    values = given.value if isinstance(given.value, tuple) else (given.value,)
    for value in values:
        if flag.choices and value not in flag.choices:
            return f"it is none of {', '.join(flag.choices)}"
        if flag.kind == "int" and count_of(value) is None:
            return "it is no whole number"
    return None


def count_of(text: str) -> int | None:
    """Return a whole number as vLLM reads it (``16k`` is 16,000 and ``16K`` 16,384), or None."""
    found = re.fullmatch(r"(-?\d{1,12})|(\d{1,9}(?:\.\d{1,6})?)([kmgKMG])", text.strip())
    if found is None:
        return None
    whole, part, unit = found.groups()
    number = int(whole) if whole else math.floor(float(part) * _UNITS[unit])
    return max(0, number)
