"""Counts of byte lengths up to a limit: exact quantiles of any number of them, in a fixed amount of memory."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from math import ceil

LONGEST = 65_536
"""Bytes: the largest prefix_length that SageMaker takes. What is longer counts as this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """Quantiles of lengths, in bytes; 65,536 stands for that and more.

    Args:
        count: how many lengths there are.
        p1: the length that 1 % do not exceed.
        p10: the one that 10 % do not exceed.
        p50: the median.
        p90: the one that 90 % do not exceed.
        p99: the one that 99 % do not exceed.
    """

    count: int
    p1: int
    p10: int
    p50: int
    p90: int
    p99: int


class Histogram:
    """Lengths, counted."""

    def __init__(self) -> None:
        self._counts = array("Q", bytes(8 * (LONGEST + 1)))
        self._total = 0

    def add(self, length: int) -> None:
        """Count a length."""
        self._counts[min(length, LONGEST)] += 1
        self._total += 1

    def quantiles(self) -> Quantiles | None:
        """Return the quantiles, or None where there is nothing."""
        if not self._total:
            return None
        wanted = [max(1, ceil(self._total * share)) for share in (0.01, 0.1, 0.5, 0.9, 0.99)]
        found: list[int] = []
        seen = 0
        for length, count in enumerate(self._counts):
            seen += count
            while len(found) < len(wanted) and seen >= wanted[len(found)]:
                found.append(length)
        p1, p10, p50, p90, p99 = found
        return Quantiles(count=self._total, p1=p1, p10=p10, p50=p50, p90=p90, p99=p99)
