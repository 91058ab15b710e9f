"""The query protocol: what is written is what botocore reads, for every operation that is served."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import botocore.session
import pytest
from botocore.parsers import QueryParser
from botocore.serialize import QuerySerializer

from warmstack.local.aws.cloudformation.query import read_form, read_members
from warmstack.local.aws.cloudformation.xml import write_answer, write_error
from warmstack.local.aws.errors import StackError, invalid

SERVICE = botocore.session.Session().get_service_model("cloudformation")
NAMESPACE = SERVICE.metadata["xmlNamespace"]


def round_trip(operation: str, members: dict[str, Any]) -> dict[str, Any]:
    model = SERVICE.operation_model(operation)
    body = write_answer(model, members, namespace=NAMESPACE, request_id="1")
    parsed = QueryParser().parse({"headers": {}, "body": body, "status_code": 200}, model.output_shape)
    del parsed["ResponseMetadata"]
    return dict(parsed)


def test_members_come_back_as_they_were() -> None:
    at = datetime(2026, 11, 30, 12, 0, 0, 123000, tzinfo=UTC)
    stack = {
        "StackName": "demo",
        "CreationTime": at,
        "DisableRollback": False,
        "StackStatus": "CREATE_COMPLETE",
        "Outputs": [{"OutputKey": "A", "OutputValue": "<&>"}, {"OutputKey": "B", "OutputValue": ""}],
        "Tags": [],
    }
    (found,) = round_trip("DescribeStacks", {"Stacks": [stack]})["Stacks"]
    assert found == stack


def test_what_xml_has_no_form_for_is_replaced() -> None:
    (found,) = round_trip("DescribeStacks", {"Stacks": [{"StackStatusReason": "a\x00b\ud800c"}]})["Stacks"]
    assert found["StackStatusReason"] == "a�b�c"


def test_a_member_that_the_operation_does_not_have_is_a_defect() -> None:
    with pytest.raises(TypeError, match="has no Nothing"):
        round_trip("DescribeStacks", {"Nothing": 1})


def test_what_botocore_writes_is_read() -> None:
    members = {
        "StackName": "demo",
        "Parameters": [{"ParameterKey": "A", "ParameterValue": "1"}, {"ParameterKey": "B", "UsePreviousValue": True}],
        "Capabilities": [f"CAPABILITY_{index}" for index in range(11)],
        "Tags": [],
        "TimeoutInMinutes": 5,
    }
    model = SERVICE.operation_model("CreateStack")
    request = QuerySerializer().serialize_to_request(members, model)
    form = read_form(urlencode(request["body"]).encode())
    assert read_members(form, model.input_shape) == members


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"a=1&a.b=2&StackName=x", "the field a.b is inside a single value"),
        (b"StackName.x=1", "it is a single value"),
        (b"Parameters.1=a&StackName=x", "no list"),
        (b"StackName=x&TimeoutInMinutes=soon", "takes a whole number"),
        (b"\xff", "no form"),
        (b"", "Value null at 'StackName'"),
        (b"StackName=x&Tags.member.1.Value=y", "Value null at 'Tags.1.member.Key'"),
        (b"StackName=x&Tags.member.1.Key=y", "Value null at 'Tags.1.member.Value'"),
    ],
)
def test_what_is_no_request_is_refused(body: bytes, said: str) -> None:
    with pytest.raises(StackError, match=said):
        read_members(read_form(body), SERVICE.operation_model("CreateStack").input_shape)


def test_a_map_is_read_or_refused() -> None:
    shape = SERVICE.operation_model("CreateChangeSet").input_shape
    place = "ResourcesToImport.member.1."
    start = f"StackName=x&ChangeSetName=y&{place}ResourceType=T&{place}LogicalResourceId=L&{place}ResourceIdentifier."
    form = read_form(f"{start}entry.1.key=a&{place}ResourceIdentifier.entry.1.value=b".encode())
    assert read_members(form, shape)["ResourcesToImport"][0]["ResourceIdentifier"] == {"a": "b"}
    for wrong in ("entry.1.key=a", "entry.x.key=a", "a=b"):
        with pytest.raises(StackError, match=r"ResourcesToImport\.1\.member\.ResourceIdentifier is no map"):
            read_members(read_form(f"{start}{wrong}".encode()), shape)


def test_an_error_is_read_by_botocore() -> None:
    body = write_error(invalid("Stack with id x does not exist"), namespace=NAMESPACE, request_id="1")
    parsed = QueryParser().parse({"headers": {}, "body": body, "status_code": 400}, None)
    assert parsed["Error"] == {
        "Type": "Sender",
        "Code": "ValidationError",
        "Message": "Stack with id x does not exist",
    }
