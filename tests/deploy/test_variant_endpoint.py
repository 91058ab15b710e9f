"""`cdk deploy` of an endpoint whose variant hosts the model: created, edited, rolled back, destroyed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.deploy.toolkit import Toolkit, spec_of

pytestmark = pytest.mark.deploy

STACK = "rag-prod"
SPEC = spec_of("rag-prefix-aware")
REPLACED = [
    ("EndpointConfig", "UPDATE_COMPLETE"),
    ("Endpoint", "UPDATE_COMPLETE"),
    ("EndpointConfig", "DELETE_COMPLETE"),
    ("Stack", "UPDATE_COMPLETE"),
]


def with_routing(strategy: str) -> dict[str, Any]:
    return {**SPEC, "endpoint": {**SPEC["endpoint"], "routing": {"strategy": strategy}}}


def test_it_is_created_with_its_outputs_and_a_second_time_nothing_changes(toolkit: Toolkit) -> None:
    outputs = toolkit.folder / "outputs.json"
    outcome = toolkit.deploy(SPEC, "--outputs-file", str(outputs))
    assert outcome.status == 0, outcome.text
    assert json.loads(outputs.read_text(encoding="utf-8")) == {
        STACK: {"EndpointName": "rag-prod", "Dialect": "vllm", "SessionSeconds": "0"}
    }
    assert toolkit.since(0, STACK) == [
        ("Role", "CREATE_COMPLETE"),
        ("Model", "CREATE_COMPLETE"),
        ("EndpointConfig", "CREATE_COMPLETE"),
        ("Endpoint", "CREATE_COMPLETE"),
        ("Stack", "CREATE_COMPLETE"),
    ]
    described = toolkit.aws.client("sagemaker").describe_endpoint(EndpointName="rag-prod")
    assert described["EndpointStatus"] == "InService"
    again = toolkit.deploy(SPEC)
    assert again.status == 0, again.text
    assert "(no changes)" in again.text


@pytest.mark.parametrize("method", ["change-set", "direct"])
def test_other_routing_replaces_the_configuration_and_updates_the_endpoint(toolkit: Toolkit, method: str) -> None:
    toolkit.deploy(SPEC, f"--method={method}")
    mark = toolkit.mark(STACK)
    outcome = toolkit.deploy(with_routing("RANDOM"), f"--method={method}")
    assert outcome.status == 0, outcome.text
    assert toolkit.since(mark, STACK) == REPLACED
    assert toolkit.aws.outputs(STACK)["EndpointName"] == "rag-prod"


def test_another_model_replaces_what_depends_on_it(toolkit: Toolkit) -> None:
    toolkit.deploy(SPEC)
    mark = toolkit.mark(STACK)
    other = {**SPEC, "model": {**SPEC["model"], "weights": {"s3": "s3://acme-models/llama-3.3-70b-instruct/"}}}
    outcome = toolkit.deploy(other)
    assert outcome.status == 0, outcome.text
    # The role may read the new weights before the new model is made.
    assert toolkit.since(mark, STACK) == [
        ("Role", "UPDATE_COMPLETE"),
        ("Model", "UPDATE_COMPLETE"),
        *REPLACED[:3],
        ("Model", "DELETE_COMPLETE"),
        REPLACED[-1],
    ]


def test_a_difference_shows_the_setting_and_what_it_replaces(toolkit: Toolkit) -> None:
    toolkit.deploy(SPEC)
    other = {**SPEC, "engine": {**SPEC["engine"], "options": {"max_num_seqs": 64}}}
    outcome = toolkit.run("diff", "--app", str(toolkit.synthesize(other)))
    assert outcome.status == 0, outcome.text
    assert "MAX_NUM_SEQS" in outcome.text
    assert "128" in outcome.text
    assert "replace" in outcome.text
    assert "Number of stacks with differences: 1" in outcome.text
    # Only looking leaves no change set behind.
    assert toolkit.aws.cloudformation.list_change_sets(StackName=STACK)["Summaries"] == []


def test_a_creation_that_fails_says_why_and_leaves_nothing(toolkit: Toolkit) -> None:
    toolkit.aws.sagemaker.failures["Endpoint rag-prod"] = "The primary container did not pass the ping health check."
    outcome = toolkit.deploy(SPEC)
    assert outcome.status != 0
    assert "did not pass the ping health check" in outcome.text
    assert toolkit.aws.stack(STACK)["StackStatus"] == "ROLLBACK_COMPLETE"
    assert toolkit.aws.sagemaker.things == {}
    toolkit.aws.sagemaker.failures.clear()
    again = toolkit.deploy(SPEC)
    assert again.status == 0, again.text


def test_an_update_that_fails_goes_back_to_what_was(toolkit: Toolkit) -> None:
    toolkit.deploy(SPEC)
    before = {name: one["PhysicalResourceId"] for name, one in toolkit.aws.resources(STACK).items()}
    mark = toolkit.mark(STACK)
    toolkit.aws.sagemaker.failures["Endpoint rag-prod rag-prod-EndpointConfig"] = "no capacity for ml.p5.48xlarge"
    outcome = toolkit.deploy(with_routing("RANDOM"))
    assert outcome.status != 0
    assert "no capacity for ml.p5.48xlarge" in outcome.text
    assert toolkit.aws.stack(STACK)["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert {name: one["PhysicalResourceId"] for name, one in toolkit.aws.resources(STACK).items()} == before
    assert toolkit.since(mark, STACK)[:2] == [("EndpointConfig", "UPDATE_COMPLETE"), ("Endpoint", "UPDATE_FAILED")]
    assert toolkit.since(mark, STACK)[-2:] == [
        ("EndpointConfig", "DELETE_COMPLETE"),
        ("Stack", "UPDATE_ROLLBACK_COMPLETE"),
    ]
    toolkit.aws.sagemaker.failures.clear()
    again = toolkit.deploy(with_routing("RANDOM"))
    assert again.status == 0, again.text


def test_destroying_leaves_nothing(toolkit: Toolkit) -> None:
    toolkit.deploy(SPEC)
    outcome = toolkit.destroy(SPEC)
    assert outcome.status == 0, outcome.text
    assert toolkit.aws.sagemaker.things == {}
    roles = [one["RoleName"] for one in toolkit.aws.client("iam").list_roles()["Roles"]]
    assert [one for one in roles if not one.startswith("cdk-")] == []
    again = toolkit.destroy(SPEC)
    assert again.status == 0, again.text
