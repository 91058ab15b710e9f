"""YAML as CloudFormation writes it."""

from __future__ import annotations

from typing import Any

import pytest

from warmstack.assembly.template_yaml import load_yaml


@pytest.mark.parametrize(("text", "value"), [
    ("!Ref A", {"Ref": "A"}),
    ("!Condition A", {"Condition": "A"}),
    ("!GetAtt A.B.C", {"Fn::GetAtt": ["A", "B.C"]}),
    ("!GetAtt [A, B]", {"Fn::GetAtt": ["A", "B"]}),
    ('!Sub "${A}"', {"Fn::Sub": "${A}"}),
    ("!Sub ['${A}', {A: !Ref B}]", {"Fn::Sub": ["${A}", {"A": {"Ref": "B"}}]}),
    ("!Join [',', [a, !Ref B]]", {"Fn::Join": [",", ["a", {"Ref": "B"}]]}),
    ("!Select [0, !Split [',', x]]", {"Fn::Select": [0, {"Fn::Split": [",", "x"]}]}),
    ("!If [A, 1, !Ref AWS::NoValue]", {"Fn::If": ["A", 1, {"Ref": "AWS::NoValue"}]}),
    ("!Equals [a, b]", {"Fn::Equals": ["a", "b"]}),
    ("!And [!Condition A, !Not [!Condition B]]",
     {"Fn::And": [{"Condition": "A"}, {"Fn::Not": [{"Condition": "B"}]}]}),
    ("!Or [!Condition A]", {"Fn::Or": [{"Condition": "A"}]}),
    ("!FindInMap [M, a, b]", {"Fn::FindInMap": ["M", "a", "b"]}),
    ("!Base64 x", {"Fn::Base64": "x"}),
    ("!Base64\n  Fn::Sub: x", {"Fn::Base64": {"Fn::Sub": "x"}}),
    ("!ImportValue x", {"Fn::ImportValue": "x"}),
    ("!GetAZs ''", {"Fn::GetAZs": ""}),
    ("!Cidr [a, 1, 2]", {"Fn::Cidr": ["a", 1, 2]}),
    ("!Transform {Name: M}", {"Fn::Transform": {"Name": "M"}}),
    ("!Length [1]", {"Fn::Length": [1]}),
    ("!ToJsonString {a: !Ref B}", {"Fn::ToJsonString": {"a": {"Ref": "B"}}}),
])  # fmt: skip
def test_short_forms(text: str, value: Any) -> None:
    assert load_yaml(text) == value


@pytest.mark.parametrize(("text", "value"), [
    ("2026-11-30", "2026-11-30"),
    ("2026-11-30T10:00:00Z", "2026-11-30T10:00:00Z"),
    ("0123", "0123"),
    ("012345678901", "012345678901"),
    ("22:22", "22:22"),
    ("0x1f", "0x1f"),
    ("1_000", "1_000"),
    ("123456789012", 123456789012),
    ("-5", -5),
    ("0.75", 0.75),
    ("1.5e+3", 1500.0),
    ("1.30.0", "1.30.0"),
    ("true", True),
    ("yes", True),
    ("~", None),
    ("", None),
])  # fmt: skip
def test_plain_values(text: str, value: Any) -> None:
    found = load_yaml(text)
    assert found == value
    assert type(found) is type(value)


def test_keys_are_texts_as_they_are_written() -> None:
    assert load_yaml("{ON: 1, 1: 2, 2026-11-30: 3, null: 4}") == {"ON": 1, "1": 2, "2026-11-30": 3, "null": 4}


def test_anchors_and_merge_keys() -> None:
    text = "base: &base {a: 1, b: !Ref X}\nother: {<<: *base, a: 2}\nsame: *base"
    same = {"a": 1, "b": {"Ref": "X"}}
    assert load_yaml(text) == {"base": same, "other": {"a": 2, "b": {"Ref": "X"}}, "same": same}
