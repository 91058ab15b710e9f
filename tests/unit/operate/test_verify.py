"""`verify` against the local endpoint: what is well, and each thing that is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.local.definitions import (
    PREFIX_AWARE,
    component,
    endpoint,
    model,
    session_endpoint,
    variant,
)
from tests.unit.local.running import running
from tests.unit.operate.verifying import Time, look, of, one, outcomes, wrong
from warmstack.assembly import EndpointDefinition, RoutingDefinition
from warmstack.local.platform.fault_orders import FaultOrder, inflict
from warmstack.outputs import ComponentOutput, EndpointOutputs

TELLS = {"SM_VLLM_ENABLE_PROMPT_TOKENS_DETAILS": "true", "SM_VLLM_ENABLE_LORA": "true"}
RANDOM = RoutingDefinition(strategy="RANDOM")


def parts() -> EndpointDefinition:
    chat = component("chat", model=model(environment=TELLS))
    legal = component("legal", base="chat", model=model(environment=TELLS))
    host = variant(model=None, routing=PREFIX_AWARE)
    return endpoint("parts", variants=(host,), components=(chat, legal))


def prefix_endpoint(routing: RoutingDefinition = PREFIX_AWARE, *, instances: int = 2) -> EndpointDefinition:
    return endpoint(variants=(variant(instances=instances, model=model(environment=TELLS), routing=routing),))


def test_a_healthy_endpoint_with_components_passes(tmp_path: Path) -> None:
    with running(parts(), folder=tmp_path) as local:
        report = look(local, "parts", defined=parts())
    assert wrong(report) == []
    assert not report.failed(strict=False)
    assert outcomes(report) == {
        ("endpoint-in-service", "parts"): "pass",
        ("variant-instances", "primary"): "pass",
        ("active-configuration", "parts-config"): "pass",
        ("active-model", "model"): "skipped",
        ("component-in-service", "chat"): "pass",
        ("component-copies", "chat"): "pass",
        ("component-definition", "chat"): "pass",
        ("component-in-service", "legal"): "pass",
        ("component-definition", "legal"): "pass",
        ("canary", "chat"): "pass",
        ("canary", "legal"): "pass",
        ("session", "chat"): "skipped",
        ("prefix-cache", "chat"): "pass",
    }
    assert "answers differently from its base" in one(report, "canary", "legal").seen
    assert one(report, "prefix-cache").measured == {"found": 6, "of": 6, "rounds": 1}
    assert report.facts["account"] == "111122223333"


def test_an_endpoint_that_is_not_there_is_one_failure(tmp_path: Path) -> None:
    with running(parts(), folder=tmp_path) as local:
        report = look(local, "nobody", defined=parts())
    assert wrong(report) == ["endpoint-in-service: there is no such endpoint in us-west-2"]
    assert len(report.results) == 1


def test_without_a_definition_the_comparison_is_skipped(tmp_path: Path) -> None:
    with running(prefix_endpoint(), folder=tmp_path) as local:
        report = look(local)
    assert wrong(report) == []
    told = one(report, "active-configuration")
    assert (told.outcome, "no template is named" in told.seen) == ("skipped", True)
    assert told.fix == "name what it is to be: --assembly cdk.out"


def test_a_configuration_that_was_not_taken_over_is_reported(tmp_path: Path) -> None:
    running_one = prefix_endpoint(RANDOM)
    with running(running_one, folder=tmp_path) as local:
        report = look(local, defined=prefix_endpoint())
        named = look(local, defined=of(running_one, configurations=frozenset({"demo-new"}), source="stack demo"))
    assert one(report, "active-configuration").seen == (
        "it is not that of cdk.out: RoutingStrategy is RANDOM, defined is PREFIX_AWARE; PrefixLength is nothing, "
        "defined is 1024; ConcurrencyThreshold is nothing, defined is 4"
    )
    assert one(named, "active-configuration").seen == (
        "the endpoint still runs configuration demo-config; that of stack demo is demo-new"
    )
    assert report.failed()
    assert named.failed()


def test_prefixes_that_do_not_stick_are_seen_by_their_cached_tokens(tmp_path: Path) -> None:
    with running(prefix_endpoint(RANDOM), folder=tmp_path) as local:
        result = one(look(local, defined=prefix_endpoint()), "prefix-cache")
    assert result.outcome == "fail"
    assert "later requests found their prefix cached" in result.seen


def test_prefixes_are_not_judged_where_the_server_tells_no_cached_tokens(tmp_path: Path) -> None:
    quiet = endpoint(variants=(variant(routing=PREFIX_AWARE),))
    with running(quiet, folder=tmp_path) as local:
        result = one(look(local), "prefix-cache")
    assert (result.outcome, result.seen) == ("skipped", "not observable: the server tells no cached tokens")


VLLM = "let the server tell them: engine.options.enable_prompt_tokens_details"
SGLANG = "let the server tell them: engine.options.enable_cache_report"


@pytest.mark.parametrize(("server", "way_out"), [("vllm", VLLM), ("sglang", SGLANG), ("lmi", None)])
def test_the_way_out_is_a_setting_that_the_server_has(tmp_path: Path, server: str, way_out: str | None) -> None:
    quiet = endpoint(variants=(variant(routing=PREFIX_AWARE),))
    defined = endpoint(variants=(variant(routing=PREFIX_AWARE, model=model(server=server)),))
    published = EndpointOutputs(endpoint_name="demo", dialect=server, components={}, session_seconds=None)
    with running(quiet, folder=tmp_path) as local:
        results = [
            one(look(local, defined=defined), "prefix-cache"),
            one(look(local, outputs=published), "prefix-cache"),
        ]
    assert [(each.outcome, each.fix) for each in results] == [("skipped", way_out)] * 2
    assert ("no setting reaches that" in results[0].seen) == (server == "lmi")


@pytest.mark.parametrize(("routing", "instances"), [(RANDOM, 2), (PREFIX_AWARE, 1)])
def test_prefixes_are_not_judged_where_they_do_not_route(
    tmp_path: Path, routing: RoutingDefinition, instances: int
) -> None:
    with running(prefix_endpoint(routing, instances=instances), folder=tmp_path) as local:
        assert one(look(local), "prefix-cache").outcome == "skipped"


def test_a_prefix_longer_than_the_model_takes_is_not_observable(tmp_path: Path) -> None:
    long = RoutingDefinition(strategy="PREFIX_AWARE", prefix_length=65536, concurrency_threshold=4)
    small = model(environment=TELLS | {"SM_VLLM_MAX_MODEL_LEN": "512"})
    short = endpoint(variants=(variant(model=small, routing=long),))
    with running(short, folder=tmp_path) as local:
        result = one(look(local), "prefix-cache")
    assert result.outcome == "skipped"
    assert "not observable: the model refused a prompt of 65536 bytes" in result.seen


def test_a_session_is_opened_used_and_closed(tmp_path: Path) -> None:
    outputs = EndpointOutputs(endpoint_name="demo", dialect="vllm", components={}, session_seconds=600)
    with running(session_endpoint(), folder=tmp_path) as local:
        published = one(look(local, outputs=outputs), "session")
        defined = one(look(local, defined=session_endpoint()), "session")
        assert local.platform.endpoints["demo"].sessions is not None
    assert (published.outcome, defined.outcome) == ("pass", "pass")
    assert published.seen.startswith("opened, used and closed; it would live ")


def test_sessions_that_are_published_and_not_there_fail(tmp_path: Path) -> None:
    outputs = EndpointOutputs(endpoint_name="demo", dialect="vllm", components={}, session_seconds=600)
    with running(endpoint(), folder=tmp_path) as local:
        result = one(look(local, outputs=outputs), "session")
    assert result.outcome == "fail"
    assert result.seen.startswith("a session could not be opened: ")


def test_an_endpoint_that_answers_nothing_fails_by_its_canary(tmp_path: Path) -> None:
    with running(prefix_endpoint(), folder=tmp_path) as local:
        local.run(inflict(local.platform, FaultOrder(fault="unavailable", target="demo")))
        report = look(local)
    assert one(report, "endpoint-in-service").outcome == "pass"
    assert one(report, "canary").outcome == "fail"
    assert "it does not answer: " in one(report, "canary").seen


def test_a_component_that_refuses_fails_and_the_others_are_asked(tmp_path: Path) -> None:
    with running(parts(), folder=tmp_path) as local:
        local.run(inflict(local.platform, FaultOrder(fault="refuse", target="chat")))
        report = look(local, "parts")
    assert outcomes(report)["canary", "chat"] == "fail"


def test_missing_copies_are_waited_for_and_then_reported(tmp_path: Path) -> None:
    with running(parts(), folder=tmp_path, restart_seconds=3600) as local:
        copy = next(iter(local.platform.endpoints["parts"].copies.values()))
        local.run(local.platform.kill(copy))
        time = Time()
        report = look(local, "parts", time=time, timeout_seconds=20)
    assert one(report, "component-copies", "chat").seen == "1 of 2 copies"
    assert outcomes(report)["component-copies", "chat"] == "fail"
    assert time.told == ["chat is Updating with 1 of 2 copies; legal is Updating (0 s)"]
    assert 10 < time.now <= 20


def test_components_that_are_missing_or_unknown_are_named(tmp_path: Path) -> None:
    more = parts()
    finance = component("finance", base="chat", model=model(environment=TELLS))
    defined = replace(more, components=(more.components[0], finance))
    outputs = EndpointOutputs(
        endpoint_name="parts",
        dialect="vllm",
        components={"draft": ComponentOutput(name="draft", physical_name="parts-draft", dialect="vllm")},
    )
    with running(parts(), folder=tmp_path) as local:
        report = look(local, "parts", defined=defined, outputs=outputs)
    assert one(report, "component-in-service", "finance").seen == "the endpoint has no such adapter; cdk.out defines it"
    assert outcomes(report)["component-in-service", "parts-draft"] == "fail"
    assert outcomes(report)["component-unknown", "legal"] == "warning"
    assert one(report, "component-unknown").seen == "cdk.out does not define it, an adapter of chat"


def test_an_adapter_of_another_archive_is_reported(tmp_path: Path) -> None:
    more = parts()
    other = replace(more.components[1], artifact_url="s3://acme-adapters/legal-2.tar.gz")
    with running(parts(), folder=tmp_path) as local:
        report = look(local, "parts", defined=replace(more, components=(more.components[0], other)))
    assert one(report, "component-definition", "legal").seen == (
        "it is not that of cdk.out: its archive is s3://acme-adapters/legal.tar.gz, defined is "
        "s3://acme-adapters/legal-2.tar.gz"
    )


def test_nothing_is_generated_without_the_canary(tmp_path: Path) -> None:
    with running(prefix_endpoint(), folder=tmp_path) as local:
        report = look(local, canary=False)
    assert {one(report, check).outcome for check in ("canary", "session", "prefix-cache")} == {"skipped"}


def test_a_report_is_json_for_scripts(tmp_path: Path) -> None:
    with running(prefix_endpoint(), folder=tmp_path) as local:
        document = look(local).document()
    assert (document["version"], document["outcome"], document["endpoint"]) == (1, "passed", "demo")
    assert document["results"][0] == {
        "check": "endpoint-in-service",
        "subject": "demo",
        "outcome": "pass",
        "seen": "it is InService",
        "why": "an endpoint that is not InService answers nothing, or the answers of what was there before",
        "fix": None,
    }
