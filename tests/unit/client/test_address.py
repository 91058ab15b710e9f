"""Endpoints, components and adapters by the names of the spec, from files of outputs and deployed stacks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.unit.client.network import FakeTransport
from warmstack.client.connections import Connection
from warmstack.client.endpoint import EndpointClient
from warmstack.client.failures import EndpointError, NotConfigured
from warmstack.client.session import SessionMode

PLAIN = {"EndpointName": "chat-prod", "Dialect": "lmi", "SessionSeconds": "1200"}
CHAT = '{"name":"chat","physical_name":"x-prod-chat","dialect":"vllm"}'
RERANK = '{"name":"rerank","physical_name":"x-prod-rerank","dialect":"sglang"}'
PARTS = {"EndpointName": "x-prod", "Dialect": "sglang,vllm", "SessionSeconds": "0", "Componentchat1": CHAT}
BOTH = PARTS | {"Componentrerank2": RERANK}


class CloudFormation:
    def __init__(self, stacks: Mapping[str, Mapping[str, str]]) -> None:
        self.stacks = stacks

    def client(self, name: str, **_: Any) -> CloudFormation:
        assert name == "cloudformation"
        return self

    def describe_stacks(self, *, StackName: str) -> dict[str, Any]:  # noqa: N803
        if StackName not in self.stacks:
            message = f"Stack with id {StackName} does not exist"
            raise ClientError({"Error": {"Code": "ValidationError", "Message": message}}, "DescribeStacks")
        listed = [{"OutputKey": key, "OutputValue": value} for key, value in self.stacks[StackName].items()]
        return {"Stacks": [{"Outputs": listed} if listed else {}]}


def client(source: str | Path, stacks: Mapping[str, Mapping[str, str]] | None = None, **options: Any) -> EndpointClient:
    connection = Connection(transport=FakeTransport(), session=CloudFormation(stacks or {}))
    return EndpointClient.from_outputs(source, connection=connection, **options)


def written(folder: Path, **stacks: Mapping[str, str]) -> Path:
    path = folder / "cdk-outputs.json"
    path.write_text(json.dumps(stacks))
    return path


def test_a_file_of_outputs_names_the_endpoint(tmp_path: Path) -> None:
    made = client(written(tmp_path, chat=PLAIN))
    assert (made.target.endpoint, made.target.dialect, made.target.component) == ("chat-prod", "lmi", None)
    assert client(str(tmp_path / "cdk-outputs.json")).target == made.target


def test_a_deployed_stack_is_asked_for_its_outputs() -> None:
    assert client("chat", {"chat": PLAIN}).target.endpoint == "chat-prod"
    with pytest.raises(EndpointError, match="does not exist"):
        client("chta", {"chat": PLAIN})
    with pytest.raises(NotConfigured, match="chat: the stack has no output EndpointName"):
        client("chat", {"chat": {}})


def test_one_of_several_stacks_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, chat=PLAIN, parts=PARTS)
    with pytest.raises(NotConfigured, match=r"holds several stacks \(chat, parts\); name one"):
        client(path)
    with pytest.raises(NotConfigured, match="has no stack 'chta'; it has chat, parts"):
        client(path, stack="chta")
    assert client(path, stack="parts").target.endpoint == "x-prod"


def test_the_only_component_is_taken_and_of_several_none(tmp_path: Path) -> None:
    one = client(written(tmp_path, x=PARTS)).target
    assert (one.component, one.base, one.dialect) == ("x-prod-chat", "chat", "vllm")
    assert client(written(tmp_path, x=BOTH)).target.component is None


@pytest.mark.parametrize("name", ["rerank", "x-prod-rerank"])
def test_a_component_goes_by_its_name_in_the_spec_or_its_physical_one(tmp_path: Path, name: str) -> None:
    found = client(written(tmp_path, x=BOTH), component=name).target
    assert (found.component, found.base, found.dialect) == ("x-prod-rerank", "rerank", "sglang")


def test_a_component_that_is_not_there_has_a_neighbour(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured, match="endpoint x-prod publishes no component 'rernk'; did you mean 'rerank'"):
        client(written(tmp_path, x=BOTH), component="rernk")
    with pytest.raises(NotConfigured, match="it has none"):
        client(written(tmp_path, x=PLAIN), component="chat")


def test_an_adapter_goes_by_its_name_in_the_spec(tmp_path: Path) -> None:
    assert client(written(tmp_path, x=PARTS), adapter="legal").target.component == "x-prod-chat-legal"
    made = client(written(tmp_path, x=BOTH), component="rerank").adapter("legal").adapter("medical")
    assert made.target.component == "x-prod-rerank-medical"
    with pytest.raises(NotConfigured, match="adapter 'legal' is found by the spec's name of its component"):
        client(written(tmp_path, x=BOTH), adapter="legal")


def test_without_outputs_names_are_physical() -> None:
    connection = Connection(transport=FakeTransport())
    made = EndpointClient("x-prod", connection=connection)
    assert made.component("x-prod-chat").target.component == "x-prod-chat"
    with pytest.raises(NotConfigured, match="adapter 'legal' is found"):
        made.component("x-prod-chat").adapter("legal")


def test_a_stack_without_sessions_is_not_asked_for_any(tmp_path: Path) -> None:
    assert client(written(tmp_path, x=PARTS))._mode is SessionMode.OFF
    assert client(written(tmp_path, x=PARTS), sessions="on")._mode is SessionMode.ON
    assert client(written(tmp_path, x=PLAIN))._mode is SessionMode.AUTO
    older = {key: value for key, value in PARTS.items() if key != "SessionSeconds"}
    assert client(written(tmp_path, x=older))._mode is SessionMode.AUTO


HEAD = '{"x": {"EndpointName": "demo", "Dialect": "vllm", '


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is no JSON file"),
        ("\ufeff{}", "is no JSON file"),
        ("[]", "holds no outputs of a stack"),
        ("{}", "holds no outputs of a stack"),
        ('{"x": 3}', "holds no outputs of a stack"),
        ('{"x": {}}', "stack x: the stack has no output EndpointName"),
        ('{"x": {"EndpointName": 3, "Dialect": "lmi"}}', "stack x: the stack has no output EndpointName"),
        ("[" * 100_000, "is no JSON file"),
        (HEAD + '"SessionSeconds": "' + "9" * 5000 + '"}}', "must be a whole number of seconds"),
        (HEAD + '"ComponentX": "' + "[" * 100_000 + '"}}', "ComponentX is not a component"),
    ],
)
def test_a_file_that_holds_no_outputs_says_so(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "outputs.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(NotConfigured, match=problem):
        client(path)


def test_a_file_that_cannot_be_read_says_how_it_is_written(tmp_path: Path) -> None:
    with pytest.raises(NotConfigured, match=r"none.json cannot be read .* cdk deploy --outputs-file none.json"):
        client(tmp_path / "none.json")
    with pytest.raises(NotConfigured, match="cannot be read"):
        client(tmp_path)
    (tmp_path / "latin.json").write_bytes(b'{"x": "\xff"}')
    with pytest.raises(NotConfigured, match="is no JSON file"):
        client(tmp_path / "latin.json")


def test_sessions_have_three_modes() -> None:
    with pytest.raises(NotConfigured.__mro__[1], match="sessions is 'yes'; it must be one of auto, on, off"):
        EndpointClient("x", sessions="yes", connection=Connection(transport=FakeTransport()))
