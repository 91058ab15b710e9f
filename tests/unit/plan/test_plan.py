"""The whole plan: names, routing, quotas, cost, permissions, determinism, the document."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.plan.specs import VLLM, loaded, planned
from warmstack.catalog import load_catalog
from warmstack.plan import PlanError, claimed_twice, make_plan, physical_name, plan_document, spec_hash

TWO = {"endpoint": {"instances": {"min": 2}}}


def test_make_plan_returns_a_plan_without_errors_and_raises_with_them() -> None:
    spec = loaded()
    assert make_plan(spec.spec, load_catalog(), spec.shapes).findings == ()
    bad = loaded({"image": {"build": "docker"}})
    with pytest.raises(PlanError) as caught:
        make_plan(bad.spec, load_catalog(), bad.shapes)
    assert [one.check for one in caught.value.findings] == ["WS110", "WS113"]
    assert caught.value.plan is not None
    assert "WS110" in str(caught.value)


def test_what_the_catalog_lacks_is_named_at_once() -> None:
    bad = loaded(
        {"endpoint": {"instance_type": "ml.g5.1xlarge"}, "model": {"id": "acme/none"}, "engine": {"version": "1"}}
    )
    with pytest.raises(PlanError) as caught:
        make_plan(bad.spec, load_catalog(), bad.shapes)
    assert [one.check for one in caught.value.findings] == ["WS001", "WS002", "WS003"]
    assert caught.value.plan is None


@pytest.mark.parametrize(
    ("parts", "name"),
    [
        (("chat", "dev"), "chat-dev"),
        (("chat", "dev", "one", "legal"), "chat-dev-one-legal"),
    ],
)
def test_names(parts: tuple[str, ...], name: str) -> None:
    assert physical_name(*parts) == name


@given(parts=st.lists(st.from_regex(r"\A[a-z][a-z0-9]{0,20}(-[a-z0-9]{1,20}){0,2}\Z"), min_size=2, max_size=4))
def test_names_are_valid_and_cut_with_a_hash(parts: list[str]) -> None:
    name = physical_name(*parts)
    whole = "-".join(parts)
    assert len(name) <= 63
    assert "--" not in name
    assert not name.endswith("-")
    assert name == whole or (len(whole) > 63 and name[-9] == "-")


def test_long_names_that_differ_at_the_end_stay_different() -> None:
    assert physical_name("a" * 60, "one") != physical_name("a" * 60, "two")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, ("LEAST_OUTSTANDING_REQUESTS", None, None)),
        (TWO, ("PREFIX_AWARE", 4096, 128)),  # half of 256
        ({**TWO, "engine": {"options": {"max_num_seqs": 7}}}, ("PREFIX_AWARE", 4096, 4)),
        ({"endpoint": {"instances": {"min": 2}, "routing": {"strategy": "RANDOM"}}}, ("RANDOM", None, None)),
        (
            {"endpoint": {"instances": {"min": 2}, "routing": {"prefix_length": 1024, "concurrency_threshold": 3}}},
            ("PREFIX_AWARE", 1024, 3),
        ),
    ],
)
def test_routing(change: dict[str, Any], expected: tuple[object, ...]) -> None:
    routing = planned(change).endpoint.routing
    assert (routing.strategy, routing.prefix_length, routing.concurrency_threshold) == expected


def test_the_threshold_follows_the_weakest_copy() -> None:
    components = {
        "components": [
            {"name": "one", "copies": {"min": 2}, "engine": {"options": {"max_num_seqs": 100}}},
            {"name": "two", "copies": {"min": 2}, "engine": {"options": {"max_num_seqs": 30}}},
        ]
    }
    assert planned(TWO, components).endpoint.routing.concurrency_threshold == 15


@pytest.mark.parametrize(
    ("change", "quota"),
    [
        (TWO, (2, 2, 4)),  # blue/green doubles
        ({"endpoint": {"instances": {"min": 2, "max": 5}}, "components": [{"name": "one"}]}, (2, 5, 5)),
    ],
)
def test_quotas(change: dict[str, Any], quota: tuple[int, int, int]) -> None:
    quotas = planned(change).quotas
    assert [need.name for need in quotas] == [
        "ml.g5.12xlarge for endpoint usage",
        "Number of instances across active endpoints",
    ]
    assert {(need.steady, need.scaled_out, need.during_update) for need in quotas} == {quota}


def test_cost_is_instances_times_price() -> None:
    cost = planned(TWO).cost
    assert cost.instance_usd_per_hour == 7.09
    assert cost.min_usd_per_hour == pytest.approx(14.18)
    assert cost.update_usd_per_hour == pytest.approx(28.36)
    assert cost.min_usd_per_month == pytest.approx(14.18 * 730)
    assert cost.as_of


def test_no_price_is_no_cost() -> None:
    cost = planned({"endpoint": {"instance_type": "ml.p5e.48xlarge"}}).cost
    assert dataclasses.astuple(cost)[3:] == (None,) * 5


@pytest.mark.parametrize(
    ("change", "download", "startup"),
    [
        ({}, 480, 660),  # 15.2 GB: 300 + 2 x 61 s, 600 + 2 x 30 s, whole minutes
        ({"model": {"weights": {"s3": None, "hub": {}}}}, 300, 840),
        ({"endpoint": {"timeouts": {"download": "10m", "startup": "1h"}}}, 600, 3600),
    ],
)
def test_timeouts(change: dict[str, Any], download: int, startup: int) -> None:
    model = planned(change).models[0]
    assert (model.download_timeout_seconds, model.startup_timeout_seconds) == (download, startup)


def test_timeouts_stay_within_what_sagemaker_accepts() -> None:
    for model in ("Qwen/Qwen3-0.6B", "deepseek-ai/DeepSeek-V3"):
        served = planned({"model": {"id": model}, "endpoint": {"instance_type": "ml.p5en.48xlarge"}}).models[0]
        assert 60 <= served.download_timeout_seconds <= 3600
        assert 60 <= served.startup_timeout_seconds <= 3600


def test_permissions_name_what_the_spec_names() -> None:
    adapters = [{"name": "legal", "artifact": "s3://adapters/eu/legal.tar.gz"}]
    plan = planned({"components": [{"name": "one", "adapters": adapters}]})
    resources = {one.sid: one.resources for one in plan.permissions}
    assert resources["ReadArtifacts"] == (
        "arn:${AWS::Partition}:s3:::acme/qwen/*",
        "arn:${AWS::Partition}:s3:::adapters/eu/*.tar.gz",
    )
    assert resources["PullImage"] == ("arn:${AWS::Partition}:ecr:${AWS::Region}:${Registry}:repository/djl-inference",)
    assert all(":log-group:/aws/sagemaker/" in one for one in resources["WriteLogs"])
    assert all("chat-dev" in one for one in resources["WriteLogs"])


def test_hub_weights_need_no_bucket() -> None:
    plan = planned({"model": {"weights": {"s3": None, "hub": {"revision": "main"}}}})
    assert not [one for one in plan.permissions if any(action.startswith("s3:") for action in one.actions)]


def test_registries() -> None:
    anywhere = planned().registries
    assert anywhere["us-west-2"] == "763104351884"
    assert len(anywhere) > 30
    pinned = planned({"target": {"account": "111122223333", "region": "eu-south-1"}})
    assert dict(pinned.registries) == {"eu-south-1": "692866216735"}
    mirror = {"image": {"base": "111122223333.dkr.ecr.us-west-2.amazonaws.com/mirror/lmi@sha256:" + "0" * 64}}
    plan = planned(mirror)
    assert plan.registries == {}
    assert plan.models[0].image.repository == "mirror/lmi"
    assert "arn:${AWS::Partition}:ecr:us-west-2:111122223333:repository/mirror/lmi" in [
        resource for one in plan.permissions for resource in one.resources
    ]


def test_components_of_different_servers_share_the_regions_that_have_both() -> None:
    plan = planned({"components": [{"name": "one"}, {"name": "two", **VLLM}]})
    assert "cn-north-1" not in plan.registries
    assert "us-west-2" in plan.registries


def test_the_hash_follows_the_meaning() -> None:
    assert spec_hash(loaded().spec) == spec_hash(loaded().spec)
    assert spec_hash(loaded().spec) != spec_hash(loaded({"environment": "prod"}).spec)
    assert spec_hash(loaded({"environment": "dev"}).spec) == spec_hash(loaded().spec)  # the default, written out


def test_spread_only_where_prefixes_choose() -> None:
    component = {"components": [{"name": "one", "copies": {"min": 2}}]}
    assert planned(TWO, component).models[0].spread
    assert not planned(component).models[0].spread


def test_scaling_target() -> None:
    fixed = planned({"components": [{"name": "one", "copies": {"min": 2}}]})
    assert fixed.models[0].target_concurrency is None
    scaled = planned({"components": [{"name": "one", "copies": {"min": 1, "max": 2}}]})
    assert scaled.models[0].max_num_seqs == 16
    assert scaled.models[0].target_concurrency == 8
    given_target = {"components": [{"name": "one", "copies": {"min": 1, "max": 2, "target_concurrency": 5}}]}
    assert planned(given_target).models[0].target_concurrency == 5


def test_the_document_is_json_and_stable() -> None:
    first, second = (json.dumps(plan_document(planned(TWO))) for _ in range(2))
    assert first == second
    document = json.loads(first)
    assert document["version"] == 1
    assert document["models"][0]["memory"]["kv_tokens"] > 0
    assert document["endpoint"]["routing"]["strategy"] == "PREFIX_AWARE"


def test_every_derived_value_has_a_reason() -> None:
    for one in planned(TWO).derived:
        assert one.value
        assert one.reason
    names = [one.name for one in planned({"components": [{"name": "one"}]}).derived]
    assert "one.memory_request" in names


def test_a_start_moves_the_stored_bytes_whatever_is_made_of_them() -> None:
    big = {"model": {"id": "Qwen/Qwen2.5-72B-Instruct"}, "endpoint": {"instance_type": "ml.p4de.24xlarge"}}
    plain = planned(big).models[0]
    for method in ("fp8", "bitsandbytes"):
        loaded = planned(big, {"model": {"quantization": method}}).models[0]
        assert loaded.memory.weight_bytes < plain.memory.weight_bytes
        assert loaded.download_timeout_seconds == plain.download_timeout_seconds
    awq = planned(big, {"model": {"quantization": "awq"}}).models[0]  # an AWQ checkpoint is small where it lies, too
    assert awq.download_timeout_seconds < plain.download_timeout_seconds


def test_data_parallel_ranks_in_a_component() -> None:
    ranks = {"engine": {**VLLM["engine"], "options": {"data_parallel_size": 2}}}
    for keys in ({"accelerators": 4}, {"accelerators": 4, "engine": {"tensor_parallel_degree": 2}}):
        plan = planned(ranks, {"components": [{"name": "one", **keys}]})
        model = plan.models[0]
        assert (model.accelerators, model.memory.tensor_parallel_degree) == (4, 2)
        assert not [one for one in plan.findings if one.severity == "error"]
    derived = planned(ranks, {"components": [{"name": "one"}]}).models[0]
    assert (derived.accelerators, derived.memory.tensor_parallel_degree) == (2, 1)
    # Four GPUs, two ranks: a model that would like four GPUs a rank gets two, and the plan says that it is too large.
    large = planned(ranks, {"components": [{"name": "one"}], "model": {"id": "Qwen/Qwen3-32B"}})
    assert (large.models[0].accelerators, large.models[0].memory.tensor_parallel_degree) == (4, 2)
    assert [one.check for one in large.findings if one.severity == "error"] == ["WS020"]


def test_an_archive_at_a_buckets_root_opens_no_bucket() -> None:
    adapters = [{"name": "legal", "artifact": "s3://adapters/legal.tar.gz"}]
    plan = planned({"components": [{"name": "one", "adapters": adapters}]})
    resources = [resource for one in plan.permissions for resource in one.resources]
    assert "arn:${AWS::Partition}:s3:::adapters/legal.tar.gz" in resources
    assert not [one for one in resources if one.startswith("arn:${AWS::Partition}:s3:::adapters/*")]


def _beside(*changes: dict[str, Any]) -> list[str]:
    return list(claimed_twice([(f"spec{index}", planned(change)) for index, change in enumerate(changes)]))


def test_deployments_beside_each_other() -> None:
    one = {"name": "chat", "environment": "prod", "components": [{"name": "eu-qwen"}]}
    other = {"name": "chat-prod", "environment": "eu", "components": [{"name": "qwen"}]}
    (message,) = _beside(one, other)
    assert message.startswith("spec1: the inference component chat-prod-eu-qwen is deployed by spec0 already; ")
    assert message.endswith("change name, environment or the component")
    assert _beside(one, one) == ["spec1: the stack chat-prod is deployed by spec0 already: change name or environment"]
    here = {"target": {"account": "111122223333", "region": "us-west-2"}}
    there = {"target": {"account": "111122223333", "region": "us-east-1"}}
    assert _beside({**one, **here}, {**other, **there}) == []
    assert len(_beside({**one, **here}, other)) == 1
    assert _beside(one, {"name": "mail"}) == []
