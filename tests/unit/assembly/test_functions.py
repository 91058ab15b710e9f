"""Intrinsic functions, by what a container gets as an environment variable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.assembly.templates import environment_of, model_of, problems, read, small

MAPPINGS = {"M": {"a": {"one": "1", "list": ["x", "y"]}}}
CONDITIONS = {
    "Yes": {"Fn::Equals": ["a", "a"]},
    "No": {"Fn::Not": [{"Condition": "Yes"}]},
    "Both": {"Fn::And": [{"Condition": "Yes"}, {"Condition": "No"}]},
    "Either": {"Fn::Or": [{"Condition": "Yes"}, {"Condition": "No"}]},
    "Number": {"Fn::Equals": [1, "1"]},
    "Flag": {"Fn::Equals": [True, "true"]},
    "Region": {"Fn::Equals": [{"Ref": "AWS::Region"}, "us-east-1"]},
}
RESOURCES = {
    "Bucket": {"Type": "AWS::S3::Bucket"},
    "Role": {"Type": "AWS::IAM::Role", "Properties": {"RoleName": "one"}},
    "Repository": {"Type": "AWS::ECR::Repository", "Properties": {"RepositoryName": "ours/vllm"}},
    "Topic": {"Type": "AWS::SNS::Topic"},
    "Gone": {"Type": "AWS::S3::Bucket", "Condition": "No"},
}


def environment(folder: Path, value: Any) -> dict[str, str]:
    template = small(X=value) | {
        "Mappings": MAPPINGS,
        "Conditions": CONDITIONS,
        "Parameters": {"P": {"Type": "String", "Default": "p"}, "L": {"Type": "List<Number>", "Default": "1, 2"}},
    }
    template["Resources"] |= RESOURCES
    return dict(model_of(read(folder, template)).environment)


def if_(condition: str) -> dict[str, Any]:
    return {"Fn::If": [condition, "yes", "no"]}


@pytest.mark.parametrize(("value", "text"), [
    ("plain", "plain"),
    (3, "3"),
    (0.5, "0.5"),
    (False, "false"),
    ({"Ref": "P"}, "p"),
    ({"Ref": "AWS::Region"}, "us-east-1"),
    ({"Ref": "AWS::AccountId"}, "111122223333"),
    ({"Ref": "AWS::Partition"}, "aws"),
    ({"Ref": "AWS::URLSuffix"}, "amazonaws.com"),
    ({"Ref": "AWS::StackName"}, "app"),
    ({"Ref": "Bucket"}, "app-bucket"),
    ({"Ref": "Role"}, "one"),
    ({"Ref": "Model"}, "arn:aws:sagemaker:us-east-1:111122223333:model/model"),
    ({"Ref": "Endpoint"}, "arn:aws:sagemaker:us-east-1:111122223333:endpoint/chat"),
    ({"Fn::GetAtt": ["Config", "EndpointConfigName"]}, "app-Config"),
    ({"Fn::GetAtt": "Config.EndpointConfigArn"}, "arn:aws:sagemaker:us-east-1:111122223333:endpoint-config/app-Config"),
    ({"Fn::GetAtt": ["Role", "Arn"]}, "arn:aws:iam::111122223333:role/one"),
    ({"Fn::GetAtt": ["Repository", "RepositoryUri"]}, "111122223333.dkr.ecr.us-east-1.amazonaws.com/ours/vllm"),
    ({"Fn::Join": ["/", ["a", {"Ref": "P"}, 1, True]]}, "a/p/1/true"),
    ({"Fn::Join": [",", {"Ref": "L"}]}, "1,2"),
    ({"Fn::Join": ["", ["a", {"Ref": "AWS::NoValue"}]]}, "a"),
    ({"Fn::Sub": "${P}-${AWS::Region}-${Role.Arn}-${!P}-$P-${ P }"},
     "p-us-east-1-arn:aws:iam::111122223333:role/one-${P}-$P-p"),
    ({"Fn::Sub": ["${P}${Q}", {"P": "over", "Q": {"Ref": "P"}}]}, "overp"),
    ({"Fn::Select": [1, ["a", "b"]]}, "b"),
    ({"Fn::Select": ["0", {"Fn::Split": ["-", "x-y"]}]}, "x"),
    ({"Fn::Select": [0, {"Fn::FindInMap": ["M", "a", "list"]}]}, "x"),
    ({"Fn::FindInMap": ["M", "a", "one"]}, "1"),
    ({"Fn::FindInMap": ["M", "b", "one", {"DefaultValue": {"Ref": "P"}}]}, "p"),
    ({"Fn::Base64": "hi"}, "aGk="),
    ({"Fn::Length": [1, 2, 3]}, "3"),
    ({"Fn::ToJsonString": {"a": [1, {"Ref": "P"}]}}, '{"a":[1,"p"]}'),
    (if_("Yes"), "yes"),
    (if_("No"), "no"),
    (if_("Both"), "no"),
    (if_("Either"), "yes"),
    (if_("Number"), "yes"),
    (if_("Flag"), "yes"),
    (if_("Region"), "yes"),
])  # fmt: skip
def test_answers(tmp_path: Path, value: Any, text: str) -> None:
    assert environment(tmp_path, value) == {"X": text}


def test_no_value_is_no_variable(tmp_path: Path) -> None:
    assert environment(tmp_path, {"Fn::If": ["No", "x", {"Ref": "AWS::NoValue"}]}) == {}


@pytest.mark.parametrize(("value", "why"), [
    ({"Ref": "Topic"}, "the id of Topic (AWS::SNS::Topic) is known once it is deployed"),
    ({"Ref": "AWS::StackId"}, "the id of a stack is known once it is deployed"),
    ({"Fn::GetAtt": ["Role", "RoleId"]}, "Role.RoleId (AWS::IAM::Role) is known once it is deployed"),
    ({"Fn::ImportValue": "shared"}, "it is imported from another stack"),
    ({"Fn::Transform": {"Name": "Macro"}}, "Fn::Transform is answered by CloudFormation only"),
    ({"Fn::GetAZs": ""}, "Fn::GetAZs is answered by CloudFormation only"),
    ("{{resolve:ssm:/a}}", "a dynamic reference is read while a stack deploys"),
    ({"Fn::Sub": "{{resolve:ssm:/${P}}}"}, "a dynamic reference is read while a stack deploys"),
    ({"Fn::Join": ["-", ["a", {"Ref": "Topic"}]]}, "the id of Topic (AWS::SNS::Topic) is known once it is deployed"),
    ({"Fn::Select": [0, {"Fn::Split": [",", {"Fn::ImportValue": "x"}]}]}, "it is imported from another stack"),
    ({"Fn::Base64": {"Ref": "Topic"}}, "the id of Topic (AWS::SNS::Topic) is known once it is deployed"),
    ({"Fn::Length": {"Fn::GetAZs": ""}}, "Fn::GetAZs is answered by CloudFormation only"),
    ({"Fn::ToJsonString": {"a": {"Ref": "Topic"}}}, "the id of Topic (AWS::SNS::Topic) is known once it is deployed"),
    ({"Fn::FindInMap": ["M", {"Ref": "Topic"}, "x"]}, "the id of Topic (AWS::SNS::Topic) is known once it is deployed"),
])  # fmt: skip
def test_what_only_a_deployment_knows_is_left_out_and_named(tmp_path: Path, value: Any, why: str) -> None:
    template = small(X=value, Y="y") | {"Parameters": {"P": {"Type": "String", "Default": "p"}}, "Mappings": MAPPINGS}
    template["Resources"] |= {"Topic": RESOURCES["Topic"], "Role": RESOURCES["Role"]}
    assembly = read(tmp_path, template)
    assert model_of(assembly).environment == {"Y": "y"}
    assert [str(one) for one in assembly.notices] == [
        f"app: Model: PrimaryContainer.Environment.X: {why}; it is left out"
    ]


@pytest.mark.parametrize(("value", "problem"), [
    ({"Ref": "Rol"}, "Ref names 'Rol', which is not in the template; did you mean 'Role'?"),
    ({"Ref": "AWS::Regio"}, "there is no pseudo parameter 'AWS::Regio'; did you mean 'AWS::Region'?"),
    ({"Ref": ["a"]}, "Ref takes the name of a parameter or resource"),
    ({"Ref": "Gone"}, "Ref names 'Gone', whose condition 'No' does not hold"),
    ({"Fn::GetAtt": ["Nope", "Arn"]}, "Fn::GetAtt names 'Nope', which is not in the template"),
    ({"Fn::GetAtt": "Role"}, "Fn::GetAtt takes a logical id and an attribute"),
    ({"Fn::Jion": ["", []]}, "Fn::Jion is no function that CloudFormation has; did you mean 'Fn::Join'?"),
    ({"Fn::Join": 3}, "Fn::Join takes a text and a list of texts"),
    ({"Fn::Join": "ab"}, "Fn::Join takes a text and a list of texts"),
    ({"Fn::Select": "0a"}, "Fn::Select takes an index and a list"),
    ({"Fn::Select": 3}, "Fn::Select takes an index and a list"),
    ({"Fn::Split": ",a"}, "Fn::Split takes a text to split at and a text"),
    ({"Fn::Join": ["", "a"]}, "Fn::Join takes a text and a list of texts"),
    ({"Fn::Join": ["", [["a"]]]}, "Fn::Join takes a text and a list of texts"),
    ({"Fn::Sub": ["a", "b"]}, "Fn::Sub takes a text, or a text and a mapping"),
    ({"Fn::Sub": "${L}"}, "Fn::Sub fills in texts; one of its values is none"),
    ({"Fn::Sub": "${}"}, "Ref names '', which is not in the template"),
    ({"Fn::Select": [5, ["a"]]}, "Fn::Select asks for value 5 of 1, counted from 0"),
    ({"Fn::Select": [-1, ["a"]]}, "Fn::Select takes an index and a list"),
    ({"Fn::Split": ["", "a"]}, "Fn::Split takes a text to split at and a text"),
    ({"Fn::FindInMap": ["M", "b", "one"]}, "Mappings.M has no key 'b'"),
    ({"Fn::FindInMap": ["N", "b", "one"]}, "Mappings has no key 'N'"),
    ({"Fn::FindInMap": ["M"]}, "Fn::FindInMap takes a mapping's name and two keys"),
    ({"Fn::Base64": []}, "Fn::Base64 takes a text"),
    ({"Fn::Length": "abc"}, "Fn::Length takes a list"),
    ({"Fn::Length": {"Ref": "AWS::NoValue"}}, "Fn::Length is given AWS::NoValue"),
    ({"Fn::If": ["Yes"]}, "Fn::If takes a condition and two values"),
    ({"Fn::If": ["Yess", 1, 2]}, "there is no condition 'Yess'; did you mean 'Yes'?"),
    ({"a": 1}, "is no text"),
    ({"Ref": "L"}, "is no text"),
])  # fmt: skip
def test_what_is_wrong_is_said_where_it_stands(tmp_path: Path, value: Any, problem: str) -> None:
    template = small(X=value) | {
        "Mappings": MAPPINGS,
        "Conditions": CONDITIONS,
        "Parameters": {"L": {"Type": "CommaDelimitedList", "Default": "1, 2"}},
    }
    template["Resources"] |= RESOURCES
    assert problems(tmp_path, template) == (f"app.json: Model.PrimaryContainer.Environment.X: {problem}",)


@pytest.mark.parametrize(("conditions", "problem"), [
    ({"A": {"Condition": "B"}, "B": {"Fn::Not": [{"Condition": "A"}]}},
     "Conditions.A: depends on itself: condition A → condition B → condition A"),
    ({"A": {"Fn::Equals": ["a"]}},
     "Conditions.A: is no condition; one is Fn::Equals, Fn::And, Fn::Or, Fn::Not or Condition"),
    ({"A": ["B"]}, "Conditions.A: is no condition; one is Fn::Equals, Fn::And, Fn::Or, Fn::Not or Condition"),
    ({"A": {"Condition": "B", "Fn::Equals": [1, 1]}, "B": {"Fn::Equals": [1, 1]}},
     "Conditions.A: is no condition; one is Fn::Equals, Fn::And, Fn::Or, Fn::Not or Condition"),
    ({"A": "B"}, "Conditions.A: is no condition; one is Fn::Equals, Fn::And, Fn::Or, Fn::Not or Condition"),
    ({"A": {"Fn::Not": ["B"]}},
     "Conditions.A: is no condition; one is Fn::Equals, Fn::And, Fn::Or, Fn::Not or Condition"),
    ({"A": {"Fn::Or": [{"Condition": "C"}]}}, "Conditions.A: there is no condition 'C'"),
])  # fmt: skip
def test_conditions_that_cannot_be_decided(tmp_path: Path, conditions: dict[str, Any], problem: str) -> None:
    template = small(X={"Fn::If": ["A", 1, 2]}) | {"Conditions": conditions}
    assert problems(tmp_path, template) == (f"app.json: {problem}",)


def test_a_condition_of_what_is_not_known_is_not_known(tmp_path: Path) -> None:
    conditions = {
        "A": {"Fn::And": [{"Fn::Equals": [{"Fn::ImportValue": "x"}, 1]}, {"Fn::Equals": [1, 1]}]},
        "B": {"Fn::Or": [{"Condition": "A"}, {"Fn::Equals": [1, 1]}]},
        "C": {"Fn::And": [{"Condition": "A"}, {"Fn::Equals": [1, 2]}]},
    }
    assert environment_of(tmp_path, {"Fn::If": ["B", "yes", "no"]}, Conditions=conditions) == {"X": "yes"}
    assert environment_of(tmp_path, {"Fn::If": ["C", "yes", "no"]}, Conditions=conditions) == {"X": "no"}
    assert environment_of(tmp_path, {"Fn::If": ["A", "yes", "no"]}, Conditions=conditions) == {}


def test_a_resource_whose_condition_is_not_known_is_a_problem(tmp_path: Path) -> None:
    template = small() | {"Conditions": {"A": {"Fn::Equals": [{"Fn::ImportValue": "x"}, 1]}}}
    template["Resources"]["Endpoint"]["Condition"] = "A"
    assert "app.json: Endpoint.Condition: cannot be decided here: it is imported from another stack" in problems(
        tmp_path, template
    )


def test_names_that_depend_on_each_other(tmp_path: Path) -> None:
    template = small()
    template["Resources"]["Model"]["Properties"]["ModelName"] = {"Fn::GetAtt": ["Endpoint", "EndpointName"]}
    template["Resources"]["Endpoint"]["Properties"]["EndpointName"] = {"Fn::GetAtt": ["Model", "ModelName"]}
    loop = "depends on itself: resource Endpoint → resource Model → resource Endpoint"
    assert f"app.json: Endpoint: {loop}" in problems(tmp_path, template)


def test_a_long_chain_is_answered_or_refused(tmp_path: Path) -> None:
    chain = {f"C{n}": {"Condition": f"C{n + 1}"} for n in range(3000)} | {"C3000": {"Fn::Equals": [1, 1]}}
    found = problems(tmp_path, small(X={"Fn::If": ["C0", 1, 2]}) | {"Conditions": chain})
    assert found == (f"{tmp_path}/app.json: its functions are nested too deeply to be answered",)
