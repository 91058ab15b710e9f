"""Routing as clients meet it: what the journal says of real boto3's requests."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.unit.local.clients import chat, runtime, whole
from tests.unit.local.definitions import PREFIX_AWARE, component, endpoint, variant
from tests.unit.local.running import Local, running
from warmstack.assembly import RoutingDefinition
from warmstack.local.platform.fault_orders import FaultOrder, inflict

SHARED = "the same beginning " * 200


def invoke(local: Local, text: str = "hello", **arguments: str) -> dict[str, Any]:
    names = {"EndpointName": "demo", "ContentType": "application/json"} | arguments
    return whole(runtime(local.url).invoke_endpoint(Body=chat(text), **names))


def went(local: Local) -> tuple[str | None, str]:
    entry = next(local.services.journal.newest_first())
    return entry.copy, entry.reason


def test_one_prefix_is_one_copy_and_many_are_spread(tmp_path: Path) -> None:
    with running(endpoint(variants=(variant(routing=PREFIX_AWARE, instances=4),)), folder=tmp_path) as local:
        places = set()
        for question in range(5):
            invoke(local, SHARED + str(question))
            places.add(went(local))
        assert len(places) == 1
        assert {reason for _, reason in places} == {"prefix"}
        spread = Counter[str | None]()
        for number in range(40):
            invoke(local, f"beginning {number} " * 200)
            spread[went(local)[0]] += 1
        assert len(spread) == 4


def test_an_identifier_parts_equal_prefixes(tmp_path: Path) -> None:
    with running(endpoint(variants=(variant(routing=PREFIX_AWARE, instances=8),)), folder=tmp_path) as local:
        places = {}
        for name in [f"team-{number}" for number in range(8)] * 2:
            invoke(local, SHARED, PrefixAwareId=name)
            assert places.setdefault(name, went(local)) == went(local)
        assert len(set(places.values())) > 1


def test_on_one_instance_there_is_nothing_to_route_by_prefix(tmp_path: Path) -> None:
    with running(endpoint(variants=(variant(routing=PREFIX_AWARE, instances=1),)), folder=tmp_path) as local:
        invoke(local, SHARED)
        assert went(local)[1] == "least_outstanding"


def busy(local: Local, count: int, **arguments: str) -> list[tuple[str | None, str]]:
    """Send requests at once to copies that answer once each has one: all are in flight together."""
    journal = local.services.journal
    assert journal.count == 0
    copies = [copy for one in local.platform.endpoints.values() for copy in one.copies]
    for copy in copies:
        local.run(inflict(local.platform, FaultOrder(fault="hang", target=copy)))
    with ThreadPoolExecutor(count) as pool:
        futures = [pool.submit(invoke, local, SHARED + str(number), **arguments) for number in range(count)]
        local.until(lambda: sum(one.copy is not None for one in journal.newest_first()) == count)
        for copy in copies:
            local.run(inflict(local.platform, FaultOrder(fault="heal", target=copy)))
        for future in futures:
            future.result(60)
    return [(one.copy, one.reason) for one in sorted(journal.newest_first(), key=lambda one: one.number)]


def test_at_the_threshold_an_instance_is_passed_over(tmp_path: Path) -> None:
    hosts = endpoint(variants=(variant(routing=PREFIX_AWARE, instances=2),))
    with running(hosts, folder=tmp_path) as local:
        # In any order: a request that came first may be the last whose body has come.
        places = busy(local, 10)
        assert Counter(reason for _, reason in places) == {
            "prefix": 4,
            "prefix_spill_instance": 4,
            "prefix_all_full": 2,
        }
        (home,) = {copy for copy, reason in places if reason == "prefix"}
        (other,) = {copy for copy, reason in places if reason == "prefix_spill_instance"}
        assert home != other


def test_with_components_another_copy_on_the_instance_comes_first(tmp_path: Path) -> None:
    hosts = endpoint(
        variants=(variant(routing=PREFIX_AWARE, instances=2, model=None),), components=(component(copies=4),)
    )
    with running(hosts, folder=tmp_path) as local:
        places = busy(local, 10, InferenceComponentName="chat")
        assert Counter(reason for _, reason in places) == {
            "prefix": 4,
            "prefix_spill_copy": 4,
            "prefix_spill_instance": 2,
        }
        instances = {(reason, str(copy).split("/")[0]) for copy, reason in places}
        (home,) = {one for reason, one in instances if reason == "prefix"}
        assert {one for reason, one in instances if reason == "prefix_spill_copy"} == {home}
        assert home not in {one for reason, one in instances if reason == "prefix_spill_instance"}


def test_kv_aware_follows_what_a_copy_was_sent(tmp_path: Path) -> None:
    routing = RoutingDefinition(strategy="KV_AWARE")
    with running(endpoint(variants=(variant(routing=routing, instances=4),)), folder=tmp_path) as local:
        invoke(local, SHARED)
        first, reason = went(local)
        assert reason == "least_outstanding"
        for question in "abcdef":
            invoke(local, SHARED + question)
            assert went(local) == (first, "kv_match")


def test_random_and_least_outstanding_use_every_copy(tmp_path: Path) -> None:
    for strategy in ("RANDOM", "LEAST_OUTSTANDING_REQUESTS"):
        routing = RoutingDefinition(strategy=strategy)  # type: ignore[arg-type]
        with running(endpoint(variants=(variant(routing=routing, instances=3),)), folder=tmp_path) as local:
            used = set()
            for _ in range(30):
                invoke(local)
                used.add(went(local)[0])
            assert len(used) == 3


def test_variants_by_name_and_by_weight(tmp_path: Path) -> None:
    variants = (variant("big", weight=9.0), variant("small", weight=1.0))
    with running(endpoint(variants=variants), folder=tmp_path) as local:
        chosen = Counter(invoke(local)["InvokedProductionVariant"] for _ in range(100))
        assert 75 <= chosen["big"] <= 99
        assert invoke(local, TargetVariant="small")["InvokedProductionVariant"] == "small"
        with pytest.raises(ClientError) as raised:
            invoke(local, TargetVariant="absent")
        assert raised.value.response["Error"]["Message"] == "Variant absent of endpoint demo not found."
