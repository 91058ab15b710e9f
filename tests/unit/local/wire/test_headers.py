"""The headers' rules are those of botocore's model of the service, and what they refuse is told."""

from __future__ import annotations

from typing import Any

import botocore.session
import pytest

from warmstack.local.wire.headers import ENDPOINT_NAME, INVOKE_HEADERS, STREAM_HEADERS, Rule, check

OPERATIONS = {"InvokeEndpoint": INVOKE_HEADERS, "InvokeEndpointWithResponseStream": STREAM_HEADERS}


def members(operation: str) -> dict[str, Any]:
    model = botocore.session.get_session().get_service_model("sagemaker-runtime").operation_model(operation)
    return {
        str(shape.serialization["name"]).lower(): shape
        for shape in model.input_shape.members.values()
        if shape.serialization.get("location") == "header"
    }


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_header_of_the_model_has_its_rule(operation: str) -> None:
    found, rules = members(operation), OPERATIONS[operation]
    assert set(rules) == set(found)
    for name, shape in found.items():
        rule = rules[name]
        assert rule.most == shape.metadata["max"], name
        assert rule.least == shape.metadata.get("min", 0), name
        assert rule.shown == shape.metadata["pattern"], name
        assert rule.sensitive == shape.metadata.get("sensitive", False), name
        assert rule.member.lower().removeprefix("inferencecomponent") in {
            member.lower().removeprefix("inferencecomponent")
            for member in botocore.session.get_session()
            .get_service_model("sagemaker-runtime")
            .operation_model(operation)
            .input_shape.members
        }


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        (ENDPOINT_NAME, ["a", "a-b", "a--b1"], ["", "-a", "a-", "a.b", "ä", "a" * 64, "a\n"]),
        (INVOKE_HEADERS["x-amzn-sagemaker-session-id"], ["NEW_SESSION", "a-1"], ["NEW_SESSIONS_", "_", "a" * 257]),
        (STREAM_HEADERS["x-amzn-sagemaker-session-id"], ["a-1"], ["NEW_SESSION"]),
        (INVOKE_HEADERS["x-amzn-sagemaker-prefix-aware-id"], ["team 7", "é"], ["", " x", "x" * 65, "a\x01"]),
        (INVOKE_HEADERS["x-amzn-sagemaker-inference-component"], ["a", "A-b-1"], ["-a", "a-", "a_b", "a" * 64]),
        (INVOKE_HEADERS["content-type"], ["", "application/json"], ["é", "x" * 1025]),
    ],
)
def test_what_a_rule_takes_and_refuses(rule: Rule, good: list[str], bad: list[str]) -> None:
    assert [value for value in good if rule.problems(value)] == []
    assert [value for value in bad if not rule.problems(value)] == []


def test_all_problems_are_told_and_sensitive_values_are_not() -> None:
    headers = {"x-amzn-sagemaker-custom-attributes": "geheim-ä", "x-amzn-sagemaker-inference-id": "x" * 200}
    problem = check("-bad-", headers, INVOKE_HEADERS)
    assert problem is not None
    assert problem.status == 400
    assert problem.message.startswith("3 validation errors detected: Value '-bad-' at 'endpointName' failed")
    assert "Value at 'customAttributes' failed to satisfy constraint" in problem.message
    assert "geheim" not in problem.message
    assert f"Value '{'x' * 100}…' at 'inferenceId'" in problem.message


def test_nothing_is_wrong_with_what_is_right() -> None:
    assert check("demo", {"content-type": "application/json", "x-unknown": "\x00"}, INVOKE_HEADERS) is None
