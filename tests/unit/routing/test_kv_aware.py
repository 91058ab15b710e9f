"""KV_AWARE: what copies hold of a prompt, weighed against how busy they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import pytest

from tests.unit.routing.fleets import fleet, idle, rules
from warmstack.routing import Decision, LongestMatch, Reason, RoutingRequest, RoutingStrategy, choose

BLOCKS = tuple(range(10))


def holding(matches: Mapping[str, int]) -> LongestMatch:
    def longest(copy: str, blocks: Sequence[int | bytes]) -> int:
        assert blocks == BLOCKS
        return matches.get(copy, 0)

    return longest


def decide(loads: Mapping[str, Mapping[str, int]], matches: Mapping[str, int], *, worth: int = 16) -> Decision:
    settings = rules(RoutingStrategy.KV_AWARE, kv_match_worth_requests=worth)
    return choose(RoutingRequest(blocks=BLOCKS), fleet(loads), settings, Random(0), longest_match=holding(matches))


def test_the_longest_match_wins_among_equally_busy() -> None:
    decision = decide({"i-0": {"a": 2}, "i-1": {"b": 2}, "i-2": {"c": 2}}, {"a": 3, "b": 8})
    assert (decision.copy, decision.reason) == ("b", Reason.KV_MATCH)
    assert decision.detail == "b on i-1 holds the first 8 of 10 blocks, with 2 in flight"


@pytest.mark.parametrize(("in_flight", "copy"), [(7, "b"), (9, "a")])
def test_a_longer_match_is_weighed_against_load(in_flight: int, copy: str) -> None:
    # 10 of 10 blocks are worth 16 requests, and 5 of 10 are worth 8: b leads by 8.
    assert decide({"i-0": {"a": 0}, "i-1": {"b": in_flight}}, {"a": 5, "b": 10}).copy == copy


def test_a_copy_that_is_too_busy_loses_to_the_least_outstanding() -> None:
    decision = decide({"i-0": {"a": 16}, "i-1": {"b": 0}}, {"a": 10})
    assert (decision.copy, decision.reason) == ("b", Reason.LEAST_OUTSTANDING)
    assert decision.detail.startswith("the copies that hold the start of its prompt are too busy")
    assert decide({"i-0": {"a": 15}, "i-1": {"b": 0}}, {"a": 10}).copy == "a"


def test_worth_nothing_ignores_the_cache() -> None:
    assert decide({"i-0": {"a": 1}, "i-1": {"b": 0}}, {"a": 10}, worth=0).copy == "b"


def test_no_match_is_least_outstanding() -> None:
    decision = decide({"i-0": {"a": 1}, "i-1": {"b": 0}}, {})
    assert (decision.copy, decision.reason) == ("b", Reason.LEAST_OUTSTANDING)
    assert decision.detail.startswith("no copy holds the start of its prompt")


@pytest.mark.parametrize("blocks", [(), BLOCKS])
def test_nothing_known_is_least_outstanding(blocks: tuple[int, ...]) -> None:
    settings = rules(RoutingStrategy.KV_AWARE)
    decision = choose(RoutingRequest(blocks=blocks), fleet({"i-0": {"a": 1}, "i-1": {"b": 0}}), settings, Random(0))
    assert decision.copy == "b"


def test_equal_matches_go_to_any_of_the_equals() -> None:
    settings = rules(RoutingStrategy.KV_AWARE)
    longest = holding({f"i-{i}/c-0": 10 for i in range(3)})
    random = Random(5)
    found = {
        choose(RoutingRequest(blocks=BLOCKS), fleet(idle(3)), settings, random, longest_match=longest).copy
        for _ in range(40)
    }
    assert len(found) == 3


def test_one_instance_is_enough() -> None:
    assert decide({"i-0": {"a": 0, "b": 1}}, {"b": 10}).copy == "b"
