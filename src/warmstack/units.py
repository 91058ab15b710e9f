"""Sizes and times as people write them, and back.

Sizes are bytes (``int``), times are seconds (``int``). ``GiB`` is 2**30 bytes, ``GB`` is 10**9.
"""

from __future__ import annotations

import re

KIB = 1024
MIB = 1024**2
GIB = 1024**3
TIB = 1024**4
GB = 10**9

_SIZE_UNITS = {
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": GB,
    "TB": 10**12,
    "KiB": KIB,
    "MiB": MIB,
    "GiB": GIB,
    "TiB": TIB,
}
_TIME_UNITS = {"s": 1, "m": 60, "h": 3600}
# Guard: ASCII digits only. `\d` also matches other scripts' digits, which no one means in a spec.
SIZE_PATTERN = r"^[0-9]{1,9}(\.[0-9]{1,6})?(B|KB|MB|GB|TB|KiB|MiB|GiB|TiB)$"
TIME_PATTERN = r"^[0-9]{1,6}(s|m|h)$"
PERCENT_PATTERN = r"^(100|[1-9][0-9]?)%$"


def parse_size(text: str) -> int:
    """Return the bytes that a size such as ``400GiB``, ``1.5TiB`` or ``500MB`` names.

    Raises:
        ValueError: the text is not a number followed by one of B, KB, MB, GB, TB, KiB, MiB, GiB, TiB.
    """
    match = re.fullmatch(r"([0-9.]+)([A-Za-z]+)", text)
    if match is None or re.fullmatch(SIZE_PATTERN, text) is None:
        raise ValueError(f"{text!r} is not a size: write a number and a unit, such as 400GiB or 1.5TiB")
    return round(float(match[1]) * _SIZE_UNITS[match[2]])


def parse_seconds(text: str) -> int:
    """Return the seconds that a time such as ``90s``, ``20m`` or ``2h`` names.

    Raises:
        ValueError: the text is not a whole number followed by s, m or h.
    """
    # Guard: `$` also matches before a line break at the end; a whole match does not.
    if re.fullmatch(TIME_PATTERN, text) is None:
        raise ValueError(f"{text!r} is not a time: write a whole number and a unit, such as 90s, 20m or 2h")
    return int(text[:-1]) * _TIME_UNITS[text[-1]]


def format_bytes(value: float) -> str:
    """Return bytes in the largest binary unit that leaves at least one whole unit: ``66.4 GiB``."""
    for unit, size in (("TiB", TIB), ("GiB", GIB), ("MiB", MIB), ("KiB", KIB)):
        if abs(value) >= size:
            return f"{value / size:.1f} {unit}"
    return f"{value:.0f} B"


def format_count(value: float) -> str:
    """Return a count in a short form: ``480 K``, ``2.6 M``, ``671 B`` (10**9), or the number itself."""
    for unit, size in (("B", 10**9), ("M", 10**6), ("K", 10**3)):
        if abs(value) >= size:
            short = value / size
            return f"{short:.1f} {unit}" if short < 100 else f"{short:.0f} {unit}"
    return f"{value:.0f}"


def format_seconds(value: int) -> str:
    """Return seconds as a spec would write them: ``20m``, ``90s``, ``2h``."""
    for unit, size in (("h", 3600), ("m", 60)):
        if value >= size and value % size == 0:
            return f"{value // size}{unit}"
    return f"{value}s"


def format_usd(value: float) -> str:
    """Return United States dollars with cents: ``$1,234.50``."""
    return f"${value:,.2f}"
