"""What an update makes of an endpoint's instances: how many there are, which stay, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.unit.local.clients import control
from tests.unit.local.hosting.starters import ToldStarter
from tests.unit.local.hosting.test_hosting import (
    ROLE,
    ask,
    component_is,
    create_component,
    create_model,
    endpoint_is,
    gone,
    instances,
    refused,
)
from tests.unit.local.running import Local, running

KEEP = {"RetainAllVariantProperties": True}
BUT_COUNTS = {"ExcludeRetainedVariantProperties": [{"VariantPropertyType": "DesiredInstanceCount"}]}


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Local]:
    with running(folder=tmp_path, hosting=True, accelerators=1) as local:
        create_model(control(local.url), "m-1")
        yield local


@pytest.fixture
def client(local: Local) -> Any:
    return control(local.url)


def configure(
    client: Any,
    name: str,
    count: int,
    *,
    model: str | None = None,
    variant: str = "primary",
    scaling: tuple[int, int] | None = None,
    weight: float = 1.0,
) -> None:
    made: dict[str, Any] = {"VariantName": variant, "InstanceType": "ml.g5.xlarge", "InitialInstanceCount": count}
    made["InitialVariantWeight"] = weight
    if model is not None:
        made["ModelName"] = model
    if scaling is not None:
        least, most = scaling
        made["ManagedInstanceScaling"] = {"Status": "ENABLED", "MinInstanceCount": least, "MaxInstanceCount": most}
    client.create_endpoint_config(EndpointConfigName=name, ProductionVariants=[made], ExecutionRoleArn=ROLE)


def host(client: Any, count: int, *, copies: int = 0, scaling: tuple[int, int] | None = None) -> None:
    """Create an endpoint for components, and one component on it where there are to be copies."""
    configure(client, "c-1", count, scaling=scaling)
    client.create_endpoint(EndpointName="demo", EndpointConfigName="c-1")
    endpoint_is(client, "InService")
    if copies:
        create_component(client, "base", copies=copies)
        component_is(client, "InService", "base")


def update(client: Any, config: str = "c-2", **members: Any) -> dict[str, Any]:
    client.update_endpoint(EndpointName="demo", EndpointConfigName=config, **members)
    return endpoint_is(client, "InService")


@pytest.mark.parametrize(("now", "then"), [(1, 3), (3, 1), (2, 2)])
def test_hosts_of_components_become_as_many_as_the_configuration_says(client: Any, now: int, then: int) -> None:
    host(client, now, copies=1)
    configure(client, "c-2", then)
    update(client)
    assert instances(client) == (then, then)


def test_instances_with_copies_stay(local: Local, client: Any) -> None:
    host(client, 3, copies=2)
    before = set(local.platform.endpoints["demo"].copies)
    configure(client, "c-2", 1)
    update(client)
    assert instances(client) == (2, 2)
    assert set(local.platform.endpoints["demo"].copies) == before


@pytest.mark.parametrize(("members", "count"), [({}, 3), (KEEP, 1), (KEEP | BUT_COUNTS, 3), (BUT_COUNTS, 3)], ids=str)
@pytest.mark.parametrize("model", [None, "m-1"])
def test_counts_are_retained_where_that_is_asked_for(
    client: Any, members: dict[str, Any], count: int, model: str | None
) -> None:
    configure(client, "c-1", 1, model=model)
    client.create_endpoint(EndpointName="demo", EndpointConfigName="c-1")
    endpoint_is(client, "InService")
    configure(client, "c-2", 3, model=model, weight=5.0)
    found = update(client, **members)
    assert instances(client) == (count, count)
    (one,) = found["ProductionVariants"]
    assert one["CurrentWeight"] == (1.0 if KEEP.items() <= members.items() else 5.0)


def test_retained_counts_keep_within_the_bounds_of_scaling(client: Any) -> None:
    host(client, 2, scaling=(1, 4))
    configure(client, "c-2", 1, scaling=(3, 4))
    update(client, **KEEP)
    assert instances(client) == (3, 3)


def test_a_variant_of_another_name_has_its_instances(client: Any) -> None:
    host(client, 2)
    configure(client, "c-2", 2, variant="other")
    (one,) = update(client, **KEEP)["ProductionVariants"]
    assert (one["VariantName"], one["CurrentInstanceCount"]) == ("other", 2)


def test_an_empty_host_becomes_an_endpoint_with_a_model(local: Local, client: Any) -> None:
    host(client, 2)
    configure(client, "c-2", 2, model="m-1")
    update(client)
    ask(local)
    configure(client, "c-3", 2)
    update(client, "c-3")
    create_component(client, "base", copies=1)
    component_is(client, "InService", "base")
    ask(local, InferenceComponentName="base")


@pytest.mark.parametrize("changes", [{"model": "m-1"}, {"variant": "other"}], ids=str)
def test_no_configuration_takes_the_hosts_of_components_away(
    local: Local, client: Any, changes: dict[str, str]
) -> None:
    host(client, 2, copies=1)
    create_component(client, "legal", base="base")
    component_is(client, "InService", "legal")
    configure(client, "c-2", 2, **changes)  # type: ignore[arg-type]
    refused(
        client.update_endpoint,
        "the inference components base, legal are on variant primary, which hosts no components there",
        EndpointName="demo",
        EndpointConfigName="c-2",
    )
    assert client.describe_endpoint(EndpointName="demo")["EndpointStatus"] == "InService"
    ask(local, InferenceComponentName="legal")


def test_a_configuration_that_is_not_served_is_refused(client: Any) -> None:
    variant = {"VariantName": "primary", "ModelName": "m-1", "InstanceType": "ml.g5.xlarge", "InitialInstanceCount": 1}
    output = {"OutputConfig": {"S3OutputPath": "s3://acme-answers/"}}
    client.create_endpoint_config(EndpointConfigName="later", ProductionVariants=[variant], AsyncInferenceConfig=output)
    refused(
        client.create_endpoint,
        "asynchronous inference is not served here",
        EndpointName="demo",
        EndpointConfigName="later",
    )


def scale(client: Any, count: int) -> None:
    client.update_inference_component_runtime_config(
        InferenceComponentName="base", DesiredRuntimeConfig={"CopyCount": count}
    )
    component_is(client, "InService", "base")


def test_instances_go_with_their_copies_only_where_they_are_scaled(tmp_path: Path) -> None:
    for scaling, left in ((None, 3), ((0, 4), 0), ((1, 4), 1)):
        with running(folder=tmp_path, hosting=True, accelerators=1) as local:
            client = control(local.url)
            create_model(client, "m-1")
            host(client, 3, copies=3, scaling=scaling)
            scale(client, 0)
            assert instances(client) == (left, left)
            scale(client, 2)
            assert instances(client) == (max(left, 2),) * 2
            client.delete_inference_component(InferenceComponentName="base")
            gone(lambda client=client: client.describe_inference_component(InferenceComponentName="base"))
            assert instances(client) == (left, left)


def test_an_instance_whose_container_does_not_serve_is_none_that_there_is(tmp_path: Path) -> None:
    starter = ToldStarter(tmp_path)
    with running(folder=tmp_path, hosting=True, starter=starter) as local:
        client = control(local.url)
        create_model(client, "m-1")
        configure(client, "c-1", 2, model="m-1")
        client.create_endpoint(EndpointName="demo", EndpointConfigName="c-1")
        endpoint_is(client, "InService")
        assert instances(client) == (2, 2)
        starter.broken.add("m-1")
        demo = local.platform.endpoints["demo"]
        local.run(local.platform.kill(next(iter(demo.copies.values()))))
        local.until(lambda: sum("(try 3 of 3)" in line for line in local.reports) == 1)
        endpoint_is(client, "InService")
        assert instances(client) == (1, 2)


def test_a_second_endpoint_has_what_the_first_one_leaves(tmp_path: Path) -> None:
    with running(folder=tmp_path, hosting=True, copies=3) as local:
        client = control(local.url)
        create_model(client, "m-1")
        configure(client, "c-1", 2, model="m-1")
        configure(client, "c-2", 2, model="m-1")
        names = ("demo", "second", "third", "fourth")
        for name in names:
            client.create_endpoint(EndpointName=name, EndpointConfigName="c-2" if name == "fourth" else "c-1")
            endpoint_is(client, "InService" if name in names[:2] else "Failed", name)
        assert {name: len(one.copies) for name, one in local.platform.endpoints.items()} == dict(
            zip(names, (2, 1, 0, 0), strict=True)
        )
        why = "this machine takes 3, of which demo has 2, second has 1; --copies starts more"
        found = client.describe_endpoint(EndpointName="third")
        assert found["FailureReason"] == f"third: variant primary: 0 of 2 copies start; {why}"
        # An update has what its endpoint has, and runs both for a time.
        assert update(client)["EndpointConfigName"] == "c-2"
        assert instances(client) == (2, 2)
        client.delete_endpoint(EndpointName="demo")
        gone(lambda: client.describe_endpoint(EndpointName="demo"))
        client.delete_endpoint(EndpointName="third")
        gone(lambda: client.describe_endpoint(EndpointName="third"))
        client.create_endpoint(EndpointName="third", EndpointConfigName="c-1")
        endpoint_is(client, "InService", "third")
        assert len(local.platform.endpoints["third"].copies) == 2


def test_what_an_update_starts_counts_for_others_as_one_fleet(tmp_path: Path) -> None:
    starter = ToldStarter(tmp_path)
    with running(folder=tmp_path, hosting=True, starter=starter, copies=4, starts_at_once=8) as local:
        client = control(local.url)
        create_model(client, "m-1")
        create_model(client, "m-2", SM_VLLM_MAX_NUM_SEQS="8")
        configure(client, "c-1", 1, model="m-1")
        configure(client, "c-2", 3, model="m-2")
        configure(client, "c-3", 4, model="m-1")
        client.create_endpoint(EndpointName="demo", EndpointConfigName="c-1")
        endpoint_is(client, "InService")
        starter.held.add("m-2")
        client.update_endpoint(EndpointName="demo", EndpointConfigName="c-2")
        local.until(lambda: starter.waiting == ["m-2"] * 3)
        client.create_endpoint(EndpointName="other", EndpointConfigName="c-3")
        endpoint_is(client, "InService", "other")
        why = "1 of 4 copies start; this machine takes 4, of which demo has 3; --copies starts more"
        assert local.platform.endpoints["other"].reductions == (f"other: variant primary: {why}",)
        starter.held.clear()
        endpoint_is(client, "InService")
        assert instances(client) == (3, 3)


def test_what_has_no_room_in_an_update_is_told(tmp_path: Path) -> None:
    with running(folder=tmp_path, hosting=True, copies=4) as local:
        client = control(local.url)
        create_model(client, "m-1")
        configure(client, "c-0", 1, model="m-1")
        client.create_endpoint(EndpointName="first", EndpointConfigName="c-0")
        endpoint_is(client, "InService", "first")
        host(client, 1)
        configure(client, "c-2", 5)
        update(client)
        assert instances(client) == (3, 3)
        line = "demo: variant primary: 3 of 5 instances start; this machine takes 4, of which first has 1; "
        assert local.platform.endpoints["demo"].reductions == (f"{line}--copies starts more",)
        assert f"{line}--copies starts more" in local.reports


def test_an_update_of_a_component_has_as_much_room_as_its_creation(tmp_path: Path) -> None:
    needs = {"NumberOfAcceleratorDevicesRequired": 1, "MinMemoryRequiredInMb": 1024}
    with running(folder=tmp_path, hosting=True, copies=3) as local:
        client = control(local.url)
        for name in ("m-1", "m-2"):
            create_model(client, name, SM_VLLM_MAX_NUM_SEQS=name[-1])
        host(client, 2)
        create_component(client, "other", copies=1)
        component_is(client, "InService", "other")
        create_component(client, "base", copies=6)
        why = "this machine takes 3, of which demo has 1; --copies starts more"
        assert component_is(client, "InService", "base")["FailureReason"] == f"2 of 6 copies start: {why}"
        for members, asked in (
            ({"Specification": {"ModelName": "m-2", "ComputeResourceRequirements": needs}}, None),
            ({"RuntimeConfig": {"CopyCount": 5}}, 5),
            ({"Specification": {"ModelName": "m-1", "ComputeResourceRequirements": needs},
              "RuntimeConfig": {"CopyCount": 4}}, 4),
        ):  # fmt: skip
            client.update_inference_component(InferenceComponentName="base", **members)
            found = component_is(client, "InService", "base")
            assert found.get("FailureReason") == (asked and f"2 of {asked} copies start: {why}")
            assert found["RuntimeConfig"] == {"DesiredCopyCount": 2, "CurrentCopyCount": 2}
            copies = local.platform.endpoints["demo"].copies_of("base")
            assert {one.model.name for one in copies} == {found["Specification"]["ModelName"]}
        with pytest.raises(ClientError, match="ResourceLimitExceeded"):
            client.update_inference_component_runtime_config(
                InferenceComponentName="base", DesiredRuntimeConfig={"CopyCount": 3}
            )
