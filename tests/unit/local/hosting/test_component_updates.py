"""What an update of a component leaves behind, when it works and when something gets in its way."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.local.clients import control
from tests.unit.local.hosting.starters import ToldStarter
from tests.unit.local.hosting.test_hosting import (
    ask,
    component_is,
    create_component,
    create_config,
    create_model,
    endpoint_is,
    gone,
    refused,
)
from tests.unit.local.running import Local, running
from warmstack.local.hosting.changes import POLL_SECONDS
from warmstack.local.platform.copies import CopyState
from warmstack.local.platform.endpoints import Endpoint
from warmstack.local.simulated.starter import SimulatedCopy


@pytest.fixture
def starter(tmp_path: Path) -> ToldStarter:
    return ToldStarter(tmp_path)


@pytest.fixture
def local(tmp_path: Path, starter: ToldStarter) -> Iterator[Local]:
    with running(folder=tmp_path, hosting=True, starter=starter, starts_at_once=8) as local:
        client = control(local.url)
        for name in ("m-1", "m-2"):
            create_model(client, name, SM_VLLM_MAX_NUM_SEQS=name[-1])
        create_config(client, "c-1", None, instances=2)
        client.create_endpoint(EndpointName="demo", EndpointConfigName="c-1")
        endpoint_is(client, "InService")
        create_component(client, "base", copies=2)
        component_is(client, "InService", "base")
        yield local


@pytest.fixture
def client(local: Local) -> Any:
    return control(local.url)


def runs(model: str) -> dict[str, Any]:
    needs = {"NumberOfAcceleratorDevicesRequired": 1, "MinMemoryRequiredInMb": 1024}
    return {"ModelName": model, "ComputeResourceRequirements": needs}


def serving(local: Local) -> Counter[str]:
    """Return how many copies run each model; all of them are in service."""
    copies = local.platform.endpoints["demo"].copies.values()
    assert {one.state for one in copies} <= {CopyState.IN_SERVICE}, [(one.name, one.state) for one in copies]
    return Counter(one.model.name for one in copies)


@pytest.mark.parametrize("copies", [1, 2, 4])
def test_an_update_whose_copies_do_not_start_leaves_what_served(
    local: Local, client: Any, starter: ToldStarter, copies: int
) -> None:
    starter.broken.add("m-2")
    client.update_inference_component(
        InferenceComponentName="base", Specification=runs("m-2"), RuntimeConfig={"CopyCount": copies}
    )
    found = component_is(client, "InService", "base")
    assert found["Specification"]["ModelName"] == "m-1"
    assert "m-2 ended while it started" in found["FailureReason"]
    assert found["RuntimeConfig"] == {"DesiredCopyCount": 2, "CurrentCopyCount": 2}
    assert serving(local) == {"m-1": 2}
    ask(local, InferenceComponentName="base")


def test_the_next_update_begins_with_what_runs_and_not_with_what_was_refused(
    local: Local, client: Any, starter: ToldStarter
) -> None:
    starter.broken.add("m-2")
    client.update_inference_component(InferenceComponentName="base", Specification=runs("m-2"))
    component_is(client, "InService", "base")
    client.delete_model(ModelName="m-2")
    client.update_inference_component(InferenceComponentName="base", RuntimeConfig={"CopyCount": 3})
    found = component_is(client, "InService", "base")
    assert found["Specification"]["ModelName"] == "m-1"
    assert "FailureReason" not in found
    assert serving(local) == {"m-1": 3}
    create_component(client, "other")
    component_is(client, "InService", "other")


def test_another_specification_keeps_the_copies_that_scaling_has_chosen(local: Local, client: Any) -> None:
    client.update_inference_component_runtime_config(
        InferenceComponentName="base", DesiredRuntimeConfig={"CopyCount": 3}
    )
    component_is(client, "InService", "base")
    client.update_inference_component(InferenceComponentName="base", Specification=runs("m-2"))
    assert component_is(client, "InService", "base")["RuntimeConfig"]["DesiredCopyCount"] == 3
    assert serving(local) == {"m-2": 3}


def test_more_copies_replace_none_though_other_models_come_and_go(local: Local, client: Any) -> None:
    create_model(client, "m-3")
    client.update_inference_component(InferenceComponentName="base", Specification=runs("m-3"))
    component_is(client, "InService", "base")
    before = set(local.platform.endpoints["demo"].copies)
    client.delete_model(ModelName="m-1")
    client.update_inference_component(InferenceComponentName="base", RuntimeConfig={"CopyCount": 3})
    component_is(client, "InService", "base")
    assert before < set(local.platform.endpoints["demo"].copies)


def begin_a_roll(local: Local, client: Any, starter: ToldStarter) -> None:
    """Have copies of m-2 start, and hold them there."""
    starter.held.add("m-2")
    client.update_inference_component(InferenceComponentName="base", Specification=runs("m-2"))
    local.until(lambda: starter.waiting == ["m-2"] * 2)


@pytest.mark.parametrize("works", [True, False])
def test_a_copy_that_ends_during_an_update_is_no_copy_too_many(
    local: Local, client: Any, starter: ToldStarter, works: bool
) -> None:
    begin_a_roll(local, client, starter)
    demo = local.platform.endpoints["demo"]
    killed = next(iter(demo.copies.values()))
    local.run(local.platform.kill(killed))
    local.until(lambda: starter.started.count("m-1") == 3)
    ask(local, InferenceComponentName="base")
    if not works:
        starter.broken.add("m-2")
    starter.held.clear()
    component_is(client, "InService", "base")
    assert serving(local) == ({"m-2": 2} if works else {"m-1": 2})


@pytest.mark.parametrize("works", [True, False])
def test_an_instance_that_is_replaced_during_an_update_is_no_copy_too_many(
    local: Local, client: Any, starter: ToldStarter, works: bool
) -> None:
    begin_a_roll(local, client, starter)
    demo = local.platform.endpoints["demo"]
    local.run(local.platform.restart_instance(demo, demo.variants["primary"].instances[0]))
    local.until(lambda: starter.started.count("m-1") == 3 and starter.waiting == ["m-2"] * 2)
    if not works:
        starter.broken.add("m-2")
    starter.held.clear()
    component_is(client, "InService", "base")
    assert serving(local) == ({"m-2": 2} if works else {"m-1": 2})


def test_a_component_that_is_deleted_during_an_update_leaves_nothing(
    local: Local, client: Any, starter: ToldStarter
) -> None:
    begin_a_roll(local, client, starter)
    demo = local.platform.endpoints["demo"]
    client.delete_inference_component(InferenceComponentName="base")
    local.until(lambda: not demo.components and not demo.copies)
    client.delete_endpoint(EndpointName="demo")


def test_an_update_that_fails_as_nobody_foresees_comes_to_rest(local: Local, client: Any, starter: ToldStarter) -> None:
    starter.odd.add("m-2")
    client.update_inference_component(InferenceComponentName="base", Specification=runs("m-2"))
    found = component_is(client, "InService", "base")
    assert (found["Specification"]["ModelName"], found["FailureReason"]) == ("m-1", "RuntimeError: m-2 is odd")
    told = "base: something unforeseen happened while it was Updating: RuntimeError: m-2 is odd"
    assert told in local.reports
    create_config(client, "c-2", "m-2")
    client.create_endpoint(EndpointName="other", EndpointConfigName="c-2")
    assert endpoint_is(client, "Failed", "other")["FailureReason"] == "RuntimeError: m-2 is odd"
    create_component(client, "another", model="m-2")
    assert component_is(client, "Failed", "another")["FailureReason"] == "RuntimeError: m-2 is odd"
    client.delete_endpoint(EndpointName="other")


def test_a_component_that_has_never_served_is_not_in_service_after_another_try(
    client: Any, starter: ToldStarter
) -> None:
    starter.broken |= {"m-2", "m-3"}
    create_model(client, "m-3")
    create_component(client, "other", copies=1, model="m-2")
    component_is(client, "Failed", "other")
    client.update_inference_component(InferenceComponentName="other", Specification=runs("m-3"))
    assert "m-3 ended" in component_is(client, "Failed", "other")["FailureReason"]
    starter.broken.clear()
    client.update_inference_component(InferenceComponentName="other", Specification=runs("m-3"))
    found = component_is(client, "InService", "other")
    assert found["RuntimeConfig"] == {"DesiredCopyCount": 1, "CurrentCopyCount": 1}


def test_a_container_of_its_own_is_described_and_goes_back_too(local: Local, client: Any, starter: ToldStarter) -> None:
    def container(sequences: str) -> dict[str, Any]:
        image = "763104351884.dkr.ecr.us-west-2.amazonaws.com/vllm:0.30.0-gpu-py312"
        needs = {"NumberOfAcceleratorDevicesRequired": 1, "MinMemoryRequiredInMb": 1024}
        made = {"Image": image, "Environment": {"SM_VLLM_MAX_NUM_SEQS": sequences}, "ArtifactUrl": "s3://acme/w.tar.gz"}
        return {"Container": made, "ComputeResourceRequirements": needs}

    client.create_inference_component(
        InferenceComponentName="own",
        EndpointName="demo",
        VariantName="primary",
        Specification=container("4"),
        RuntimeConfig={"CopyCount": 1},
    )
    first = component_is(client, "InService", "own")["Specification"]
    assert first["Container"]["Environment"] == {"SM_VLLM_MAX_NUM_SEQS": "4"}
    assert first["Container"]["DeployedImage"]["SpecifiedImage"] == container("4")["Container"]["Image"]
    assert first["Container"]["ArtifactUrl"] == "s3://acme/w.tar.gz"
    starter.broken.add("own")
    client.update_inference_component(InferenceComponentName="own", Specification=container("8"))
    assert component_is(client, "InService", "own")["Specification"] == first


def scale_is_refused(client: Any, status: str, name: str = "base") -> None:
    refused(
        client.update_inference_component_runtime_config,
        f"Cannot update inference component {name} while it is {status}",
        InferenceComponentName=name,
        DesiredRuntimeConfig={"CopyCount": 3},
    )


def test_a_component_that_changes_is_not_scaled(local: Local, client: Any, starter: ToldStarter) -> None:
    demo = local.platform.endpoints["demo"]
    begin_a_roll(local, client, starter)
    scale_is_refused(client, "Updating")
    create_component(client, "other", model="m-2")
    scale_is_refused(client, "Creating", "other")
    starter.held.clear()
    component_is(client, "InService", "base")
    component_is(client, "InService", "other")
    busy = demo.copies_of("base")[0]
    busy.enter(in_session=False)
    client.delete_inference_component(InferenceComponentName="base")
    scale_is_refused(client, "Deleting")
    refused(client.delete_inference_component, "while it is Deleting", InferenceComponentName="base")
    busy.leave(in_session=False)
    gone(lambda: client.describe_inference_component(InferenceComponentName="base"))
    assert demo.copies_of("base") == []
    starter.broken.add("m-1")
    create_component(client, "never")
    component_is(client, "Failed", "never")
    scale_is_refused(client, "Failed; update its specification, or delete it", "never")


def test_a_copy_that_outlives_its_component_takes_no_room(local: Local, client: Any) -> None:
    demo = local.platform.endpoints["demo"]
    (busy, _) = demo.copies_of("base")
    busy.enter(in_session=False)
    local.run(_lose(demo, "base"))
    create_component(client, "other", copies=2)
    component_is(client, "InService", "other")
    busy.leave(in_session=False)


async def _lose(demo: Endpoint, name: str) -> None:
    del demo.components[name]


def test_nothing_is_kept_of_a_component_that_is_deleted_during_an_update(
    local: Local, client: Any, starter: ToldStarter
) -> None:
    create_component(client, "other", model="m-2")
    component_is(client, "InService", "other")
    starter.held.add("m-2")
    client.update_inference_component(InferenceComponentName="other", RuntimeConfig={"CopyCount": 2})
    local.until(lambda: starter.waiting == ["m-2"])
    client.delete_inference_component(InferenceComponentName="other")
    gone(lambda: client.describe_inference_component(InferenceComponentName="other"))
    local.until(lambda: starter.waiting == [])
    client.delete_model(ModelName="m-2")
    local.run(asyncio.sleep(4 * POLL_SECONDS))
    create_config(client, "c-2", None, instances=2)
    client.update_endpoint(EndpointName="demo", EndpointConfigName="c-2")
    assert endpoint_is(client, "InService")["EndpointConfigName"] == "c-2"


def test_a_copy_that_cannot_be_stopped_keeps_nobody_waiting(
    local: Local, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def stop(_: SimulatedCopy) -> None:
        raise OSError("no such process")

    monkeypatch.setattr(SimulatedCopy, "stop", stop)
    client.update_inference_component_runtime_config(
        InferenceComponentName="base", DesiredRuntimeConfig={"CopyCount": 1}
    )
    component_is(client, "InService", "base")
    assert "something failed in the background: no such process" in local.reports
    client.delete_inference_component(InferenceComponentName="base")
    assert component_is(client, "Failed", "base")["FailureReason"] == "no such process"
    client.delete_inference_component(InferenceComponentName="base")
    gone(lambda: client.describe_inference_component(InferenceComponentName="base"))


def test_a_component_that_is_deleted_at_the_end_of_an_update_leaves_nothing(
    local: Local, client: Any, starter: ToldStarter
) -> None:
    demo = local.platform.endpoints["demo"]
    begin_a_roll(local, client, starter)
    busy = demo.copies_of("base")[0]
    busy.enter(in_session=False)
    starter.held.clear()
    local.until(lambda: busy.state is CopyState.STOPPING)
    client.delete_inference_component(InferenceComponentName="base")
    busy.leave(in_session=False)
    gone(lambda: client.describe_inference_component(InferenceComponentName="base"))
    local.run(asyncio.sleep(0.3))
    assert demo.copies == {}
