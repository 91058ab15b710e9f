"""Requests with a token: done once, however often they are sent."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from tests.unit.local.aws.running import CAPABILITIES, Running
from tests.unit.local.aws.templates import (
    parameter,
    text,
)


def test_a_request_with_a_token_is_done_once(aws: Running) -> None:
    first = aws.create(text({"One": parameter("1")}), ClientRequestToken="token-1")
    again = aws.cloudformation.create_stack(
        StackName="demo",
        TemplateBody=text({"One": parameter("1")}),
        Capabilities=CAPABILITIES,
        ClientRequestToken="token-1",
    )
    assert again["StackId"] == first["StackId"]
    assert aws.events().count("demo CREATE_IN_PROGRESS") == 1


def test_a_token_is_for_one_request(aws: Running) -> None:
    aws.create(text({"One": parameter("1")}))
    aws.update(text({"One": parameter("2")}), ClientRequestToken="token-1")
    with pytest.raises(ClientError, match="Another request had the token token-1") as caught:
        aws.update(text({"One": parameter("3")}), ClientRequestToken="token-1")
    assert caught.value.response["Error"]["Code"] == "TokenAlreadyExistsException"
