"""`cdk deploy` of an endpoint with inference components and adapters on them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.deploy.toolkit import Toolkit, spec_of

pytestmark = pytest.mark.deploy

STACK = "tenants-prod"
SPEC = spec_of("lora-tenants")


def with_adapters(names: tuple[str, ...]) -> dict[str, Any]:
    (component,) = SPEC["components"]
    known = {one["name"]: one for one in component["adapters"]}
    first = next(iter(known.values()))
    adapters = [known.get(one, {**first, "name": one}) for one in names]
    return {**SPEC, "components": [{**component, "adapters": adapters}]}


def test_an_adapter_is_added_and_taken_away_alone(toolkit: Toolkit) -> None:
    names = tuple(one["name"] for one in SPEC["components"][0]["adapters"])
    outcome = toolkit.deploy(with_adapters(names))
    assert outcome.status == 0, outcome.text
    mark = toolkit.mark(STACK)
    outcome = toolkit.deploy(with_adapters((*names, "newcomer")))
    assert outcome.status == 0, outcome.text
    # The list of adapters for clients changes with them; nothing else does.
    assert sorted(toolkit.since(mark, STACK)) == [
        ("InferenceComponent", "CREATE_COMPLETE"),
        ("Parameter", "UPDATE_COMPLETE"),
        ("Stack", "UPDATE_COMPLETE"),
    ]
    mark = toolkit.mark(STACK)
    toolkit.aws.sagemaker.calls.clear()
    outcome = toolkit.deploy(with_adapters(names))
    assert outcome.status == 0, outcome.text
    assert toolkit.since(mark, STACK) == [
        ("Parameter", "UPDATE_COMPLETE"),
        ("InferenceComponent", "DELETE_COMPLETE"),
        ("Stack", "UPDATE_COMPLETE"),
    ]
    assert toolkit.aws.sagemaker.operations() == ["DeleteInferenceComponent"]


def test_other_routing_updates_the_endpoint_under_its_components(toolkit: Toolkit) -> None:
    toolkit.deploy(SPEC)
    mark = toolkit.mark(STACK)
    other = {**SPEC, "endpoint": {**SPEC["endpoint"], "routing": {"strategy": "RANDOM"}}}
    outcome = toolkit.deploy(other)
    assert outcome.status == 0, outcome.text
    assert toolkit.since(mark, STACK) == [
        ("EndpointConfig", "UPDATE_COMPLETE"),
        ("Endpoint", "UPDATE_COMPLETE"),
        ("EndpointConfig", "DELETE_COMPLETE"),
        ("Stack", "UPDATE_COMPLETE"),
    ]


def test_an_image_that_codebuild_would_build_is_recorded_and_said_to_be(toolkit: Toolkit) -> None:
    outcome = toolkit.deploy(spec_of("sglang-sessions"))
    assert outcome.status == 0, outcome.text
    assert "nothing was built or changed by this custom resource" in outcome.text
    assert "no build runs in the local AWS" in outcome.text


def test_destroying_goes_from_adapters_to_the_endpoint(toolkit: Toolkit) -> None:
    toolkit.deploy(SPEC)
    toolkit.aws.sagemaker.calls.clear()
    outcome = toolkit.destroy(SPEC)
    assert outcome.status == 0, outcome.text
    operations = toolkit.aws.sagemaker.operations()
    assert operations.index("DeleteEndpoint") > max(
        index for index, one in enumerate(operations) if one == "DeleteInferenceComponent"
    )
    assert toolkit.aws.sagemaker.things == {}
