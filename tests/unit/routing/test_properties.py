"""What holds for every fleet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.routing.fleets import asking, fleet, idle, key_of, prefix_aware, rules
from warmstack.routing import BlockId, Candidate, HashChoice, Pin, RoutingRequest, RoutingStrategy, Spill, choose

THRESHOLD = 4
texts = st.text(max_size=20)
loads = st.dictionaries(
    st.sampled_from([f"i-{i}" for i in range(6)]),
    st.lists(st.integers(0, 2 * THRESHOLD), min_size=1, max_size=4),
    min_size=1,
    max_size=6,
).map(lambda fleet_: {name: {f"{name}/c-{c}": n for c, n in enumerate(counts)} for name, counts in fleet_.items()})
choices = st.fixed_dictionaries({"hash": st.sampled_from(HashChoice), "spill": st.sampled_from(Spill)})


def holding(copy: str, blocks: Sequence[BlockId]) -> int:
    return len(copy) % (len(blocks) + 1)


def load_of(one: Candidate, *, per_copy: bool) -> int:
    return one.in_flight if per_copy else one.instance_in_flight


@given(text=texts, loads=loads, choices=choices, seeds=st.tuples(st.integers(), st.integers()))
def test_under_the_threshold_a_prefix_keeps_its_copy(
    text: str, loads: dict[str, dict[str, int]], choices: dict[str, Any], seeds: tuple[int, int]
) -> None:
    under = {name: {copy: min(n, THRESHOLD - 1) for copy, n in copies.items()} for name, copies in loads.items()}
    under["i-z"] = {"z": 0}  # a second instance, whatever was drawn
    empty = {name: dict.fromkeys(copies, 0) for name, copies in under.items()}
    rules_ = prefix_aware(threshold=THRESHOLD, **choices)
    busy, calm = fleet(under), fleet(empty)
    Random(seeds[0]).shuffle(busy)
    first = choose(asking(text), busy, rules_, Random(seeds[0]))
    assert choose(asking(text), calm, rules_, Random(seeds[1])).copy == first.copy


@pytest.mark.parametrize("hash_choice", HashChoice)
@given(text=texts, instances=st.integers(2, 8), copies=st.integers(1, 4))
def test_when_an_instance_joins_a_key_stays_or_moves_to_it(
    hash_choice: HashChoice, text: str, instances: int, copies: int
) -> None:
    rules_ = prefix_aware(hash=hash_choice)
    before = choose(asking(text), fleet(idle(instances, copies)), rules_, Random(0))
    after = choose(asking(text), fleet(idle(instances + 1, copies)), rules_, Random(0))
    assert after.copy == before.copy or after.instance == f"i-{instances}"


@pytest.mark.parametrize("hash_choice", HashChoice)
@given(text=texts, instances=st.integers(3, 8), copies=st.integers(1, 4), data=st.data())
def test_when_an_instance_leaves_only_its_keys_move(
    hash_choice: HashChoice, text: str, instances: int, copies: int, data: st.DataObject
) -> None:
    rules_ = prefix_aware(hash=hash_choice)
    whole = idle(instances, copies)
    gone = data.draw(st.sampled_from(sorted(whole)))
    before = choose(asking(text), fleet(whole), rules_, Random(0))
    del whole[gone]
    after = choose(asking(text), fleet(whole), rules_, Random(0))
    assert after.copy == before.copy or before.instance == gone


@pytest.mark.parametrize("hash_choice", HashChoice)
@given(text=texts, copies=st.integers(2, 6), data=st.data())
def test_when_a_copy_leaves_or_joins_only_its_keys_move(
    hash_choice: HashChoice, text: str, copies: int, data: st.DataObject
) -> None:
    rules_ = prefix_aware(hash=hash_choice)
    whole = idle(3, copies)
    with_it = choose(asking(text), fleet(whole), rules_, Random(0))
    instance = data.draw(st.sampled_from(sorted(whole)))
    gone = data.draw(st.sampled_from(sorted(whole[instance])))
    del whole[instance][gone]
    without = choose(asking(text), fleet(whole), rules_, Random(0))
    assert with_it.copy in (without.copy, gone)
    assert without.instance == with_it.instance


@given(
    text=st.none() | texts, loads=loads, choices=choices, seed=st.integers(), per_copy=st.booleans(), wide=st.booleans()
)
def test_nothing_without_a_session_goes_above_the_threshold_while_a_copy_is_under_it(
    *,
    text: str | None,
    loads: dict[str, dict[str, int]],
    choices: dict[str, Any],
    seed: int,
    per_copy: bool,
    wide: bool,
) -> None:
    if wide:
        loads = loads | {"i-z": {"z": THRESHOLD}}
    request = RoutingRequest() if text is None else asking(text)
    candidates = fleet(loads)
    decision = choose(
        request, candidates, prefix_aware(threshold=THRESHOLD, per_copy=per_copy, **choices), Random(seed)
    )
    chosen = next(one for one in candidates if one.copy == decision.copy)
    if load_of(chosen, per_copy=per_copy) >= THRESHOLD:
        fewest = min(load_of(one, per_copy=per_copy) for one in candidates)
        assert fewest >= THRESHOLD
        assert load_of(chosen, per_copy=per_copy) == fewest


@given(
    text=st.none() | texts,
    loads=loads,
    strategy=st.sampled_from(RoutingStrategy),
    seed=st.integers(),
    data=st.data(),
    per_copy=st.booleans(),
)
def test_a_live_session_never_leaves_its_instance(
    *,
    text: str | None,
    loads: dict[str, dict[str, int]],
    strategy: RoutingStrategy,
    seed: int,
    data: st.DataObject,
    per_copy: bool,
) -> None:
    home = data.draw(st.sampled_from(sorted(loads)))
    copy = data.draw(st.none() | st.just("gone") | st.sampled_from(sorted(loads[home])))
    request = RoutingRequest(key=None if text is None else key_of(text), pin=Pin(instance=home, copy=copy))
    decision = choose(request, fleet(loads), rules(strategy, per_copy=per_copy), Random(seed))
    assert decision.instance == home
    assert copy not in loads[home] or decision.copy == copy


@given(
    text=st.none() | texts,
    loads=loads,
    strategy=st.sampled_from(RoutingStrategy),
    seed=st.integers(),
    per_copy=st.booleans(),
)
def test_equal_seeds_give_equal_decisions(
    text: str | None, loads: dict[str, dict[str, int]], strategy: RoutingStrategy, seed: int, per_copy: bool
) -> None:
    request = RoutingRequest(key=None if text is None else key_of(text), blocks=(1, 2, 3))
    settings_ = rules(strategy, per_copy=per_copy)
    one, other = Random(seed), Random(seed)
    for _ in range(3):
        first, second = (
            choose(request, fleet(loads), settings_, random, longest_match=holding) for random in (one, other)
        )
        assert first == second


@settings(max_examples=5, deadline=None)
@given(salt=st.integers(0, 2**32))
def test_rendezvous_is_balanced(salt: int) -> None:
    copies = fleet(idle(4, 2))
    found = Counter(
        choose(asking(f"{salt} {number}"), copies, prefix_aware(), Random(0)).copy for number in range(1600)
    )
    assert len(found) == 8
    # 200 each; six standard deviations of a fair draw.
    assert max(abs(count - 200) for count in found.values()) < 80


def test_a_ring_is_balanced_by_its_many_points() -> None:
    rules_ = prefix_aware(hash=HashChoice.RING)
    found = Counter(choose(asking(str(number)), fleet(idle(8)), rules_, Random(0)).copy for number in range(4000))
    assert max(found.values()) < 1.3 * 500


@pytest.mark.parametrize(("hash_choice", "most"), [(HashChoice.RENDEZVOUS, 0.15), (HashChoice.RING, 0.2)])
def test_a_ninth_instance_takes_its_share(hash_choice: HashChoice, most: float) -> None:
    rules_ = prefix_aware(hash=hash_choice)
    eight, nine = fleet(idle(8)), fleet(idle(9))
    moved = sum(
        choose(asking(text), eight, rules_, Random(0)).copy != choose(asking(text), nine, rules_, Random(0)).copy
        for text in map(str, range(2000))
    )
    assert 0.06 < moved / 2000 < most  # a ninth is .111
