"""Where requests go: each strategy, each named choice."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from tests.unit.routing.fleets import asking, fleet, idle, key_of, prefix_aware, rules
from warmstack.routing import (
    Candidate,
    HashChoice,
    OneInstance,
    Pin,
    Reason,
    RoutingRequest,
    RoutingRules,
    RoutingStrategy,
    SessionLoad,
    Spill,
    choose,
)

NOTHING = RoutingRequest()


def test_no_candidates_is_the_callers_error() -> None:
    with pytest.raises(ValueError, match="there are no candidates"):
        choose(NOTHING, [], prefix_aware(), Random(0))


@pytest.mark.parametrize(("length", "threshold", "name"), [(None, 4, "prefix_length"), (1024, 0, "concurrency_")])
def test_prefix_aware_needs_its_settings(length: int | None, threshold: int, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        RoutingRules(strategy=RoutingStrategy.PREFIX_AWARE, prefix_length=length, concurrency_threshold=threshold)


def test_random_reaches_every_copy() -> None:
    random = Random(1)
    copies = fleet({"i-0": {"a": 9, "b": 0}, "i-1": {"c": 5}})
    found = Counter(choose(NOTHING, copies, rules(RoutingStrategy.RANDOM), random).copy for _ in range(300))
    assert set(found) == {"a", "b", "c"}
    assert min(found.values()) > 60


def test_least_outstanding_counts_the_copies_of_a_component() -> None:
    copies = fleet({"i-0": {"a": 1, "b": 3}, "i-1": {"c": 2}})
    decision = choose(NOTHING, copies, rules(RoutingStrategy.LEAST_OUTSTANDING_REQUESTS), Random(0))
    assert (decision.copy, decision.instance, decision.reason) == ("a", "i-0", Reason.LEAST_OUTSTANDING)
    assert decision.detail.endswith("least outstanding is a on i-0 with 1 in flight")


def test_least_outstanding_counts_instances_without_components() -> None:
    copies = fleet({"i-0": {"a": 1, "b": 3}, "i-1": {"c": 2}})
    least = rules(RoutingStrategy.LEAST_OUTSTANDING_REQUESTS, per_copy=False)
    assert choose(NOTHING, copies, least, Random(0)).copy == "c"


def test_without_components_the_least_busy_copy_of_the_instance_takes_it() -> None:
    copies = fleet({"i-0": {"a": 2, "b": 1, "c": 2}, "i-1": {"d": 9}})
    least = rules(RoutingStrategy.LEAST_OUTSTANDING_REQUESTS, per_copy=False)
    assert {choose(NOTHING, copies, least, Random(seed)).copy for seed in range(8)} == {"b"}


def test_ties_go_to_any_of_the_tied() -> None:
    random = Random(3)
    least = rules(RoutingStrategy.LEAST_OUTSTANDING_REQUESTS)
    found = Counter(choose(NOTHING, fleet(idle(4)), least, random).copy for _ in range(400))
    assert len(found) == 4
    assert min(found.values()) > 60


def test_one_prefix_stays_on_one_copy_and_prefixes_spread() -> None:
    copies = fleet(idle(4, 2))
    homes = {text: choose(asking(text), copies, prefix_aware(), Random(0)) for text in map(str, range(200))}
    for text, home in homes.items():
        assert choose(asking(text), copies[::-1], prefix_aware(), Random(9)) == home
        assert home.reason is Reason.PREFIX
        assert home.detail == f"prefix {key_of(text)} → {home.copy} on {home.instance}"
    assert len({home.copy for home in homes.values()}) == 8


@pytest.mark.parametrize("spill", Spill)
def test_at_the_threshold_another_copy_of_the_same_instance_comes_first(spill: Spill) -> None:
    loads = idle(3, 3)
    home = choose(asking("x"), fleet(loads), prefix_aware(spill=spill), Random(0))
    loads[home.instance] = dict.fromkeys(loads[home.instance], 3) | {home.copy: 4}
    decision = choose(asking("x"), fleet(loads), prefix_aware(spill=spill), Random(0))
    assert decision.instance == home.instance
    assert decision.copy != home.copy
    assert decision.reason is Reason.PREFIX_SPILL_COPY
    assert f"{home.copy} on {home.instance}, which is at the threshold of 4: spilled to" in decision.detail


@pytest.mark.parametrize("spill", Spill)
def test_another_instance_comes_when_the_whole_instance_is_at_the_threshold(spill: Spill) -> None:
    loads = idle(3, 2)
    home = choose(asking("x"), fleet(loads), prefix_aware(spill=spill), Random(0))
    loads[home.instance] = dict.fromkeys(loads[home.instance], 4)
    decision = choose(asking("x"), fleet(loads), prefix_aware(spill=spill), Random(0))
    assert decision.instance != home.instance
    assert decision.reason is Reason.PREFIX_SPILL_INSTANCE
    assert decision.detail == (
        f"prefix {key_of('x')} → {home.instance}; its 2 copies are at the threshold of 4: "
        f"spilled to {decision.copy} on {decision.instance}"
    )


def test_spill_by_load_takes_the_least_busy_and_spill_by_hash_the_next_of_the_key() -> None:
    loads = idle(6)
    home = choose(asking("x"), fleet(loads), prefix_aware(), Random(0)).copy
    without = [one for one in fleet(loads) if one.copy != home]
    after = choose(asking("x"), without, prefix_aware(), Random(0)).copy
    for instance in loads:
        loads[instance] = {f"{instance}/c-0": 2}
    loads[home.split("/")[0]][home] = 4
    quiet = next(one for one in loads if f"{one}/c-0" not in (home, after))
    loads[quiet] = {f"{quiet}/c-0": 1}
    by_load = choose(asking("x"), fleet(loads), prefix_aware(spill=Spill.LEAST_OUTSTANDING), Random(0))
    by_hash = choose(asking("x"), fleet(loads), prefix_aware(spill=Spill.NEXT_IN_HASH_ORDER), Random(0))
    assert by_load.copy == f"{quiet}/c-0"
    assert by_hash.copy == after


def test_spill_by_hash_on_the_same_instance_takes_the_next_of_the_key() -> None:
    loads = idle(2, 4)
    home = choose(asking("x"), fleet(loads), prefix_aware(), Random(0))
    without = [one for one in fleet(loads) if one.copy != home.copy]
    after = choose(asking("x"), without, prefix_aware(), Random(0)).copy
    loads[home.instance] |= {home.copy: 4, after: 3}
    by_load = choose(asking("x"), fleet(loads), prefix_aware(spill=Spill.LEAST_OUTSTANDING), Random(0)).copy
    by_hash = choose(asking("x"), fleet(loads), prefix_aware(spill=Spill.NEXT_IN_HASH_ORDER), Random(0)).copy
    assert by_load not in (home.copy, after)
    assert by_hash == after


def test_spill_by_hash_passes_over_full_copies_of_the_next_instance() -> None:
    loads = idle(2, 2)
    settings = prefix_aware(spill=Spill.NEXT_IN_HASH_ORDER)
    home = choose(asking("x"), fleet(loads), settings, Random(0)).instance
    other = next(one for one in loads if one != home)
    loads[home] = dict.fromkeys(loads[home], 4)
    first = choose(asking("x"), fleet(loads), settings, Random(0)).copy
    loads[other][first] = 4
    assert choose(asking("x"), fleet(loads), settings, Random(0)).copy in set(loads[other]) - {first}


def test_when_every_copy_is_at_the_threshold_the_least_busy_takes_it() -> None:
    loads = {"i-0": {"a": 7, "b": 6}, "i-1": {"c": 5, "d": 8}}
    for text in map(str, range(20)):
        decision = choose(asking(text), fleet(loads), prefix_aware(), Random(0))
        assert (decision.copy, decision.reason) == ("c", Reason.PREFIX_ALL_FULL)
        assert decision.detail.endswith("and so is every other: c on i-1 has the fewest in flight")


def test_without_components_the_threshold_is_the_instances() -> None:
    settings = prefix_aware(per_copy=False)
    loads = {"i-0": {"a": 0}, "i-1": {"b": 0}}
    home = choose(asking("x"), fleet(loads), settings, Random(0)).instance
    busy = [
        Candidate(
            copy=one.copy, instance=one.instance, in_flight=0, instance_in_flight=4 if one.instance == home else 3
        )
        for one in fleet(loads)
    ]
    decision = choose(asking("x"), busy, settings, Random(0))
    assert decision.instance != home
    assert "it is at the threshold of 4" in decision.detail


def test_other_components_on_the_instance_do_not_count() -> None:
    home = choose(asking("x"), fleet(idle(2)), prefix_aware(), Random(0))
    busy = [
        Candidate(copy=one.copy, instance=one.instance, in_flight=3, instance_in_flight=900) for one in fleet(idle(2))
    ]
    assert choose(asking("x"), busy, prefix_aware(), Random(0)) == home


def test_one_instance_is_not_prefix_aware() -> None:
    copies = fleet({"i-0": {"a": 2, "b": 1, "c": 3}})
    for text in map(str, range(20)):
        decision = choose(asking(text), copies, prefix_aware(), Random(0))
        assert (decision.copy, decision.reason) == ("b", Reason.LEAST_OUTSTANDING)
    assert decision.detail.startswith("PREFIX_AWARE needs two instances, and only i-0 can serve it")


def test_one_instance_at_random() -> None:
    copies = fleet({"i-0": {"a": 2, "b": 1, "c": 3}})
    random = Random(0)
    settings = prefix_aware(one_instance=OneInstance.RANDOM)
    found = {choose(asking("x"), copies, settings, random).copy for _ in range(60)}
    assert found == {"a", "b", "c"}


def test_no_key_goes_to_the_least_outstanding() -> None:
    decision = choose(NOTHING, fleet({"i-0": {"a": 2}, "i-1": {"b": 1}}), prefix_aware(), Random(0))
    assert (decision.copy, decision.reason) == ("b", Reason.LEAST_OUTSTANDING)


def test_sessions_count_towards_the_threshold_unless_told_otherwise() -> None:
    home = choose(asking("x"), fleet(idle(2)), prefix_aware(), Random(0)).copy
    busy = [
        Candidate(copy=one.copy, instance=one.instance, in_flight=4, session_in_flight=1) if one.copy == home else one
        for one in fleet(idle(2))
    ]
    counted = choose(asking("x"), busy, prefix_aware(session_load=SessionLoad.COUNTED), Random(0))
    uncounted = choose(asking("x"), busy, prefix_aware(session_load=SessionLoad.UNCOUNTED), Random(0))
    assert counted.copy != home
    assert uncounted.copy == home


def test_the_ring_and_rendezvous_differ_and_each_is_stable() -> None:
    copies = fleet(idle(5))
    homes = {
        hash_choice: [
            choose(asking(text), copies, prefix_aware(hash=hash_choice), Random(0)).copy for text in map(str, range(80))
        ]
        for hash_choice in HashChoice
    }
    assert homes[HashChoice.RING] != homes[HashChoice.RENDEZVOUS]
    assert all(len(set(found)) == 5 for found in homes.values())


def test_a_session_is_above_the_threshold_and_the_strategy() -> None:
    copies = fleet({"i-0": {"a": 900, "b": 0}, "i-1": {"c": 0}})
    for strategy in RoutingStrategy:
        request = RoutingRequest(key=key_of("x"), pin=Pin(instance="i-0", copy="a"))
        decision = choose(request, copies, rules(strategy), Random(0))
        assert (decision.copy, decision.reason) == ("a", Reason.SESSION)
        assert decision.detail == "its session is on a on i-0"


def test_a_session_whose_copy_is_gone_stays_on_the_instance() -> None:
    copies = fleet({"i-0": {"a": 2, "b": 1}, "i-1": {"c": 0}})
    request = RoutingRequest(pin=Pin(instance="i-0", copy="gone"))
    for strategy in RoutingStrategy:
        assert choose(request, copies, rules(strategy), Random(0)).instance == "i-0"
    decision = choose(request, copies, rules(RoutingStrategy.LEAST_OUTSTANDING_REQUESTS), Random(0))
    assert decision.copy == "b"
    assert decision.detail.startswith("its session is on i-0; among its copies: ")


def test_a_session_without_a_copy_follows_its_prefix_on_the_instance() -> None:
    copies = fleet(idle(2, 4))
    found = {
        choose(RoutingRequest(key=key_of("x"), pin=Pin(instance="i-1")), copies, prefix_aware(), Random(seed)).copy
        for seed in range(10)
    }
    assert len(found) == 1
    spread = {
        choose(RoutingRequest(key=key_of(text), pin=Pin(instance="i-1")), copies, prefix_aware(), Random(0)).copy
        for text in map(str, range(60))
    }
    assert len(spread) == 4


def test_a_session_on_an_instance_without_candidates_is_the_callers_error() -> None:
    with pytest.raises(ValueError, match="no candidate is on i-9, the instance of the live session"):
        choose(RoutingRequest(pin=Pin(instance="i-9")), fleet(idle(2)), prefix_aware(), Random(0))
