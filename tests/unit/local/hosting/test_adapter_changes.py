"""Adapters that come, go and fail while the copies of their base start."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.local.clients import control
from tests.unit.local.definitions import component, endpoint
from tests.unit.local.hosting.starters import ToldStarter
from tests.unit.local.hosting.test_hosting import (
    ask,
    component_is,
    create_component,
    create_config,
    create_model,
    endpoint_is,
    gone,
)
from tests.unit.local.running import Local, running
from warmstack.local import registration
from warmstack.local.container import ContainerRequest, read_body
from warmstack.local.errors import LocalError
from warmstack.local.platform.copies import Copy, CopyState


@pytest.fixture
def starter(tmp_path: Path) -> ToldStarter:
    return ToldStarter(tmp_path)


@pytest.fixture
def local(tmp_path: Path, starter: ToldStarter) -> Iterator[Local]:
    with running(folder=tmp_path, hosting=True, starter=starter) as local:
        client = control(local.url)
        create_model(client, "m-1", SM_VLLM_MAX_LORAS="8")
        create_config(client, "c-1", None, instances=1)
        client.create_endpoint(EndpointName="demo", EndpointConfigName="c-1")
        endpoint_is(client, "InService")
        create_component(client, "base", copies=1)
        component_is(client, "InService", "base")
        yield local


@pytest.fixture
def client(local: Local) -> Any:
    return control(local.url)


def create_adapters(client: Any, *names: str) -> None:
    for name in names:
        create_component(client, name, base="base")
        component_is(client, "InService", name)


def adapters_on(local: Local, copy: Copy) -> set[str]:
    async def asked() -> list[dict[str, Any]]:
        assert copy.container is not None
        reply = await copy.container.send(ContainerRequest(method="GET", path="/v1/models"))
        found: list[dict[str, Any]] = json.loads(await read_body(reply))["data"]
        return found

    return {one["id"] for one in local.run(asked()) if one.get("parent")}


def test_a_copy_has_the_adapters_that_there_are_when_it_comes_into_service(
    local: Local, client: Any, starter: ToldStarter
) -> None:
    create_adapters(client, "a1", "a2", "a3")
    starter.held.add("adapter a2")
    client.update_inference_component_runtime_config(
        InferenceComponentName="base", DesiredRuntimeConfig={"CopyCount": 2}
    )
    local.until(lambda: starter.waiting == ["adapter a2"])
    for name in ("a1", "a3"):
        client.delete_inference_component(InferenceComponentName=name)
        gone(lambda name=name: client.describe_inference_component(InferenceComponentName=name))
    demo = local.platform.endpoints["demo"]
    client.create_inference_component(
        InferenceComponentName="a4",
        EndpointName="demo",
        Specification={
            "BaseInferenceComponentName": "base",
            "Container": {"ArtifactUrl": "s3://acme-adapters/a4.tar.gz"},
        },
    )
    starter.held.clear()
    component_is(client, "InService", "base")
    component_is(client, "InService", "a4")
    assert [adapters_on(local, one) for one in demo.copies.values()] == [{"a2", "a4"}] * 2


def test_an_adapter_that_fails_leaves_its_base_in_service(local: Local, client: Any, starter: ToldStarter) -> None:
    create_adapters(client, "good", "later")
    starter.broken |= {"adapter bad", "adapter later"}
    create_component(client, "bad", base="base")
    assert "adapter bad ended" in component_is(client, "Failed", "bad")["FailureReason"]
    demo = local.platform.endpoints["demo"]
    (copy,) = demo.copies.values()
    local.run(local.platform.kill(copy))
    local.until(lambda: copy.name not in demo.copies)
    component_is(client, "InService", "base")
    (copy,) = demo.copies.values()
    assert adapters_on(local, copy) == {"good"}
    assert starter.started == ["m-1"] * 2, "the copy started at the first try"
    found = client.describe_inference_component(InferenceComponentName="later")
    assert (found["InferenceComponentStatus"], found["FailureReason"]) == (
        "Failed",
        "adapter later ended while it started",
    )
    for name in ("base", "good"):
        ask(local, InferenceComponentName=name)
    client.delete_inference_component(InferenceComponentName="bad")
    gone(lambda: client.describe_inference_component(InferenceComponentName="bad"))


def test_an_adapter_that_is_refused_at_the_first_start_ends_it(tmp_path: Path, starter: ToldStarter) -> None:
    starter.broken.add("adapter legal")
    whole = endpoint(components=(component("base"), component("legal", base="base")))
    with pytest.raises(LocalError, match="adapter legal ended"), running(whole, folder=tmp_path, starter=starter):
        raise AssertionError("it serves")


def test_an_adapter_of_a_copy_that_hangs_is_deleted_all_the_same(
    local: Local, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registration, "UNLOAD_SECONDS", 0.05)
    create_adapters(client, "legal")
    (copy,) = local.platform.endpoints["demo"].copies.values()
    copy.faults.hangs = True
    client.delete_inference_component(InferenceComponentName="legal")
    gone(lambda: client.describe_inference_component(InferenceComponentName="legal"))
    assert f"{copy.name} does not answer: it keeps adapter legal until it ends" in local.reports


def test_an_adapter_is_loaded_though_a_copy_ends_meanwhile(local: Local, client: Any, starter: ToldStarter) -> None:
    starter.held.add("adapter legal")
    create_component(client, "legal", base="base")
    local.until(lambda: starter.waiting == ["adapter legal"])
    demo = local.platform.endpoints["demo"]
    (copy,) = demo.copies.values()
    local.run(local.platform.kill(copy))
    # Once for the copy that ended, and once for the one in its place.
    local.until(lambda: starter.waiting == ["adapter legal"] * 2)
    starter.held.clear()
    component_is(client, "InService", "legal")
    local.until(lambda: [one.state for one in demo.copies.values()] == [CopyState.IN_SERVICE])
    assert [adapters_on(local, one) for one in demo.copies.values()] == [{"legal"}]


def test_another_artifact_reaches_a_copy_that_starts(local: Local, client: Any, starter: ToldStarter) -> None:
    create_adapters(client, "a1", "a2")
    starter.held.add("adapter a2")
    client.update_inference_component_runtime_config(
        InferenceComponentName="base", DesiredRuntimeConfig={"CopyCount": 2}
    )
    local.until(lambda: starter.waiting == ["adapter a2"])
    other = {"ArtifactUrl": "s3://acme-adapters/other.tar.gz"}
    client.update_inference_component(
        InferenceComponentName="a1", Specification={"BaseInferenceComponentName": "base", "Container": other}
    )
    starter.held.clear()
    component_is(client, "InService", "base")
    component_is(client, "InService", "a1")
    taken = Counter(one for one in starter.taken if one[0] == "a1")
    assert taken == {("a1", "s3://acme-adapters/a1.tar.gz"): 2, ("a1", other["ArtifactUrl"]): 2}
