"""Where the copies of components go that are created one after the other, by real boto3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.local.clients import control
from tests.unit.local.definitions import component, endpoint, variant
from tests.unit.local.hosting.test_hosting import ROLE, component_is, create_model, endpoint_is
from tests.unit.local.running import Local, running

ACCELERATORS = 8
NEEDS = {"chat": 4, "draft": 1}


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    with running(folder=tmp_path, hosting=True, accelerators=ACCELERATORS) as local:
        client = control(local.url)
        create_model(client, "m-1")
        create_model(client, "m-2", SM_VLLM_MAX_NUM_SEQS="8")
        scaling = {"Status": "ENABLED", "MinInstanceCount": 2, "MaxInstanceCount": 3}
        variant = {
            "VariantName": "primary",
            "InstanceType": "ml.p4de.24xlarge",
            "InitialInstanceCount": 2,
            "ManagedInstanceScaling": scaling,
        }
        client.create_endpoint_config(EndpointConfigName="c-1", ProductionVariants=[variant], ExecutionRoleArn=ROLE)
        client.create_endpoint(EndpointName="demo", EndpointConfigName="c-1")
        endpoint_is(client, "InService")
        yield local


def create(local: Local, name: str, copies: int = 2) -> None:
    client = control(local.url)
    client.create_inference_component(
        InferenceComponentName=name,
        EndpointName="demo",
        VariantName="primary",
        Specification=specification("m-1", name),
        RuntimeConfig={"CopyCount": copies},
    )
    component_is(client, "InService", name)


def specification(model: str, name: str) -> dict[str, Any]:
    needs = {"NumberOfAcceleratorDevicesRequired": NEEDS[name], "MinMemoryRequiredInMb": 1024}
    return {"ModelName": model, "ComputeResourceRequirements": needs}


def placed(local: Local) -> list[dict[str, int]]:
    """Return how many copies of each component are on each instance."""
    demo = local.platform.endpoints["demo"]
    return [
        dict(Counter(str(copy.component) for copy in demo.copies_on(one))) for one in demo.variants["primary"].instances
    ]


@pytest.mark.parametrize("order", [("chat", "draft"), ("draft", "chat")])
def test_copies_go_where_those_of_the_whole_template_go(local: Local, tmp_path: Path, order: tuple[str, str]) -> None:
    for name in order:
        create(local, name)
    whole = endpoint(
        variants=(variant(model=None, instances=2, min_instance_count=2, max_instance_count=3),),
        components=tuple(component(name, accelerators=float(count)) for name, count in NEEDS.items()),
    )
    with running(whole, folder=tmp_path, accelerators=ACCELERATORS) as up:
        assert placed(local) == placed(up) == [{"chat": 1, "draft": 1}] * 2


def test_an_instance_comes_where_no_other_has_room_and_no_more_than_may(local: Local) -> None:
    create(local, "chat", copies=5)
    assert [one["chat"] for one in placed(local)] == [2, 2, 1]
    create(local, "draft", copies=5)
    assert sum(one.get("draft", 0) for one in placed(local)) == 5
    (found,) = control(local.url).describe_endpoint(EndpointName="demo")["ProductionVariants"]
    assert (found["CurrentInstanceCount"], found["DesiredInstanceCount"]) == (3, 3)


def test_copies_that_take_the_place_of_others_go_where_those_are(local: Local) -> None:
    create(local, "chat")
    create(local, "draft")
    client = control(local.url)
    client.update_inference_component(InferenceComponentName="chat", Specification=specification("m-2", "chat"))
    component_is(client, "InService", "chat")
    assert placed(local) == [{"draft": 1, "chat": 1}] * 2
