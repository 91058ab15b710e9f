"""The control plane by a real boto3, and the SageMaker SDK's own Endpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from botocore.exceptions import ClientError

from tests.unit.local.clients import chat, control, runtime, session
from tests.unit.local.definitions import PREFIX_AWARE, component, endpoint, variant
from tests.unit.local.running import Local, running


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    definitions = (
        endpoint(variants=(variant(routing=PREFIX_AWARE),)),
        endpoint("parts", components=(component(), component("legal", base="chat"))),
    )
    with running(*definitions, folder=tmp_path) as local:
        yield local


def test_an_endpoint_is_described(local: Local) -> None:
    found = control(local.url).describe_endpoint(EndpointName="demo")
    assert found["EndpointStatus"] == "InService"
    assert found["EndpointArn"] == "arn:aws:sagemaker:us-west-2:111122223333:endpoint/demo"
    (only,) = found["ProductionVariants"]
    assert only["CurrentInstanceCount"] == 2
    assert only["RoutingConfig"]["PrefixAwareRoutingConfig"] == {"PrefixLength": 1024, "ConcurrencyThreshold": 4}
    config = control(local.url).describe_endpoint_config(EndpointConfigName=found["EndpointConfigName"])
    assert config["ProductionVariants"][0]["ModelName"] == "model"
    control(local.url).get_waiter("endpoint_in_service").wait(EndpointName="demo")


def test_an_endpoint_is_being_created_until_everything_has_started(local: Local) -> None:
    local.platform.ready = False
    assert control(local.url).describe_endpoint(EndpointName="demo")["EndpointStatus"] == "Creating"


def test_components_are_described_and_listed(local: Local) -> None:
    client = control(local.url)
    found = client.describe_inference_component(InferenceComponentName="chat")
    assert found["RuntimeConfig"] == {"DesiredCopyCount": 2, "CurrentCopyCount": 2}
    adapter = client.describe_inference_component(InferenceComponentName="legal")
    assert adapter["Specification"]["BaseInferenceComponentName"] == "chat"
    assert adapter["InferenceComponentStatus"] == "InService"
    listed = client.list_inference_components(EndpointNameEquals="parts", SortBy="Name", SortOrder="Ascending")
    assert [one["InferenceComponentName"] for one in listed["InferenceComponents"]] == ["chat", "legal"]
    names = [one["EndpointName"] for page in pages(client) for one in page["Endpoints"]]
    assert sorted(names) == ["demo", "parts"]


def pages(client: object) -> object:
    return client.get_paginator("list_endpoints").paginate(PaginationConfig={"PageSize": 1})  # type: ignore[attr-defined]


def test_copies_really_start_and_stop(local: Local) -> None:
    client = control(local.url)
    copies = local.platform.endpoints["parts"].copies
    before = set(copies)
    client.update_inference_component_runtime_config(
        InferenceComponentName="chat", DesiredRuntimeConfig={"CopyCount": 3}
    )
    local.until(lambda: len(copies) == 3 and all(one.container for one in copies.values()))
    assert before < set(copies)
    found = client.describe_inference_component(InferenceComponentName="chat")
    assert found["RuntimeConfig"] == {"DesiredCopyCount": 3, "CurrentCopyCount": 3}
    client.update_inference_component_runtime_config(
        InferenceComponentName="chat", DesiredRuntimeConfig={"CopyCount": 0}
    )
    local.until(lambda: not copies)
    with pytest.raises(ClientError) as raised:
        runtime(local.url).invoke_endpoint(EndpointName="parts", InferenceComponentName="legal", Body=chat())
    assert "has no capacity" in raised.value.response["Error"]["Message"]
    # The adapter is registered with copies that start later, too.
    client.update_inference_component_runtime_config(
        InferenceComponentName="chat", DesiredRuntimeConfig={"CopyCount": 1}
    )
    local.until(lambda: any(one.container for one in copies.values()))
    answer = runtime(local.url).invoke_endpoint(
        EndpointName="parts", InferenceComponentName="legal", ContentType="application/json", Body=chat()
    )
    assert json.loads(answer["Body"].read())["model"] == "legal"


@pytest.mark.parametrize(
    ("operation", "arguments", "text"),
    [
        ("describe_endpoint", {"EndpointName": "absent"}, 'Could not find endpoint "arn:aws:sagemaker:us-west-2'),
        ("describe_inference_component", {"InferenceComponentName": "absent"}, "Could not find inference component"),
        ("describe_endpoint_config", {"EndpointConfigName": "absent"}, "Could not find endpoint configuration"),
        ("list_endpoints", {"NextToken": "no-token"}, "NextToken is not one that a list gave"),
        (
            "update_inference_component_runtime_config",
            {"InferenceComponentName": "legal", "DesiredRuntimeConfig": {"CopyCount": 1}},
            "legal is an adapter: it runs on the copies of chat",
        ),
        (
            "update_inference_component_runtime_config",
            {"InferenceComponentName": "chat", "DesiredRuntimeConfig": {"CopyCount": 10_000}},
            "chat can have 62 copies on this machine",
        ),
        ("delete_endpoint", {"EndpointName": "demo"}, "The local endpoint does not serve SageMaker.DeleteEndpoint"),
    ],
)
def test_what_cannot_be_done_is_said(local: Local, operation: str, arguments: dict[str, object], text: str) -> None:
    with pytest.raises(ClientError) as raised:
        getattr(control(local.url), operation)(**arguments)
    assert text in raised.value.response["Error"]["Message"]


def test_the_sdks_own_endpoint(local: Local, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SAGEMAKER", "SAGEMAKER_RUNTIME"):
        monkeypatch.setenv(f"AWS_ENDPOINT_URL_{name}", local.url)
    from tests.unit.local.sagemaker_sdk import Endpoint

    found = Endpoint.get(endpoint_name="demo", session=session(), region="us-west-2")
    assert found is not None
    answer = found.invoke(body=chat(), content_type="application/json", session=session(), region="us-west-2")
    assert json.loads(answer.body.read())["usage"]["completion_tokens"] == 4
