"""Rules of templates: assertions on parameters."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.unit.local.aws.running import Running
from tests.unit.local.aws.templates import parameter, text
from tests.unit.local.aws.test_templates import given


def test_rules_are_checked(aws: Running) -> None:
    holds = {"Fn::Not": [{"Fn::Contains": [["1", "2"], {"Ref": "Version"}]}]}
    rules = {
        "Bootstrap": {
            "RuleCondition": {"Fn::Or": [{"Fn::Equals": ["a", "b"]}, {"Fn::And": [{"Fn::Equals": ["1", 1]}]}]},
            "Assertions": [{"Assert": holds, "AssertDescription": "bootstrap it again"}],
        },
        "Skipped": {"RuleCondition": {"Fn::Equals": ["a", "b"]}, "Assertions": [{"Assert": {"Fn::Unknown": []}}]},
    }
    template = text({"One": parameter("1")}, Parameters={"Version": {"Type": "String"}}, Rules=rules)
    with pytest.raises(ClientError, match="bootstrap it again"):
        aws.create(template, Parameters=given(Version="2"))
    aws.create(template, Parameters=given(Version="6"))
    rules["Skipped"]["RuleCondition"] = {"Fn::Equals": ["a", "a"]}
    other = text({"One": parameter("1")}, Parameters={"Version": {"Type": "String", "Default": "6"}}, Rules=rules)
    with pytest.raises(ClientError, match="rule Skipped uses Fn::Unknown, which the local AWS does not know"):
        aws.update(other)


def test_every_member_of_a_list_is_looked_at(aws: Running) -> None:
    both = [{"Fn::EachMemberIn": [{"Ref": "Zones"}, ["a", "b", "c"]]}, {"Fn::EachMemberEquals": [["1", 1], "1"]}]
    rules = {"R": {"Assertions": [{"Assert": one} for one in both]}}
    zones = {"Zones": {"Type": "List<String>", "Default": "a,b"}}
    assert aws.create(text({"One": parameter("1")}, Parameters=zones, Rules=rules))["StackStatus"] == "CREATE_COMPLETE"


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ({"Fn::Contains": [5, "a"]}, "rule R: Fn::Contains takes a list of texts and a text"),
        ({"Fn::Contains": [["a", ["b"]], "a"]}, "rule R: Fn::Contains takes a list of texts and a text"),
        ({"Fn::Contains": ["a"]}, "rule R: Fn::Contains takes a list of texts and a text"),
        ({"Fn::Contains": [["a"], {"Fn::GetAZs": ""}]}, "rule R: .*cannot be answered: Fn::GetAZs"),
        ({"Fn::EachMemberIn": [["a"], "b"]}, "rule R: Fn::EachMemberIn takes two lists of texts"),
        ({"Fn::EachMemberIn": [["a", "c"], ["a", "b"]]}, "an assertion of rule R does not hold"),
        ({"Fn::EachMemberEquals": [["a", "b"], "a"]}, "an assertion of rule R does not hold"),
        ({"Fn::Not": {"Fn::Equals": ["a", "b"]}}, "rule R: Fn::Not takes a list of one condition"),
        ({"Fn::And": []}, "rule R: Fn::And takes a list of conditions"),
        ({"Fn::Or": 5}, "rule R: Fn::Or takes a list of conditions"),
        ({"Fn::Equals": ["a"]}, "rule R: Fn::Equals takes two values"),
        ({"Condition": "None"}, "rule R: Condition cannot be answered: there is no condition 'None'"),
        (5, "rule R: 5 is no condition"),
    ],
)
def test_a_rule_that_is_written_wrongly(aws: Running, condition: Any, said: str) -> None:
    rules = {"R": {"Assertions": [{"Assert": condition}]}}
    with pytest.raises(ClientError, match=said):
        aws.create(text({"One": parameter("1")}, Rules=rules))
