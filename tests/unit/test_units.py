"""Sizes and times, both ways."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstack import units


@pytest.mark.parametrize(
    ("text", "size"),
    [("400GiB", 400 * 2**30), ("1.5TiB", 3 * 2**39), ("500MB", 500_000_000), ("2TB", 2 * 10**12), ("7B", 7)],
)
def test_sizes(text: str, size: int) -> None:
    assert units.parse_size(text) == size


@pytest.mark.parametrize("text", ["400", "GiB", "4 GiB", "-1GiB", "1e3GiB", "1.GiB", "1GIB", "٤GiB", "", "1.2.3GiB"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size"):
        units.parse_size(text)


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("20m", 1200), ("2h", 7200)])
def test_times(text: str, seconds: int) -> None:
    assert units.parse_seconds(text) == seconds
    assert units.format_seconds(seconds) == text


@pytest.mark.parametrize("text", ["90", "1.5h", "1d", "m", "-1s", "1h30m"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time"):
        units.parse_seconds(text)


@given(seconds=st.integers(1, 999_999))
def test_times_read_back(seconds: int) -> None:
    assert units.parse_seconds(units.format_seconds(seconds)) == seconds


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (66.4 * 2**30, "66.4 GiB"),
        (2**40, "1.0 TiB"),
        (5 * 2**20, "5.0 MiB"),
    ],
)
def test_format_bytes(value: float, text: str) -> None:
    assert units.format_bytes(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(7, "7"), (480_000, "480 K"), (2_600_000, "2.6 M"), (671e9, "671 B"), (1_500, "1.5 K")]
)
def test_format_count(value: float, text: str) -> None:
    assert units.format_count(value) == text


def test_format_usd() -> None:
    assert units.format_usd(1234.5) == "$1,234.50"
