"""Endpoints that come, change and go while clients ask them, by real boto3."""

from __future__ import annotations

import http.client
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.unit.local.clients import chat, control, runtime, whole
from tests.unit.local.running import Local, running
from warmstack.local.adapter_files import AdapterFiles, write_stand_in
from warmstack.local.dialects.front import in_front
from warmstack.local.errors import LocalError
from warmstack.local.platform.orders import CopyOrder, Report, RunningCopy
from warmstack.local.simulated import Latency
from warmstack.local.simulated.starter import SimulatedStarter
from warmstack.routing import ConfigSwap, RoutingChoices

IMAGE = "763104351884.dkr.ecr.us-west-2.amazonaws.com/vllm:0.30.0-gpu-py312"
ROLE = "arn:aws:iam::111122223333:role/demo"


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    with running(folder=tmp_path, hosting=True, latency=Latency(decode_seconds_per_token=0.002)) as local:
        yield local


@pytest.fixture
def client(local: Local) -> Any:
    return control(local.url)


def create_model(client: Any, name: str, **environment: str) -> None:
    container = {"Image": IMAGE, "Environment": {"SM_VLLM_ENABLE_LORA": "true"} | environment}
    client.create_model(ModelName=name, ExecutionRoleArn=ROLE, PrimaryContainer=container)


def create_config(client: Any, name: str, model: str | None, *, instances: int = 2, prefix: int | None = None) -> None:
    variant: dict[str, Any] = {
        "VariantName": "primary",
        "InstanceType": "ml.g5.12xlarge",
        "InitialInstanceCount": instances,
        "RoutingConfig": {"RoutingStrategy": "RANDOM"},
    }
    if model is not None:
        variant["ModelName"] = model
    if prefix is not None:
        prefixes = {"PrefixLength": prefix, "ConcurrencyThreshold": 4}
        variant["RoutingConfig"] = {"RoutingStrategy": "PREFIX_AWARE", "PrefixAwareRoutingConfig": prefixes}
    client.create_endpoint_config(EndpointConfigName=name, ProductionVariants=[variant], ExecutionRoleArn=ROLE)


def endpoint_is(client: Any, status: str, name: str = "demo") -> dict[str, Any]:
    return until(lambda: client.describe_endpoint(EndpointName=name), "EndpointStatus", status)


def component_is(client: Any, status: str, name: str) -> dict[str, Any]:
    return until(
        lambda: client.describe_inference_component(InferenceComponentName=name), "InferenceComponentStatus", status
    )


def until(describe: Any, key: str, status: str) -> dict[str, Any]:
    deadline = time.monotonic() + 20
    while (found := describe())[key] != status:
        assert time.monotonic() < deadline, found
        time.sleep(0.02)
    return dict(found)


def gone(describe: Any) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            found = describe()
        except ClientError as error:
            if "Could not find" in str(error):
                return
            raise
        assert time.monotonic() < deadline, found
        time.sleep(0.02)


def refused(call: Any, text: str, **arguments: Any) -> None:
    with pytest.raises(ClientError) as raised:
        call(**arguments)
    assert raised.value.response["Error"]["Code"] == "ValidationException"
    assert text in raised.value.response["Error"]["Message"]


def ask(local: Local, text: str = "hello", **arguments: Any) -> dict[str, Any]:
    body = chat(text, max_tokens=4)
    return whole(
        runtime(local.url).invoke_endpoint(EndpointName="demo", ContentType="application/json", Body=body, **arguments)
    )


def test_an_endpoint_comes_and_goes(local: Local, client: Any) -> None:
    create_model(client, "m-1")
    create_config(client, "c-1", "m-1")
    created = client.create_endpoint(EndpointName="demo", EndpointConfigName="c-1")
    assert created["EndpointArn"].endswith(":endpoint/demo")
    found = endpoint_is(client, "InService")
    assert found["EndpointConfigName"] == "c-1"
    assert found["ProductionVariants"][0]["CurrentInstanceCount"] == 2
    assert ask(local)["InvokedProductionVariant"] == "primary"
    client.delete_endpoint(EndpointName="demo")
    gone(lambda: client.describe_endpoint(EndpointName="demo"))
    client.delete_endpoint_config(EndpointConfigName="c-1")
    client.delete_model(ModelName="m-1")
    assert local.platform.endpoints == {}
    refused(client.describe_endpoint_config, "Could not find endpoint configuration", EndpointConfigName="c-1")
    refused(client.describe_model, "Could not find model", ModelName="m-1")


class Load:
    """Asks without pause, and counts what comes back."""

    def __init__(self, local: Local) -> None:
        self.outcomes: Counter[str] = Counter()
        self._local = local
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._ask) for _ in range(4)]

    def __enter__(self) -> Load:
        for one in self._threads:
            one.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for one in self._threads:
            one.join(20)

    def _ask(self) -> None:
        while not self._over.is_set():
            try:
                ask(self._local)
                self.outcomes["answered"] += 1
            except Exception as error:
                self.outcomes[str(error)[:200]] += 1


def test_no_request_fails_while_the_configuration_is_replaced(local: Local, client: Any) -> None:
    create_model(client, "m-1")
    create_config(client, "c-1", "m-1")
    create_config(client, "c-2", "m-1", prefix=1024)
    client.create_endpoint(EndpointName="demo", EndpointConfigName="c-1")
    endpoint_is(client, "InService")
    before = set(local.platform.endpoints["demo"].copies)
    with Load(local) as load:
        local.until(lambda: load.outcomes["answered"] > 0)
        client.update_endpoint(EndpointName="demo", EndpointConfigName="c-2")
        found = endpoint_is(client, "InService")
        # What follows shows that the new configuration routes, while requests still come.
        local.until(lambda: next(local.services.journal.newest_first()).reason == "prefix")
    assert set(load.outcomes) == {"answered"}
    assert found["EndpointConfigName"] == "c-2"
    assert before.isdisjoint(local.platform.endpoints["demo"].copies), "blue/green: other instances"


class Failing(SimulatedStarter):
    """Starts no copy of a model that says so."""

    async def start(self, order: CopyOrder, report: Report) -> RunningCopy:
        if order.model.environment.get("BROKEN"):
            raise LocalError(f"{order.copy} ended while it started")
        return await super().start(order, report)


def test_an_update_that_fails_leaves_the_endpoint_as_it_was(tmp_path: Path) -> None:
    starter = Failing(dialect=in_front, adapters=AdapterFiles(tmp_path, {}, write_stand_in), latency=Latency())
    with running(folder=tmp_path, hosting=True, starter=starter) as local:
        client = control(local.url)
        create_model(client, "m-1")
        create_model(client, "m-2", BROKEN="1")
        create_config(client, "c-1", "m-1")
        create_config(client, "c-2", "m-2")
        client.create_endpoint(EndpointName="demo", EndpointConfigName="c-1")
        endpoint_is(client, "InService")
        with Load(local) as load:
            client.update_endpoint(EndpointName="demo", EndpointConfigName="c-2")
            found = endpoint_is(client, "InService")
        assert set(load.outcomes) == {"answered"}
        assert found["EndpointConfigName"] == "c-1"
        assert "ended while it started" in found["FailureReason"]
        client.create_endpoint(EndpointName="other", EndpointConfigName="c-2")
        assert "ended while it started" in endpoint_is(client, "Failed", "other")["FailureReason"]
        client.delete_endpoint(EndpointName="other")
        gone(lambda: client.describe_endpoint(EndpointName="other"))


def instances(client: Any) -> tuple[int, int]:
    (found,) = client.describe_endpoint(EndpointName="demo")["ProductionVariants"]
    return found["CurrentInstanceCount"], found["DesiredInstanceCount"]


def test_instances_are_there_before_components_and_stay_as_many_as_desired(client: Any) -> None:
    create_model(client, "m-1")
    create_config(client, "c-1", None, instances=2)
    client.create_endpoint(EndpointName="demo", EndpointConfigName="c-1")
    endpoint_is(client, "InService")
    assert instances(client) == (2, 2)
    create_component(client, "base", copies=2)
    component_is(client, "InService", "base")
    assert instances(client) == (2, 2)
    client.delete_inference_component(InferenceComponentName="base")
    gone(lambda: client.describe_inference_component(InferenceComponentName="base"))
    there, desired = instances(client)
    assert there == desired
    create_component(client, "base", copies=1)
    component_is(client, "InService", "base")
    there, desired = instances(client)
    assert there == desired >= 1


@pytest.fixture
def parts(client: Any) -> Any:
    create_model(client, "m-1")
    create_config(client, "c-1", None, instances=1)
    client.create_endpoint(EndpointName="demo", EndpointConfigName="c-1")
    endpoint_is(client, "InService")
    create_component(client, "base", copies=2)
    component_is(client, "InService", "base")
    return client


def create_component(client: Any, name: str, *, copies: int = 1, model: str = "m-1", base: str | None = None) -> None:
    specification: dict[str, Any] = {"ModelName": model}
    if base is not None:
        artifact = {"ArtifactUrl": f"s3://acme-adapters/{name}.tar.gz"}
        specification = {"BaseInferenceComponentName": base, "Container": artifact}
    else:
        specification["ComputeResourceRequirements"] = {
            "NumberOfAcceleratorDevicesRequired": 1,
            "MinMemoryRequiredInMb": 1024,
        }
    options = {} if base else {"RuntimeConfig": {"CopyCount": copies}}
    client.create_inference_component(
        InferenceComponentName=name,
        EndpointName="demo",
        **({} if base else {"VariantName": "primary"}),
        Specification=specification,
        **options,
    )


def test_components_and_adapters_come_and_go(local: Local, parts: Any) -> None:
    create_component(parts, "legal", base="base")
    component_is(parts, "InService", "legal")
    base, adapter = (ask(local, InferenceComponentName=name)["Body"] for name in ("base", "legal"))
    assert base != adapter
    refused(parts.delete_inference_component, "legal are adapters of it", InferenceComponentName="base")
    refused(parts.delete_endpoint, "it has the inference components base, legal", EndpointName="demo")
    copies = set(local.platform.endpoints["demo"].copies)
    parts.delete_inference_component(InferenceComponentName="legal")
    gone(lambda: parts.describe_inference_component(InferenceComponentName="legal"))
    assert set(local.platform.endpoints["demo"].copies) == copies, "nothing else restarts"
    parts.delete_inference_component(InferenceComponentName="base")
    gone(lambda: parts.describe_inference_component(InferenceComponentName="base"))
    parts.delete_endpoint(EndpointName="demo")
    gone(lambda: parts.describe_endpoint(EndpointName="demo"))


def test_a_component_takes_another_model_without_a_request_failing(local: Local, parts: Any) -> None:
    create_component(parts, "legal", base="base")
    component_is(parts, "InService", "legal")
    create_model(parts, "m-2", SM_VLLM_MAX_NUM_SEQS="8")
    before = set(local.platform.endpoints["demo"].copies)
    outcomes: Counter[str] = Counter()
    over = threading.Event()

    def load() -> None:
        while not over.is_set():
            for name in ("base", "legal"):
                try:
                    ask(local, InferenceComponentName=name)
                    outcomes["answered"] += 1
                except Exception as error:
                    outcomes[str(error)[:200]] += 1

    thread = threading.Thread(target=load)
    thread.start()
    specification = {
        "ModelName": "m-2",
        "ComputeResourceRequirements": {"NumberOfAcceleratorDevicesRequired": 1, "MinMemoryRequiredInMb": 1024},
    }
    parts.update_inference_component(InferenceComponentName="base", Specification=specification)
    found = component_is(parts, "InService", "base")
    over.set()
    thread.join(20)
    assert set(outcomes) == {"answered"}
    assert found["Specification"]["ModelName"] == "m-2"
    assert before.isdisjoint(local.platform.endpoints["demo"].copies)


def test_a_component_endpoint_takes_another_configuration_with_its_copies(local: Local, parts: Any) -> None:
    create_config(parts, "c-2", None, instances=1, prefix=1024)
    before = set(local.platform.endpoints["demo"].copies)
    parts.update_endpoint(EndpointName="demo", EndpointConfigName="c-2")
    assert endpoint_is(parts, "InService")["EndpointConfigName"] == "c-2"
    assert set(local.platform.endpoints["demo"].copies) == before
    ask(local, InferenceComponentName="base")


def test_what_cannot_be_made_is_refused(client: Any) -> None:
    create_model(client, "m-1")
    create_config(client, "c-1", "m-1")
    refused(create_model, "Cannot create already existing model", client=client, name="m-1")
    refused(create_config, "Could not find model", client=client, name="c-2", model="m-9")
    refused(
        create_config, "Cannot create already existing endpoint configuration", client=client, name="c-1", model="m-1"
    )
    absent = {"EndpointName": "demo", "EndpointConfigName": "c-9"}
    refused(client.create_endpoint, "Could not find endpoint configuration", **absent)
    refused(client.update_endpoint, "Could not find endpoint", **absent)
    refused(client.delete_endpoint, "Could not find endpoint", EndpointName="demo")
    client.create_endpoint(EndpointName="demo", EndpointConfigName="c-1")
    refused(client.create_endpoint, "already existing endpoint", EndpointName="demo", EndpointConfigName="c-1")
    endpoint_is(client, "InService")
    refused(client.delete_inference_component, "Could not find inference component", InferenceComponentName="x")


def test_tags_are_kept(client: Any) -> None:
    client.create_model(
        ModelName="m-1", ExecutionRoleArn=ROLE, PrimaryContainer={"Image": IMAGE}, Tags=[{"Key": "team", "Value": "a"}]
    )
    arn = client.describe_model(ModelName="m-1")["ModelArn"]
    client.add_tags(ResourceArn=arn, Tags=[{"Key": "stage", "Value": "b"}])
    tags = {one["Key"]: one["Value"] for one in client.list_tags(ResourceArn=arn)["Tags"]}
    assert tags == {"team": "a", "stage": "b"}
    client.delete_tags(ResourceArn=arn, TagKeys=["team", "absent"])
    assert client.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "stage", "Value": "b"}]


def test_copies_of_components_can_be_restarted_with_the_configuration(tmp_path: Path) -> None:
    choices = RoutingChoices(config_swap=ConfigSwap.RESTART_COPIES)
    with running(folder=tmp_path, hosting=True, choices=choices) as local:
        client = control(local.url)
        create_model(client, "m-1")
        create_config(client, "c-1", None, instances=1)
        create_config(client, "c-2", None, instances=1, prefix=1024)
        client.create_endpoint(EndpointName="demo", EndpointConfigName="c-1")
        endpoint_is(client, "InService")
        create_component(client, "base", copies=2)
        component_is(client, "InService", "base")
        before = set(local.platform.endpoints["demo"].copies)
        client.update_endpoint(EndpointName="demo", EndpointConfigName="c-2")
        endpoint_is(client, "InService")
        assert before.isdisjoint(local.platform.endpoints["demo"].copies)
        ask(local, InferenceComponentName="base")


def test_a_request_whose_body_comes_after_the_update_is_answered(local: Local, client: Any) -> None:
    create_model(client, "m-1")
    create_config(client, "c-1", "m-1")
    create_config(client, "c-2", "m-1", prefix=1024)
    client.create_endpoint(EndpointName="demo", EndpointConfigName="c-1")
    endpoint_is(client, "InService")
    blue = local.platform.endpoints["demo"]
    body = chat()
    connection = http.client.HTTPConnection("127.0.0.1", int(local.url.rpartition(":")[2]), timeout=20)
    connection.putrequest("POST", "/endpoints/demo/invocations")
    connection.putheader("authorization", "AWS4-HMAC-SHA256 Credential=x")
    connection.putheader("content-type", "application/json")
    connection.putheader("content-length", str(len(body)))
    connection.endheaders(body[:10])
    client.update_endpoint(EndpointName="demo", EndpointConfigName="c-2")
    endpoint_is(client, "InService")
    local.until(lambda: not blue.copies)
    connection.send(body[10:])
    answer = connection.getresponse()
    assert (answer.status, answer.read()[:1]) == (200, b"{")
    connection.close()
