"""The model of a KV cache."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmstack.routing import PrefixCache, chained_block_ids


def test_what_was_inserted_is_matched_up_to_the_first_miss() -> None:
    cache = PrefixCache(10)
    cache.insert([1, 2, 3])
    assert cache.match([1, 2, 3, 4]) == 3
    assert cache.match([1, 9, 3]) == 1
    assert cache.match([9]) == 0
    assert cache.match([]) == 0
    assert cache.match([1, 2, 3]) == 3
    assert (cache.queried_blocks, cache.hit_blocks) == (11, 7)


def test_a_peek_counts_nothing() -> None:
    cache = PrefixCache(10)
    cache.insert([1, 2])
    assert cache.peek([1, 2, 3]) == 2
    assert (cache.queried_blocks, cache.hit_blocks) == (0, 0)


def test_the_last_blocks_of_the_least_recent_prompt_go_first() -> None:
    cache = PrefixCache(5)
    cache.insert([b"a1", b"a2", b"a3"])
    cache.insert([b"b1", b"b2"])
    assert cache.insert([b"c1"]) == 1
    assert cache.peek([b"a1", b"a2", b"a3"]) == 2
    assert cache.peek([b"b1", b"b2"]) == 2
    assert cache.evicted_blocks == 1


def test_a_prompt_that_is_used_again_is_recent() -> None:
    cache = PrefixCache(4)
    cache.insert([1, 2])
    cache.insert([3, 4])
    cache.insert([1, 2])
    cache.insert([5])
    assert cache.peek([1, 2]) == 2
    assert cache.peek([3, 4]) == 1


def test_of_a_prompt_larger_than_the_cache_the_start_is_held() -> None:
    cache = PrefixCache(3)
    cache.insert(range(10))
    assert len(cache) == 3
    assert cache.peek(range(10)) == 3


def test_no_room_holds_nothing() -> None:
    cache = PrefixCache(0)
    cache.insert([1])
    assert len(cache) == 0
    assert cache.match([1]) == 0
    with pytest.raises(ValueError, match="cannot be negative"):
        PrefixCache(-1)


def test_a_copy_that_starts_again_is_empty() -> None:
    cache = PrefixCache(4)
    cache.insert([1, 2])
    cache.match([1])
    cache.clear()
    assert cache.peek([1]) == 0
    assert cache.hit_blocks == 1


prompts = st.lists(st.lists(st.integers(0, 2), max_size=8), max_size=40)


@given(prompts=prompts, capacity=st.integers(0, 12))
def test_a_block_is_never_here_without_those_before_it(prompts: list[list[int]], capacity: int) -> None:
    cache = PrefixCache(capacity)
    chains = [chained_block_ids(prompt, 1) for prompt in prompts]
    for chain in chains:
        cache.insert(chain)
        assert cache.peek(chain) == min(len(chain), capacity)
        assert len(cache) <= capacity
        held = set(cache.least_recent(capacity))
        for other in chains:
            here = [block in held for block in other]
            assert here == sorted(here, reverse=True)


@given(prompts=prompts)
def test_with_room_for_all_a_match_is_the_longest_common_start(prompts: list[list[int]]) -> None:
    cache = PrefixCache(1000)
    for number, prompt in enumerate(prompts):
        longest = 0
        for other in prompts[:number]:
            common = next((i for i, (a, b) in enumerate(zip(prompt, other, strict=False)) if a != b), None)
            longest = max(longest, min(len(prompt), len(other)) if common is None else common)
        chain = chained_block_ids(prompt, 1)
        assert cache.match(chain) == longest
        cache.insert(chain)


def test_ids_are_of_full_blocks_and_of_all_before_them() -> None:
    one = chained_block_ids(range(10), 4)
    assert len(one) == 2
    assert chained_block_ids(range(8), 4) == one
    other = chained_block_ids([9, *range(1, 8)], 4)
    assert other[0] != one[0]
    assert other[1] != one[1]
    assert chained_block_ids([*range(4), 9, 9, 9, 9], 4)[0] == one[0]


def test_ids_of_bytes_seeds_and_refusals() -> None:
    assert len(chained_block_ids(b"abcdefgh", 4)) == 2
    assert chained_block_ids(b"abcd", 4) != chained_block_ids(b"abcd", 4, seed=b"adapter")
    assert chained_block_ids(array("q", [1, 2]), 2) == chained_block_ids([1, 2], 2)
    with pytest.raises(ValueError, match="at least one token"):
        chained_block_ids(b"abcd", 0)


def test_ids_are_the_same_in_every_process() -> None:
    # SHA-256 of the parent's first 8 bytes and the block's tokens as 64-bit numbers, worked out apart from the code.
    assert chained_block_ids([1, 2, 3, 4], 2) == (10031022605184754146, 96811852832899882)
