"""One identifier of several: the same one on every machine, evenly spread, and mostly kept when there is one more."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warmstack.payload import PayloadError, checked_prefix_aware_id, shard


def test_known_values() -> None:
    assert [shard("support", f"conversation-{n}", 4) for n in range(6)] == [
        "support~0", "support~1", "support~1", "support~1", "support~0", "support~1",
    ]  # fmt: skip
    assert shard("support", "anything", 1) == "support~0"


def test_another_process_gives_the_same() -> None:
    code = "from warmstack.payload import shard; print(*(shard('a', str(n), 7) for n in range(20)))"
    out = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": "3"}, capture_output=True, text=True, check=True
    ).stdout
    assert out.split() == [shard("a", str(n), 7) for n in range(20)]


@settings(deadline=None)
@given(st.text(max_size=20), st.integers(1, 64))
def test_every_shard_is_one_that_sagemaker_accepts(key: str, shards: int) -> None:
    made = shard("rag", key, shards)
    assert made == checked_prefix_aware_id(made)
    assert 0 <= int(made.removeprefix("rag~")) < shards
    more = shard("rag", key, shards + 1)
    assert more in {made, f"rag~{shards}"}


def test_they_are_evenly_spread() -> None:
    counts = Counter(shard("a", f"user{n}", 8) for n in range(8000))
    assert len(counts) == 8
    assert max(counts.values()) / 1000 < 1.15


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("", "k", 2), "PrefixAwareId is '', 0 characters; SageMaker accepts 1..64: shorten the name"),
        (("x" * 65, "k", 2), f"PrefixAwareId is '{'x' * 40}'…, 65 characters; SageMaker accepts 1..64"),
        (("x" * 63, "k", 2), f"PrefixAwareId is '{'x' * 40}'…, 65 characters; SageMaker accepts 1..64"),
        ((" x", "k", 2), "PrefixAwareId is ' x'; SageMaker refuses white space at its start: leave it out"),
        (("caffè", "k", 2), "PrefixAwareId is 'caff\\xe8'; SageMaker accepts printable ASCII in it: leave out '\\xe8'"),
        (("a\nb", "k", 2), "PrefixAwareId is 'a\\nb'; SageMaker accepts printable ASCII in it: leave out '\\n'"),
        ((7, "k", 2), "PrefixAwareId is 7; it must be text: name the application, such as 'support'"),
        (("a", 7, 2), "key is 7; it must be text: send the conversation's id, str(id)"),
        (("a", "k", 0), "shards is 0; it must be a whole number of 1..10000: take as many"),
        (("a", "k", True), "shards is True; it must be a whole number of 1..10000:"),
        (("a", "k", 2.0), "shards is 2.0; it must be a whole number of 1..10000:"),
    ],
)
def test_what_is_refused(arguments: tuple[Any, Any, Any], message: str) -> None:
    with pytest.raises(PayloadError) as caught:
        shard(*arguments)
    assert message in str(caught.value)


def test_the_longest_that_fits() -> None:
    assert len(shard("x" * 62, "k", 2)) == 64
