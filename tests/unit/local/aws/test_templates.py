"""What templates can say: parameters, conditions, functions, rules, exports; and what is refused before anything."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.unit.local.aws.running import Running
from tests.unit.local.aws.templates import ROLE, parameter, text, variant, variant_text


def value_of(aws: Running, name: str = "/demo/value") -> str:
    return str(aws.client("ssm").get_parameter(Name=name)["Parameter"]["Value"])


def given(**values: str) -> list[dict[str, str]]:
    return [{"ParameterKey": key, "ParameterValue": value} for key, value in values.items()]


def test_functions_are_answered_by_what_is_there(aws: Running) -> None:
    first = parameter("one", "/demo/first")
    joined = {
        "Fn::Join": [
            "|",
            [
                {"Ref": "First"},
                {"Fn::GetAtt": "First.Value"},
                {"Fn::Sub": "${AWS::StackName}:${First.Type}:${Named}:${!Literal}"},
                {"Fn::Sub": ["${x}", {"x": {"Ref": "AWS::Region"}}]},
                {"Fn::Select": [1, {"Fn::Split": [",", "a,b"]}]},
                {"Fn::FindInMap": ["Sizes", {"Ref": "AWS::Region"}, "size"]},
                {"Fn::If": ["IsBig", "big", {"Ref": "Absent"}]},
            ],
        ]
    }
    template = text(
        {
            "First": first,
            "Second": {**parameter("x"), "Properties": {**parameter("x")["Properties"], "Value": joined}},
            "Absent": {**parameter("no", "/demo/absent"), "Condition": "IsSmall"},
        },
        Parameters={"Named": {"Type": "String", "Default": "n"}, "Size": {"Type": "Number", "Default": 9}},
        Mappings={"Sizes": {"us-west-2": {"size": "XL"}}},
        Conditions={
            "IsBig": {"Fn::Equals": [{"Ref": "Size"}, "9"]},
            "IsSmall": {"Fn::Not": [{"Condition": "IsBig"}]},
        },
        Outputs={
            "Id": {"Value": {"Ref": "AWS::StackId"}},
            "None": {"Value": "x", "Condition": "IsSmall"},
            "Second": {"Value": {"Ref": "Second"}},
        },
    )
    assert aws.create(template)["StackStatus"] == "CREATE_COMPLETE", aws.failed()
    assert value_of(aws) == "/demo/first|one|demo:String:n:${Literal}|us-west-2|b|XL|big"
    assert aws.outputs() == {"Id": aws.stack()["StackId"], "Second": "/demo/value"}
    assert sorted(aws.resources()) == ["First", "Second"]


def test_a_condition_takes_a_resource_away(aws: Running) -> None:
    resources = {"One": parameter("1"), "Two": {**parameter("2", "/demo/two"), "Condition": "Wanted"}}
    sections = {
        "Parameters": {"Want": {"Type": "String", "Default": "yes", "AllowedValues": ["yes", "no"]}},
        "Conditions": {"Wanted": {"Fn::Equals": [{"Ref": "Want"}, "yes"]}},
    }
    aws.create(text(resources, **sections))
    assert sorted(aws.resources()) == ["One", "Two"]
    aws.update(text(resources, **sections), Parameters=given(Want="no"))
    assert sorted(aws.resources()) == ["One"]
    with pytest.raises(ClientError, match=r"must be one of AllowedValues: \[yes, no\]"):
        aws.update(text(resources, **sections), Parameters=given(Want="maybe"))


def test_parameters_are_kept_hidden_and_read_from_the_store(aws: Running) -> None:
    aws.client("ssm").put_parameter(Name="/shared/value", Value="stored", Type="String")
    template = text(
        {"One": {**parameter(""), "Properties": {"Type": "String", "Name": "/demo/value", "Value": {
            "Fn::Join": ["-", [{"Ref": "Stored"}, {"Ref": "Secret"}]]}}}},
        Parameters={
            "Stored": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/shared/value"},
            "Secret": {"Type": "String", "NoEcho": True},
        },
    )  # fmt: skip
    with pytest.raises(ClientError, match=r"Parameters: \[Secret\] must have values"):
        aws.create(template)
    aws.create(template, Parameters=given(Secret="s3"))
    assert value_of(aws) == "stored-s3"
    shown = {one["ParameterKey"]: one for one in aws.stack()["Parameters"]}
    assert shown["Secret"]["ParameterValue"] == "****"
    assert shown["Stored"] == {
        "ParameterKey": "Stored",
        "ParameterValue": "/shared/value",
        "ResolvedValue": "stored",
    }
    kept = [{"ParameterKey": "Secret", "UsePreviousValue": True}]
    with pytest.raises(ClientError, match="No updates"):
        aws.update(template, Parameters=kept)
    # What the store holds is read again each time.
    aws.client("ssm").put_parameter(Name="/shared/value", Value="newer", Type="String", Overwrite=True)
    aws.cloudformation.update_stack(StackName="demo", UsePreviousTemplate=True, Parameters=kept)
    aws.settled()
    assert value_of(aws) == "newer-s3"


@pytest.mark.parametrize(
    ("sections", "parameters", "said"),
    [
        ({}, {"Nothing": "1"}, r"Parameters: \[Nothing\] do not exist in the template"),
        ({"A": {"Type": "Number"}}, {"A": "many"}, "its type is Number"),
        (
            {"A": {"Type": "String", "AllowedPattern": "[a-z]+", "ConstraintDescription": "must be lower case"}},
            {"A": "X"},
            "Parameter 'A' must be lower case",
        ),
        ({"A": {"Type": "String", "MinLength": 3}}, {"A": "ab"}, "'A' must contain at least 3 characters"),
        ({"A": {"Type": "String", "MaxLength": "3"}}, {"A": "abcd"}, "'A' must contain at most 3 characters"),
        (
            {"A": {"Type": "String", "MaxLength": 3, "ConstraintDescription": "is short"}},
            {"A": "abcd"},
            "Parameter 'A' is short",
        ),
        ({"A": {"Type": "Number", "MinValue": 0}}, {"A": "-0.5"}, "'A' must be a number not less than 0"),
        ({"A": {"Type": "Number", "MaxValue": "1.5"}}, {"A": "2"}, "'A' must be a number not greater than 1.5"),
        ({"A": {"Type": "Number", "MaxValue": 9, "Default": 10}}, {}, "'A' must be a number not greater than 9"),
        ({"A": {"Type": "Number", "MaxValue": "many"}}, {"A": "2"}, r"\[/Parameters/A\] has MaxValue 'many'"),
        ({"A": {"Type": "String", "MinLength": []}}, {"A": "2"}, r"\[/Parameters/A\] has MinLength \[\]"),
        ({"A": {"Type": "Number", "NoEcho": True}}, {"A": "hunter2"}, "'A' is no number; its type is Number"),
        ({"A": {"Type": "AWS::SSM::Parameter::Value<String>"}}, {"A": "/no"}, r"Unable to fetch parameters \[/no\]"),
    ],
)
def test_values_that_a_parameter_does_not_take(
    aws: Running, sections: dict[str, Any], parameters: dict[str, str], said: str
) -> None:
    template = text({"One": parameter("1")}, Parameters=sections)
    with pytest.raises(ClientError, match=said):
        aws.create(template, Parameters=given(**parameters))


def test_a_value_that_was_not_there_before_cannot_be_kept(aws: Running) -> None:
    with pytest.raises(ClientError, match="Cannot specify usePreviousValue"):
        aws.create(
            text({"One": parameter("1")}, Parameters={"A": {"Type": "String"}}),
            Parameters=[{"ParameterKey": "A", "UsePreviousValue": True}],
        )


def test_an_export_is_imported_and_protected(aws: Running) -> None:
    aws.create(text({"One": parameter("1")}, Outputs={"Name": {"Value": "v", "Export": {"Name": "shared"}}}), "giver")
    taken = {**parameter("x", "/demo/taken"), "Properties": {"Type": "String", "Name": "/demo/taken",
                                                             "Value": {"Fn::ImportValue": "shared"}}}  # fmt: skip
    aws.create(text({"Two": taken}), "taker")
    assert value_of(aws, "/demo/taken") == "v"
    assert [one["Name"] for one in aws.cloudformation.list_exports()["Exports"]] == ["shared"]
    assert aws.cloudformation.list_imports(ExportName="shared")["Imports"] == ["taker"]
    with pytest.raises(ClientError, match="Export shared cannot be deleted as it is in use by taker"):
        aws.delete("giver")
    clash = text({"One": parameter("1", "/demo/c")}, Outputs={"N": {"Value": "w", "Export": {"Name": "shared"}}})
    assert aws.create(clash, "clash")["StackStatus"] == "ROLLBACK_COMPLETE"
    with pytest.raises(ClientError, match="not imported by any stack"):
        aws.cloudformation.list_imports(ExportName="other")
    aws.delete("taker")


NAMED = {**ROLE, "Properties": {**ROLE["Properties"], "RoleName": "mine"}}  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("[", "Template format error"),
        ("{}", "At least one Resources member must be defined"),
        (json.dumps({"Resources": []}), "Resources is no mapping"),
        (json.dumps({"Resources": {"A": {"Properties": {}}}}), r"\[/Resources/A\] has no Type"),
        (json.dumps({"Resources": {"A": {"Type": "T", "Properties": []}}}), "is no mapping"),
        (json.dumps({"Resources": {"A": {"Type": "AWS::S3::Bucket", "Properties": {"Ref": "AWS::Region"}}}}), "no map"),
        (text({"A": parameter("1", Value={"Fn::Sub": "${}"})}), "Ref names ''"),
        (text({"A": {**parameter("1"), "DeletionPolicy": "Snapshot"}}), "DeletionPolicy 'Snapshot'"),
        (text({"A": parameter("1")}, Transform="AWS::Serverless"), "the local AWS runs none"),
        (text({"A": {**parameter("1"), "Properties": {"Value": {"Fn::Transform": {}}}}}), "Fn::Transform runs a macro"),
        (text({"A": {**parameter("1"), "Properties": {"Value": {"Fn::GetAZs": ""}}}}), "by CloudFormation only"),
        (text({"A": {**parameter("1"), "Properties": {"Value": "{{resolve:ssm:/x}}"}}}), "reads no dynamic references"),
        (text({"A": {**parameter("1"), "Properties": {"Value": {"Fn::ImportValue": "no"}}}}), "No export named no "),
        (text({"A": {**parameter("1"), "Properties": {"Value": {"Ref": "B"}}}}), r"dependencies \[B\]"),
        (text({"A": {**parameter("1"), "DependsOn": 7}}), "DependsOn"),
        (text({"A": parameter("1")}, Parameters={"P": "x"}), r"\[/Parameters/P\] is no mapping; it has a Type"),
        (text({"A": parameter("1")}, Parameters={"P": {"Default": "x"}}), r"\[/Parameters/P\] has no Type"),
        (text({"A": parameter("1")}, Parameters={"P": {"Type": "Strin"}}), "type: Strin at .*did you mean 'String'"),
        (text({"A": parameter("1")}, Parameters={"P": {"Type": "String", "Defualt": "x"}}), "did you mean 'Default'"),
        (text({"A": parameter("1")}, Output={}), r"property or properties \[Output\]; did you mean 'Outputs'\?"),
        (text({"A": parameter("1")}, Out={}, Par={}), r"property or properties \[Out, Par\]$"),
        (text({"A": {**parameter("1"), "Dependson": "B"}}), r"\[/Resources/A\] has Dependson.*mean 'DependsOn'"),
        (text({"A": {**parameter("1"), "DelationPolicy": "Retain"}}), "did you mean 'DeletionPolicy'"),
        (text({"A": parameter("1")}, Outputs={"X": {"Value": "1", "Export": "x"}}), r"\[/Outputs/X/Export\] takes"),
        (
            text({"A": parameter("1")}, Outputs={"X": {"Value": "1", "Export": {"Name": "x", "Key": "y"}}}),
            "takes a mapping with a Name, and nothing else",
        ),
        (text({"A": parameter("1")}, Outputs={"X": {"Vlaue": "1", "Value": "1"}}), "has Vlaue.*did you mean 'Value'"),
        (text({"A": parameter("1")}, Rules={"R": {"Assertion": []}}), "did you mean 'Assertions'"),
        (
            text({"A": parameter("1", Vlaue="x", Extra="y")}),
            r"key \[Vlaue\] is not permitted; did you mean 'Value'\?; .* key \[Extra\] is not permitted$",
        ),
        (text({"A": {"Type": "AWS::CloudWatch::Alarm", "Properties": {"Arn": "a"}}}), r"extraneous key \[Arn\]"),
        (text({"A": parameter("1")}, Outputs={"X": {"Value": ["a"]}}), "Outputs.X.Value is no single value"),
        (
            text({"A": parameter("1")}, Outputs={"X": {"Value": {"Fn::Split": [",", "a,b"]}}}),
            "Outputs.X.Value is no single value",
        ),
        (
            text({"A": parameter("1")}, Outputs={"X": {"Value": [{"Ref": "A"}]}}),
            "Outputs.X.Value is no single value",
        ),
        (
            text({"A": parameter("1")}, Outputs={"X": {"Value": {"Ref": "AWS::NoValue"}}}),
            "Outputs.X.Value is no single value",
        ),
        (
            text({"A": parameter("1")}, Outputs={"X": {"Value": "1", "Export": {"Name": []}}}),
            "Outputs.X.Export.Name is no single value",
        ),
        (text({"a-b": parameter("1")}), "Resource name a-b is non alphanumeric"),
        (text({"ä": parameter("1")}), "Resource name ä is non alphanumeric"),
        (text({"A": parameter("1")}, Outputs={"X.Y": {"Value": "1"}}), "Output name X.Y is non alphanumeric"),
        (text({"A": parameter("1")}, Parameters={"X_Y": {"Type": "String"}}), "Parameter name X_Y is non alphanum"),
        (text({f"A{index}": {"Type": "T"} for index in range(501)}), "Number of resources, 501, is greater than.*500"),
        (
            text({"A": parameter("1")}, Outputs={f"A{index}": {"Value": "1"} for index in range(201)}),
            "Number of outputs, 201, is greater than maximum allowed, 200",
        ),
        (text({"A": parameter("1")}, Outputs={"X": 7}), r"\[/Outputs/X\] has no Value"),
        (text({"A": parameter("1")}, Outputs={"X": {"Value": {"Ref": "B"}}}), "Outputs.X.*names 'B'"),
        (text({"A": parameter("1")}, Outputs={"X": {"Value": "{{resolve:ssm:/x}}"}}), "no dynamic reference"),
        (text({"A": parameter("1")}, Rules={"R": 7}), "rule R is no mapping"),
        (text({"A": parameter("1")}, Rules={"R": {"Assertions": 7}}), "no list of Assertions"),
        (text({"A": {**parameter("1"), "DependsOn": "B"}}), r"dependencies \[B\]"),
        (text({"A": {**parameter("1"), "Properties": {"Value": {"Fn::Sub": "${B.Arn}"}}}}), r"dependencies \[B\]"),
        (text({"A": {**parameter("1"), "Properties": {"Value": {"Fn::Joint": []}}}}), "did you mean 'Fn::Join'"),
        (
            text({"A": {**parameter("1"), "DependsOn": "B"}, "B": {**parameter("1"), "DependsOn": ["A"]},
                  "C": {**parameter("1"), "DependsOn": "A"}}),
            r"Circular dependency between resources: \[A, B\]",
        ),
        (
            text({**variant(), "Z": {**parameter("1"), "Properties": {"Value": {"Fn::GetAtt": ["Model", "Arn"]}}}}),
            "no attribute 'Arn' in the local AWS; it has ModelArn, ModelName",
        ),
        (
            text({**variant(), "Z": parameter("1", Value={"Fn::Sub": "a ${Model.Arn}"})}),
            "no attribute 'Arn' in the local AWS; it has ModelArn, ModelName",
        ),
        (
            text({**variant(), "Z": parameter("1", Value={"Fn::Sub": ["${x}", {"x": {"Fn::GetAtt": "Model.Arn"}}]})}),
            "no attribute 'Arn' in the local AWS; it has ModelArn, ModelName",
        ),
        (
            text(
                {**variant(), "Z": parameter("1", Value={"Fn::GetAtt": ["Model", {"Ref": "Which"}]})},
                Parameters={"Which": {"Type": "String", "Default": "Arn"}},
            ),
            "no attribute 'Arn' in the local AWS; it has ModelArn, ModelName",
        ),
        (
            text(variant(), Outputs={"X": {"Value": {"Fn::Sub": "${Model.Arn}"}}}),
            r"Outputs\.X\.Value: Model .*no attribute 'Arn' in the local AWS",
        ),
    ],
)  # fmt: skip
def test_what_is_refused_before_anything_is_made(aws: Running, template: str, said: str) -> None:
    with pytest.raises(ClientError, match=said):
        aws.create(template)
    assert aws.cloudformation.describe_stacks()["Stacks"] == []


def test_roles_need_to_be_acknowledged(aws: Running) -> None:
    with pytest.raises(ClientError, match=r"Requires capabilities : \[CAPABILITY_IAM\]"):
        aws.cloudformation.create_stack(StackName="demo", TemplateBody=variant_text())
    with pytest.raises(ClientError, match=r"Requires capabilities : \[CAPABILITY_NAMED_IAM\]"):
        aws.cloudformation.create_stack(
            StackName="demo", TemplateBody=text({"Role": NAMED}), Capabilities=["CAPABILITY_IAM"]
        )


def test_a_name_that_no_stack_can_have(aws: Running) -> None:
    with pytest.raises(ClientError, match="Member must satisfy regular expression"):
        aws.create(variant_text(), "1st")


def test_a_template_that_has_to_come_from_s3(aws: Running) -> None:
    with pytest.raises(ClientError, match="less than or equal to 51200"):
        aws.create(text({"One": parameter("x" * 51_200)}))


def test_a_template_comes_from_s3(aws: Running) -> None:
    s3 = aws.client("s3")
    place = {"LocationConstraint": "us-west-2"}
    s3.create_bucket(Bucket="templates", CreateBucketConfiguration=place)
    s3.put_object(Bucket="templates", Key="a b.json", Body=text({"One": parameter("1")}).encode())
    for index, url in enumerate(
        (
            f"{aws.url}/templates/a%20b.json",
            "https://s3.us-west-2.amazonaws.com/templates/a%20b.json",
            "https://templates.s3.us-west-2.amazonaws.com/a%20b.json",
            "s3://templates/a b.json",
        )
    ):
        name = f"from-s3-{index}"
        aws.cloudformation.create_stack(StackName=name, TemplateURL=url)
        assert aws.settled(name)["StackStatus"] == "CREATE_COMPLETE"
        aws.delete(name)
    for url, said in (
        ("https://s3.us-west-2.amazonaws.com/templates/none.json", "S3 error"),
        ("https://s3.us-west-2.amazonaws.com/templates", "must be a supported URL"),
    ):
        with pytest.raises(ClientError, match=said):
            aws.cloudformation.create_stack(StackName="demo", TemplateURL=url)
    s3.delete_object(Bucket="templates", Key="a b.json")
    s3.delete_bucket(Bucket="templates")


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ({"Type": "CommaDelimitedList", "AllowedValues": ["a", "b", "c"]}, "a,b"),
        ({"Type": "CommaDelimitedList", "AllowedPattern": "[a-z]"}, "a, b"),
        ({"Type": "List<Number>", "AllowedValues": ["1", "2"]}, "1,2"),
        ({"Type": "Number"}, ".5"),
        ({"Type": "Number"}, "1e3"),
    ],
)
def test_of_a_list_each_value_is_looked_at(aws: Running, entry: dict[str, Any], value: str) -> None:
    template = text({"One": parameter("1")}, Parameters={"P": entry})
    assert aws.create(template, Parameters=given(P=value))["StackStatus"] == "CREATE_COMPLETE"


@pytest.mark.parametrize(
    ("entry", "value", "joined"),
    [
        ({"Type": "CommaDelimitedList", "AllowedValues": ["a", "b", "c"]}, "a, b", "a|b"),
        ({"Type": "AWS::SSM::Parameter::Value<List<String>>", "AllowedValues": ["/env/prod"]}, "/env/prod", "v|w"),
    ],
)
def test_a_value_that_is_allowed_can_be_referred_to(
    aws: Running, entry: dict[str, Any], value: str, joined: str
) -> None:
    aws.client("ssm").put_parameter(Name="/env/prod", Value="v,w", Type="StringList")
    resource = parameter("", Value={"Fn::Join": ["|", {"Ref": "P"}]})
    template = text({"One": resource}, Parameters={"P": entry})
    assert aws.create(template, Parameters=given(P=value))["StackStatus"] == "CREATE_COMPLETE"
    assert value_of(aws) == joined


@pytest.mark.parametrize(
    ("entry", "value", "said"),
    [
        ({"Type": "CommaDelimitedList", "AllowedValues": ["a", "b"]}, "a,c", r"must be one of AllowedValues: \[a, b\]"),
        ({"Type": "CommaDelimitedList", "AllowedPattern": "[a-z]"}, "a,bc", r"must match pattern \[a-z\]"),
        ({"Type": "List<Number>"}, "1,x", "its type is List<Number>"),
    ],
)
def test_one_value_of_a_list_can_be_wrong(aws: Running, entry: dict[str, Any], value: str, said: str) -> None:
    template = text({"One": parameter("1")}, Parameters={"P": entry})
    with pytest.raises(ClientError, match=said):
        aws.create(template, Parameters=given(P=value))
