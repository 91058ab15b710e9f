"""What looks well at a first look and is not: `verify` must not pass it, nor `preflight` what AWS did not tell."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError
from moto import mock_aws

from tests.unit.local.definitions import component, endpoint, model, variant
from tests.unit.local.running import Local, running
from tests.unit.operate.fakes import Scripted, refused
from tests.unit.operate.preflighting import QUOTAS, fitted, plan_of, quotas, stage
from tests.unit.operate.preflighting import look as preflighted
from tests.unit.operate.test_reformed_answers import answering
from tests.unit.operate.test_verify_states import CONFIG, DEMO, sagemaker
from tests.unit.operate.verifying import Time, look, one, outcomes, wrong
from warmstack.client import EndpointClient, EndpointError
from warmstack.operate import Expected
from warmstack.operate.asking import RefusedError
from warmstack.operate.verification.canary import Asked, check_canaries
from warmstack.operate.verification.servers import Servers

VARIANT = {key: value for key, value in CONFIG["ProductionVariants"][0].items() if key != "ModelName"}
HOST = {"ProductionVariants": [VARIANT | {"RoutingConfig": {"RoutingStrategy": "LEAST_OUTSTANDING_REQUESTS"}}]}
NEEDS = {"NumberOfAcceleratorDevicesRequired": 1.0, "MinMemoryRequiredInMb": 1024}


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    with running(DEMO, folder=tmp_path_factory.mktemp("local")) as local:
        yield local


def live(name: str, model_name: str = "model", **more: Any) -> dict[str, Any]:
    return {
        "InferenceComponentName": name,
        "InferenceComponentStatus": "InService",
        "Specification": {"ModelName": model_name, "ComputeResourceRequirements": NEEDS},
        "RuntimeConfig": {"CurrentCopyCount": 2, "DesiredCopyCount": 2},
    } | more


def listed(**statuses: str) -> dict[str, Any]:
    return {
        "InferenceComponents": [
            {"InferenceComponentName": name, "InferenceComponentStatus": status} for name, status in statuses.items()
        ]
    }


def components(described: Any, **statuses: str) -> Scripted:
    if not callable(described):
        by_name = described
        described = lambda InferenceComponentName: by_name[InferenceComponentName]  # noqa: E731, N803
    return sagemaker(
        describe_endpoint_config=HOST,
        list_inference_components=listed(**statuses),
        describe_inference_component=described,
    )


def test_a_stack_that_is_not_there_fails(local: Local) -> None:
    def missing(_: object) -> Expected:
        raise RefusedError("cloudformation:DescribeStacks", kind="missing", code="ValidationError", said="not there")

    report = look(local, sagemaker=sagemaker(), expected_of=missing)
    assert one(report, "active-configuration").outcome == "fail"
    assert report.failed()


@pytest.mark.parametrize(
    ("code", "said", "outcome"),
    [
        ("ValidationException", "Could not find endpoint configuration", "fail"),
        ("InternalFailure", "we are sorry", "fail"),
        ("ThrottlingException", "Rate exceeded", "fail"),
        ("AccessDeniedException", "no", "unseen"),
        ("UnknownOperationException", "no", "unseen"),
    ],
)
def test_only_what_may_not_be_seen_is_no_failure(local: Local, code: str, said: str, outcome: str) -> None:
    answer = refused("DescribeEndpointConfig", code, said)
    report = look(local, canary=False, defined=DEMO, sagemaker=sagemaker(describe_endpoint_config=answer))
    assert one(report, "active-configuration").outcome == outcome


def test_a_component_that_cannot_be_described_hides_no_other(local: Local) -> None:
    def described(InferenceComponentName: str) -> Any:  # noqa: N803
        if InferenceComponentName == "b":
            return refused("DescribeInferenceComponent", "InternalFailure", "we are sorry", 500)
        return live(InferenceComponentName)

    report = look(local, canary=False, sagemaker=components(described, a="InService", b="InService", c="InService"))
    found = {subject: outcome for (check, subject), outcome in outcomes(report).items() if check.endswith("in-service")}
    assert found == {"demo": "pass", "a": "pass", "b": "fail", "c": "pass"}
    assert "could not be seen" in one(report, "component-in-service", "b").seen


def test_a_component_that_is_deleted_meanwhile_is_gone(local: Local) -> None:
    gone = refused("DescribeInferenceComponent", "ValidationException", "Could not find inference component")
    both = endpoint(components=(component("a"), component("b")))
    report = look(
        local,
        canary=False,
        defined=both,
        sagemaker=components({"a": live("a"), "b": gone}, a="InService", b="Deleting"),
    )
    assert one(report, "component-in-service", "b").seen == "the endpoint has no such component; cdk.out defines it"


def test_each_component_is_to_run_its_own_model(local: Local) -> None:
    """One whose update was rolled back runs the Model of the other."""
    parts = tuple(
        component(name, accelerators=None, model=model(of, logical_id=of, environment={"SM_VLLM_MAX_MODEL_LEN": size}))
        for name, of, size in (("a", "New", "8192"), ("b", "Old", "4096"))
    )
    described = {name: live(name, "Old") for name in ("a", "b")}
    report = look(
        local,
        canary=False,
        defined=endpoint(components=parts),
        sagemaker=components(described, a="InService", b="InService"),
    )
    assert wrong(report) == [
        "active-model: it is not that of cdk.out: SM_VLLM_MAX_MODEL_LEN is 4096, defined is 8192",
    ]


def test_a_model_that_is_gone_does_not_pass_by_its_name(local: Local) -> None:
    expected = Expected(
        source="stack s", definition=DEMO, configurations=frozenset({"demo-config"}), deployed={"Model": "model"}
    )
    gone = refused("DescribeModel", "ValidationException", 'Could not find model "arn".')
    report = look(local, canary=False, defined=expected, sagemaker=sagemaker(describe_model=gone))
    assert one(report, "active-model").seen.endswith("the next copy does not start")
    assert report.failed()
    hidden = refused("DescribeModel", "AccessDeniedException")
    report = look(local, canary=False, defined=expected, sagemaker=sagemaker(describe_model=hidden))
    assert one(report, "active-model").outcome == "pass"


def test_no_copies_where_some_are_defined_deserve_a_look(local: Local) -> None:
    none = {"a": live("a", RuntimeConfig={"CurrentCopyCount": 0, "DesiredCopyCount": 0})}
    report = look(local, defined=endpoint(components=(component("a"),)), sagemaker=components(none, a="InService"))
    copies, canary = one(report, "component-copies"), one(report, "canary")
    assert (copies.outcome, canary.outcome) == ("warning", "warning")
    assert copies.seen.startswith("0 of 0 copies; the template starts with 2")
    assert report.failed(strict=True)


def test_what_was_settled_when_the_waiting_began_is_looked_at_once_more(local: Local) -> None:
    answers = {
        "a": [live("a"), live("a", RuntimeConfig={"CurrentCopyCount": 0, "DesiredCopyCount": 2})],
        "b": [live("b", InferenceComponentStatus="Creating"), live("b")],
    }

    def described(InferenceComponentName: str) -> dict[str, Any]:  # noqa: N803
        rest = answers[InferenceComponentName]
        return rest.pop(0) if len(rest) > 1 else rest[0]

    control = sagemaker(
        describe_endpoint_config=HOST,
        list_inference_components=[listed(a="InService", b="Creating"), listed(a="InService", b="InService")],
        describe_inference_component=described,
    )
    report = look(local, canary=False, time=Time(), sagemaker=control)
    assert one(report, "component-copies", "a").seen == "0 of 2 copies"
    assert report.failed()


def test_what_a_copy_asks_for_is_compared(local: Local) -> None:
    defined = component("a", accelerators=4.0, min_memory_mib=64000, model=model())
    report = look(
        local,
        canary=False,
        defined=endpoint(components=(defined,)),
        sagemaker=components({"a": live("a")}, a="InService"),
    )
    assert one(report, "component-definition").seen == (
        "it is not that of cdk.out: NumberOfAcceleratorDevicesRequired is 1, defined is 4; "
        "MinMemoryRequiredInMb is 1024, defined is 64000"
    )


def test_a_container_of_its_own_is_compared(local: Local) -> None:
    old = {"DeployedImage": {"SpecifiedImage": "old:1"}, "Environment": {"SIZE": "1"}}
    there = live("a", Specification={"Container": old, "ComputeResourceRequirements": NEEDS})
    defined = component("a", min_memory_mib=1024, model=model(image="new:2", environment={"SIZE": "2"}))
    report = look(
        local, canary=False, defined=endpoint(components=(defined,)), sagemaker=components({"a": there}, a="InService")
    )
    assert one(report, "component-definition").seen == (
        "it is not that of cdk.out: the image is old:1, defined is new:2; SIZE is 1, defined is 2"
    )


def test_instances_other_than_the_template_starts_with_are_told(local: Local) -> None:
    more = endpoint(variants=(variant(instances=3, model=model()),))
    result = one(look(local, canary=False, defined=more, sagemaker=sagemaker()), "variant-instances")
    told = "2 of 2 instances; the template starts with 3, scaling may have chosen the rest"
    assert (result.outcome, result.seen) == ("pass", told)


def test_an_update_that_did_not_come_about_deserves_a_look(local: Local) -> None:
    there = {"a": live("a", FailureReason="the new copies did not start")}
    report = look(local, canary=False, sagemaker=components(there, a="InService"))
    assert one(report, "component-in-service").outcome == "warning"


def test_components_that_may_not_be_listed_are_asked_by_their_definition(local: Local) -> None:
    asked: list[str | None] = []

    def client_of(name: str | None) -> EndpointClient:
        asked.append(name)
        return answering(json.dumps({"choices": [{"message": {"content": "red"}}]}).encode())(name)

    hidden = refused("ListInferenceComponents", "AccessDeniedException")
    report = look(
        local,
        defined=endpoint(components=(component("legal", base="chat"), component("chat"))),
        sagemaker=sagemaker(describe_endpoint_config=HOST, list_inference_components=hidden),
        client_of=client_of,
    )
    assert asked[:2] == ["chat", "legal"]
    assert not report.failed()


@pytest.mark.parametrize("answer", [b"Internal Server Error", b"<html>bad gateway</html>", b"null", b"[]"])
def test_an_adapters_answer_that_is_no_json_deserves_a_look(answer: bytes) -> None:
    adapter = Asked(name="legal", shown="legal", base="chat")
    (result,) = check_canaries(answering(answer), [adapter], Servers().reforms)
    assert result.outcome == "warning"


def test_adapters_of_a_base_that_does_not_answer_are_not_waited_for() -> None:
    asked: list[str | None] = []

    def client_of(name: str | None) -> EndpointClient:
        asked.append(name)
        raise EndpointError("no answer within 70 s")

    silent: set[str | None] = set()
    parts = [Asked(name="chat", shown="chat"), Asked(name="legal", shown="legal", base="chat")]
    results = list(check_canaries(client_of, parts, Servers().reforms, silent))
    assert [each.outcome for each in results] == ["fail", "fail"]
    assert asked == ["chat"]
    assert silent == {"chat", "legal"}


def unreachable(**_: object) -> Callable[..., Any]:
    raise EndpointConnectionError(endpoint_url="https://s3")


def test_a_preflight_that_does_not_reach_s3_fails(tmp_path: Path) -> None:
    with mock_aws():
        made = stage()
        made.s3 = Scripted(head_bucket=unreachable, list_objects_v2=unreachable, head_object=unreachable)
        report = preflighted(made, fitted(plan_of(tmp_path)))
    found = {
        each.check.id: each.outcome for each in report.results if each.check.id in ("bucket", "weights", "adapter")
    }
    assert set(found.values()) == {"fail"}


def test_a_default_is_no_quota_of_the_account(tmp_path: Path) -> None:
    """Of p5 it is zero, and accounts that use them have more."""
    with mock_aws():
        made = stage()
        denied = refused("ListServiceQuotas", "AccessDeniedException")
        defaults = quotas({}, QUOTAS).list_aws_default_service_quotas()
        made.quotas = Scripted(list_service_quotas=denied, list_aws_default_service_quotas=defaults)
        report = preflighted(made, fitted(plan_of(tmp_path)))
    found = [each for each in report.results if each.check.id == "quota"]
    assert {each.outcome for each in found} == {"unseen"}
    assert "AWS's default is 4, this endpoint needs" in found[0].seen
