"""What stacks publish is what clients read."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.infrastructure.intrinsics import resolve
from tests.infrastructure.synthesis import ALL, Synthesized, document_of, path_of, synthesize_document, synthesized
from warmstack.errors import WarmstackError
from warmstack.outputs import (
    PARAMETER_CHARACTERS,
    ComponentOutput,
    EndpointOutputs,
    adapter_lists,
    adapter_parameter_name,
    adapter_physical_name,
)

NAMES = st.from_regex(r"[a-z][a-z0-9]{0,19}(-[a-z0-9]{1,10}){0,1}", fullmatch=True)

COMPONENT = '{"name":"chat","physical_name":"x-prod-chat","dialect":"vllm"}'
PUBLISHED = {"EndpointName": "x-prod", "Dialect": "vllm", "ComponentchatAC5588CB": COMPONENT}


def _outputs(stack: Synthesized) -> dict[str, str]:
    """The outputs as DescribeStacks gives them."""
    return {key: resolve(one["Value"], stack.template) for key, one in stack.template["Outputs"].items()}


def _expected(stack: Synthesized) -> EndpointOutputs:
    return EndpointOutputs(
        endpoint_name=stack.plan.endpoint.name,
        dialect=",".join(sorted({one.server for one in stack.plan.models})),
        components={
            one.component: ComponentOutput(name=one.component, physical_name=str(one.physical_name), dialect=one.server)
            for one in stack.plan.models
            if one.component is not None
        },
        session_seconds=stack.plan.endpoint.session_ttl_seconds or 0,
    )


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_a_stacks_outputs_are_read_back(path: Path) -> None:
    stack = synthesized(path)
    assert EndpointOutputs.from_outputs(_outputs(stack)) == _expected(stack)


def test_component_outputs_are_told_apart_whatever_the_names(tmp_path: Path) -> None:
    """Logical ids drop hyphens, and CDK hides ids such as Resource: no two of these may become one."""
    names = ["x-1", "x1", "endpoint-name", "dialect", "component", "resource", "default", "variant"]
    document = document_of("two-models")
    document["endpoint"] |= {"instance_type": "ml.p5.48xlarge", "instances": {"min": 2}}
    last: dict[str, Any] = document["components"][1]
    document["components"] = [last | {"name": name, "copies": {"min": 2}} for name in names]
    stack = synthesize_document(tmp_path, document)
    outputs = _outputs(stack)
    assert sum(key.startswith("Component") for key in outputs) == len(names)
    read = EndpointOutputs.from_outputs(outputs)
    assert read == _expected(stack)
    assert list(read.components) == sorted(names)


def test_outputs_of_others_beside_ours_are_left_alone() -> None:
    found = EndpointOutputs.from_outputs(PUBLISHED | {"DashboardUrl": "https://example.com"})
    assert list(found.components) == ["chat"]


@pytest.mark.parametrize("missing", ["EndpointName", "Dialect"])
def test_a_stack_of_something_else_is_refused(missing: str) -> None:
    outputs = {key: one for key, one in PUBLISHED.items() if key != missing}
    with pytest.raises(WarmstackError) as caught:
        EndpointOutputs.from_outputs(outputs)
    assert str(caught.value) == f"the stack has no output {missing}; it is not a Warmstack endpoint stack"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1.2.3",
        "[]",
        "4",
        "null",
        '{"name":"chat"}',
        '{"name":null,"physical_name":"x","dialect":"lmi"}',
        '{"name":"chat","physical_name":7,"dialect":"lmi"}',
    ],
)
def test_an_output_that_only_looks_like_a_component_is_refused(text: str) -> None:
    with pytest.raises(WarmstackError) as caught:
        EndpointOutputs.from_outputs(PUBLISHED | {"ComponentVersion": text})
    assert str(caught.value) == f"output ComponentVersion is not a component of a Warmstack stack: {text!r}"


def test_a_long_foreign_output_is_cut_in_the_message() -> None:
    with pytest.raises(WarmstackError) as caught:
        EndpointOutputs.from_outputs(PUBLISHED | {"ComponentLog": "x" * 5000})
    assert len(str(caught.value)) < 200


@given(st.lists(NAMES, unique=True, max_size=600))
def test_lists_of_adapters_hold_every_name_once_in_order(names: list[str]) -> None:
    parts = list(adapter_lists(names))
    assert [name for part in parts for name in part] == sorted(names)
    assert all(part for part in parts)


@given(st.lists(NAMES, unique=True, max_size=600))
def test_each_list_fits_its_parameter_and_is_no_shorter_than_need_be(names: list[str]) -> None:
    parts = list(adapter_lists(names))
    assert all(len(",".join(part)) <= PARAMETER_CHARACTERS for part in parts)
    for part, following in itertools.pairwise(parts):
        assert len(",".join((*part, following[0]))) >= PARAMETER_CHARACTERS


def test_lists_split_where_the_parameter_is_full() -> None:
    """Names of 39 characters: 102 of them with commas are 4,079 characters, and one more is too many."""
    names = [f"adapter-{number:03}-" + "a" * 27 for number in range(103)]
    assert {len(one) for one in names} == {39}
    assert [len(part) for part in adapter_lists(names)] == [102, 1]


def test_no_adapters_are_no_lists() -> None:
    assert list(adapter_lists([])) == []


def test_the_published_lists_are_the_specs_adapters() -> None:
    stack = synthesized(path_of("lora-tenants"))
    (served,) = stack.plan.models
    (parameter,) = (one["Properties"] for one in stack.of_type("SSM::Parameter").values())
    assert (
        parameter["Name"]
        == adapter_parameter_name("tenants-prod", "base", 0)
        == "/warmstack/tenants-prod/base/adapters/0"
    )
    assert parameter["Type"] == "StringList"
    assert parameter["Value"].split(",") == sorted(one.name for one in served.adapters)


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_a_client_that_knows_the_rule_finds_every_adapter(path: Path) -> None:
    """From the outputs and the list alone: the endpoint's name, the component's and the adapter's."""
    stack = synthesized(path)
    found = EndpointOutputs.from_outputs(_outputs(stack))
    named = {
        adapter_physical_name(found.endpoint_name, component, name)
        for component in found.components
        for parameter in stack.of_type("SSM::Parameter").values()
        if parameter["Properties"]["Name"].startswith(f"/warmstack/{found.endpoint_name}/{component}/")
        for name in parameter["Properties"]["Value"].split(",")
    }
    adapters = {
        one["Properties"]["InferenceComponentName"]
        for one in stack.of_type("SageMaker::InferenceComponent").values()
        if "BaseInferenceComponentName" in one["Properties"]["Specification"]
    }
    assert named == adapters


def test_a_components_output_is_small_json() -> None:
    (output,) = (
        one for key, one in synthesized(path_of("lora-tenants")).template["Outputs"].items() if key[:9] == "Component"
    )
    assert json.loads(output["Value"]) == {"name": "base", "physical_name": "tenants-prod-base", "dialect": "lmi"}


def test_a_stack_of_before_says_nothing_of_sessions() -> None:
    assert EndpointOutputs.from_outputs(PUBLISHED).session_seconds is None
    assert EndpointOutputs.from_outputs(PUBLISHED | {"SessionSeconds": "0"}).session_seconds == 0


@pytest.mark.parametrize("text", ["", "-1", "20m", "1.5", "\u0661"])
def test_seconds_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(WarmstackError, match=r"output SessionSeconds is .*; it must be a whole number of seconds"):
        EndpointOutputs.from_outputs(PUBLISHED | {"SessionSeconds": text})
