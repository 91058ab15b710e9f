"""What cannot be read: each with its exact message."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.assembly.templates import problems, properties, read, small, variant, with_components, write
from warmstack.assembly import AssemblyError, read_assembly

Change = Callable[[dict[str, Any]], object]


def message(path: Path, **arguments: Any) -> str:
    with pytest.raises(AssemblyError) as caught:
        read_assembly(path, **arguments)
    return str(caught.value)


def test_nothing_there(tmp_path: Path) -> None:
    path = tmp_path / "cdk.out"
    assert message(path) == f"{path}: is not there; name a cdk.out (`cdk synth` writes it) or a template"


def test_names_of_files_that_no_system_has(tmp_path: Path) -> None:
    assert message(Path("a\0b")).startswith("a\0b: ")
    folder = tmp_path / "locked.json"
    folder.symlink_to(folder)
    assert message(folder) == f"{folder}: is not there; name a cdk.out (`cdk synth` writes it) or a template"


def test_a_folder_that_is_no_assembly(tmp_path: Path) -> None:
    assert message(tmp_path) == (
        f"{tmp_path}: holds no manifest.json, so it is no cloud assembly; name a cdk.out or a template"
    )


@pytest.mark.parametrize(("text", "problem"), [
    ("", "holds nothing; a template is a mapping"),
    ("- a", "holds a list; a template is a mapping"),
    ("hello", "holds a text; a template is a mapping"),
    ("3", "holds a single value; a template is a mapping"),
    ('{"a": ', "is no JSON: line 1, column 7: Expecting value"),
    ('{"a": 1, "a": 2}', "is no JSON of CloudFormation: the key 'a' is there twice"),
    ('{"a": NaN}', "is no JSON: NaN is no number"),
    ("a: 1\na: 2", "is no YAML of CloudFormation: line 2, column 1: the key 'a' is there twice"),
    ("a: !Reff b", "is no YAML of CloudFormation: line 1, column 4: !Reff is no function of CloudFormation"),
    ("? [a]\n: 1", "is no YAML of CloudFormation: line 1, column 3: a key is no text"),
    ("a: &x [*x]", "is no YAML of CloudFormation: line 1, column 4: an alias stands inside its own anchor"),
    ("a: *x", "is no YAML of CloudFormation: line 1, column 4: found undefined alias 'x'"),
    ("a: [", "is no YAML of CloudFormation: line 1, column 5: expected the node content, but found '<stream end>'"),
    ("a: b: c", "is no YAML of CloudFormation: line 1, column 5: mapping values are not allowed here"),
    ("a: !!python/object:os.system x",
     ("is no YAML of CloudFormation: line 1, column 4: could not determine a constructor for the tag "
      "'tag:yaml.org,2002:python/object:os.system'")),
    ("[" * 4000, "is nested deeper than 50 levels"),
    ('{"a":' * 60 + "1" + "}" * 60, "is nested deeper than 50 levels"),
    ('{"a":' * 100_000, "is nested deeper than 50 levels"),
    ("a: " + "9" * 5000, "holds a value that cannot be read, such as a number of thousands of digits"),
    ('{"a": ' + "9" * 5000 + "}", "holds a value that cannot be read, such as a number of thousands of digits"),
    ("a: !!bool x", "holds a value that cannot be read, such as a number of thousands of digits"),
    ("a: !!timestamp x", "holds a value that cannot be read, such as a number of thousands of digits"),
    ("a: \x07", ("is no YAML: unacceptable character #x0007: special characters are not allowed in "
                 '"<unicode string>", position 3')),
])  # fmt: skip
def test_no_document(tmp_path: Path, text: str, problem: str) -> None:
    path = write(tmp_path, text, "app.yaml")
    assert message(path) == f"{path}: {problem}"


def test_no_text(tmp_path: Path) -> None:
    path = tmp_path / "app.yaml"
    path.write_bytes(b"a: \xff")
    assert message(path) == f"{path}: is not UTF-8: byte 3 begins no character"


def test_aliases_that_stand_for_billions(tmp_path: Path) -> None:
    levels = ["a: &a0 [x, x, x, x, x, x, x, x, x]"]
    levels += [f"b{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    path = write(tmp_path, "\n".join(levels), "app.yaml")
    assert "its aliases stand for more than 500000 values" in message(path)


def test_yaml_and_json_have_bounds(tmp_path: Path) -> None:
    path = write(tmp_path, "a: " + "x" * 2_000_001, "app.yaml")
    assert message(path) == f"{path}: is YAML of more than 2000000 bytes; that is no template"
    path = write(tmp_path, '{"a": "' + "x" * 20_000_000 + '"}', "large.json")
    assert message(path) == f"{path}: is larger than 20000000 bytes; that is no template"


def test_no_endpoint(tmp_path: Path) -> None:
    path = write(tmp_path, {"Resources": {"A": {"Type": "AWS::S3::Bucket"}, "B": {"Type": "AWS::SNS::Topic"}}})
    assert message(path) == f"{path}: holds no AWS::SageMaker::Endpoint; it holds AWS::S3::Bucket, AWS::SNS::Topic"


@pytest.mark.parametrize("document", [{}, {"Resources": []}, {"Resources": {"A": []}}, {"Resources": {"A": {}}}])
def test_no_resources(tmp_path: Path, document: dict[str, Any]) -> None:
    path = write(tmp_path, document)
    assert message(path).startswith(f"{path}: holds no AWS::SageMaker::Endpoint; it holds ")


def test_many_types_are_cut(tmp_path: Path) -> None:
    resources = {f"R{n:02}": {"Type": f"AWS::X::T{n:02}"} for n in range(20)}
    assert message(write(tmp_path, {"Resources": resources})).endswith("AWS::X::T11 and 8 more types")


def test_an_unknown_stack(tmp_path: Path) -> None:
    path = write(tmp_path, small())
    assert message(path, stack="other") == f"{path}: there is no stack 'other'; it holds app"


NAME_RULE = "a name has at most 63 letters, digits and hyphens, and no hyphen at its ends"
STRATEGIES = "RANDOM, LEAST_OUTSTANDING_REQUESTS, PREFIX_AWARE, KV_AWARE"
CONFIG = "app.json: Config.ProductionVariants[0]"


@pytest.mark.parametrize(("change", "expected"), [
    (lambda t: t["Resources"].pop("Config"),
     ["app.json: Endpoint.EndpointConfigName: Fn::GetAtt names 'Config', which is not in the template"]),
    (lambda t: properties(t, "Endpoint").update(EndpointConfigName="other"),
     ["app.json: Endpoint.EndpointConfigName: is 'other', which is not in the template; it has app-Config"]),
    (lambda t: properties(t, "Endpoint").pop("EndpointConfigName"),
     ["app.json: Endpoint.EndpointConfigName: is missing; CloudFormation requires it"]),
    (lambda t: properties(t, "Endpoint").update(EndpointConfigName={"Ref": "AWS::NoValue"}),
     ["app.json: Endpoint.EndpointConfigName: is missing; CloudFormation requires it"]),
    (lambda t: properties(t, "Endpoint").update(EndpointName=""),
     [f"app.json: Endpoint.EndpointName: is ''; {NAME_RULE}"]),
    (lambda t: properties(t, "Endpoint").update(EndpointName="a/b"),
     [f"app.json: Endpoint.EndpointName: is 'a/b'; {NAME_RULE}"]),
    (lambda t: variant(t).update(VariantName="-a"),
     [f"{CONFIG}.VariantName: is '-a'; {NAME_RULE}"]),
    (lambda t: properties(t, "Endpoint").update(EndpointName=["a"]),
     ["app.json: Endpoint.EndpointName: is no text; a name is one"]),
    (lambda t: properties(t, "Endpoint").update(EndpointName={"Fn::ImportValue": "x"}),
     ["app.json: Endpoint.EndpointName: cannot be answered here: it is imported from another stack"]),
    (lambda t: t["Resources"].update(Other=t["Resources"]["Endpoint"]),
     ["the endpoints app.Endpoint and app.Other have one name, 'chat'; give each its own, or read one stack"]),
    (lambda t: properties(t, "Config").pop("ProductionVariants"),
     ["app.json: Config.ProductionVariants: has no variant; an endpoint has at least one"]),
    (lambda t: properties(t, "Config").update(ProductionVariants={"a": 1}),
     ["app.json: Config.ProductionVariants: is no list",
      "app.json: Config.ProductionVariants: has no variant; an endpoint has at least one"]),
    (lambda t: properties(t, "Config").update(ProductionVariants={"Fn::ImportValue": "x"}),
     ["app.json: Config.ProductionVariants: cannot be answered here: it is imported from another stack",
      "app.json: Config.ProductionVariants: has no variant; an endpoint has at least one"]),
    (lambda t: properties(t, "Config").update(ProductionVariants={"Ref": "Nope"}),
     ["app.json: Config.ProductionVariants: Ref names 'Nope', which is not in the template",
      "app.json: Config.ProductionVariants: has no variant; an endpoint has at least one"]),
    (lambda t: variant(t).update(VariantName=""),
     [f"{CONFIG}.VariantName: is empty"]),
    (lambda t: properties(t, "Config").update(ProductionVariants=["x"]),
     ["app.json: Config.ProductionVariants[0]: is no mapping",
      f"{CONFIG}.VariantName: is missing; CloudFormation requires it",
      f"{CONFIG}.InstanceType: is missing; CloudFormation requires it"]),
    (lambda t: properties(t, "Config")["ProductionVariants"].append(variant(t)),
     ["app.json: Config.ProductionVariants: has two variants with the name 'primary'"]),
    (lambda t: variant(t).update(ModelName="gone"),
     [f"{CONFIG}.ModelName: is 'gone', which is not in the template; it has model"]),
    (lambda t: variant(t).update(InitialInstanceCount="two", InitialVariantWeight=-1, InstanceType={"a": 1}),
     [f"{CONFIG}.InitialInstanceCount: is 'two'; it takes a number",
      f"{CONFIG}.InitialVariantWeight: is '-1'; it takes 0..1000000000",
      f"{CONFIG}.InstanceType: is no text"]),
    (lambda t: variant(t).update(InitialInstanceCount=1.5, ModelDataDownloadTimeoutInSeconds=10),
     [f"{CONFIG}.InitialInstanceCount: is 1.5; it takes a whole number",
      f"{CONFIG}.ModelDataDownloadTimeoutInSeconds: is '10'; it takes 60..3600"]),
    (lambda t: variant(t).update(InitialInstanceCount=True),
     [f"{CONFIG}.InitialInstanceCount: is 'true'; it takes a number"]),
    (lambda t: variant(t).update(InitialInstanceCount=[1]),
     [f"{CONFIG}.InitialInstanceCount: is list; it takes a number"]),
    (lambda t: variant(t).update(InitialInstanceCount={"Fn::ImportValue": "x"}),
     [f"{CONFIG}.InitialInstanceCount: cannot be answered here: it is imported from another stack"]),
    (lambda t: variant(t).update(RoutingConfig={"RoutingStrategy": "ROUND_ROBIN"}),
     [f"{CONFIG}.RoutingConfig.RoutingStrategy: is 'ROUND_ROBIN'; it takes {STRATEGIES}"]),
    (lambda t: variant(t).update(RoutingConfig={"RoutingStrategy": "PREFIX_AWARE"}),
     [f"{CONFIG}.RoutingConfig.PrefixAwareRoutingConfig.PrefixLength: is missing; PREFIX_AWARE requires it",
      f"{CONFIG}.RoutingConfig.PrefixAwareRoutingConfig.ConcurrencyThreshold: is missing; PREFIX_AWARE requires it"]),
    (lambda t: variant(t).update(RoutingConfig={"RoutingStrategy": "PREFIX_AWARE", "PrefixAwareRoutingConfig": {
        "PrefixLength": 512, "ConcurrencyThreshold": 2000}}),
     [f"{CONFIG}.RoutingConfig.PrefixAwareRoutingConfig.PrefixLength: is '512'; it takes 1024..65536",
      f"{CONFIG}.RoutingConfig.PrefixAwareRoutingConfig.ConcurrencyThreshold: is '2000'; it takes 1..1024"]),
    (lambda t: variant(t).update(RoutingConfig={"RoutingStrategy": "RANDOM", "PrefixAwareRoutingConfig": {
        "PrefixLength": 2048}}),
     [f"{CONFIG}.RoutingConfig.PrefixAwareRoutingConfig: stands with RANDOM; it goes with PREFIX_AWARE only"]),
    (lambda t: variant(t).update(ManagedInstanceScaling={
        "Status": "ENABLED", "MinInstanceCount": 3, "MaxInstanceCount": 2}),
     [f"{CONFIG}.ManagedInstanceScaling: has MinInstanceCount 3 above MaxInstanceCount 2"]),
    (lambda t: properties(t, "Model").pop("PrimaryContainer"),
     ["app.json: Model.PrimaryContainer: is missing, and so is Containers; a model has one of them",
      "app.json: Model.PrimaryContainer.Image: is missing, and so is ModelPackageName; a container has one of them"]),
    (lambda t: properties(t, "Model").update(PrimaryContainer=3),
     ["app.json: Model.PrimaryContainer: is no mapping",
      "app.json: Model.PrimaryContainer.Image: is missing, and so is ModelPackageName; a container has one of them"]),
    (lambda t: properties(t, "Model")["PrimaryContainer"].update(Environment={"A": {"b": 1}, "C": ["d"]}),
     ["app.json: Model.PrimaryContainer.Environment.A: is no text",
      "app.json: Model.PrimaryContainer.Environment.C: is no text"]),
    (lambda t: properties(t, "Model")["PrimaryContainer"].update(Environment={"Fn::ImportValue": "x"}),
     ["app.json: Model.PrimaryContainer.Environment: cannot be answered here: it is imported from another stack"]),
])  # fmt: skip
def test_what_is_wrong_with_an_endpoint(tmp_path: Path, change: Change, expected: list[str]) -> None:
    template = small()
    change(template)
    assert list(problems(tmp_path, template)) == expected


SPEC = "Specification"


@pytest.mark.parametrize(("change", "expected"), [
    (lambda t: properties(t, "Base").update(EndpointName="other"),
     ["app.json: Base.EndpointName: is 'other', which is not in the template; it has chat",
      "app.json: Adapter.Specification.BaseInferenceComponentName: is 'base'; its endpoint has no base component"]),
    (lambda t: properties(t, "Base").pop("EndpointName"),
     ["app.json: Base.EndpointName: is missing; CloudFormation requires it",
      "app.json: Adapter.Specification.BaseInferenceComponentName: is 'base'; its endpoint has no base component"]),
    (lambda t: properties(t, "Base").update(VariantName="blue"),
     ["app.json: Base.VariantName: is 'blue'; its endpoint has primary"]),
    (lambda t: variant(t).update(ModelName="model"),
     ["app.json: Base.VariantName: is 'primary', which serves a model itself; a variant has a model or components"]),
    (lambda t: properties(t, "Base").update(RuntimeConfig={"CopyCount": -1}),
     ["app.json: Base.RuntimeConfig.CopyCount: is '-1'; it takes 0..100000"]),
    (lambda t: properties(t, "Base").pop(SPEC),
     ["app.json: Base.Specification: is missing; a component has one",
      "app.json: Base.Specification.ModelName: is missing, and so are Container and BaseInferenceComponentName"]),
    (lambda t: properties(t, "Base")[SPEC].update(ModelName="gone"),
     ["app.json: Base.Specification.ModelName: is 'gone', which is not in the template; it has model"]),
    (lambda t: properties(t, "Base")[SPEC].update(SchedulingConfig={"PlacementStrategy": "PACKED"}),
     ["app.json: Base.Specification.SchedulingConfig.PlacementStrategy: is 'PACKED'; it takes SPREAD, BINPACK"]),
    (lambda t: properties(t, "Adapter").update(InferenceComponentName="base"),
     ["app.json: Adapter.InferenceComponentName: is 'base', which another component has"]),
    (lambda t: properties(t, "Adapter")[SPEC].update(BaseInferenceComponentName="bass"),
     ["app.json: Adapter.Specification.BaseInferenceComponentName: is 'bass'; its endpoint has base"]),
    (lambda t: properties(t, "Adapter")[SPEC].pop("Container"),
     ["app.json: Adapter.Specification.Container.ArtifactUrl: is missing; an adapter has its archive there"]),
])  # fmt: skip
def test_what_is_wrong_with_components(tmp_path: Path, change: Change, expected: list[str]) -> None:
    template = with_components()
    change(template)
    assert list(problems(tmp_path, template)) == expected


@pytest.mark.parametrize(("parameter", "given", "expected"), [
    ({"Type": "String"}, {}, "parameter P has no default; give it: P=VALUE"),
    ("x", {}, "parameter P is no mapping; it has a Type and may have a Default"),
    ({"Type": "String", "Default": ["a"]}, {}, "the default of parameter P is no single value"),
    ({"Type": "Number", "Default": 1}, {"P": "x"}, "Parameter 'P' is 'x'; its type is Number"),
    ({"Type": "Number", "NoEcho": True}, {"P": "x"}, "Parameter 'P' is no number; its type is Number"),
    ({"Type": "String", "MinLength": 2}, {"P": "x"}, "Parameter 'P' must contain at least 2 characters"),
    ({"Type": "CommaDelimitedList", "AllowedValues": ["a"]}, {"P": "a,b"},
     "Parameter 'P' must be one of AllowedValues: [a]"),
    ({"Type": "String", "AllowedValues": ["a", 1]}, {"P": "b"}, "Parameter 'P' must be one of AllowedValues: [a, 1]"),
])  # fmt: skip
def test_parameters(tmp_path: Path, parameter: Any, given: dict[str, str], expected: str) -> None:
    template = small(X={"Ref": "P"}) | {"Parameters": {"P": parameter}}
    assert problems(tmp_path, template, parameters=given) == (expected,)


def test_a_parameter_that_no_endpoint_needs_may_be_missing(tmp_path: Path) -> None:
    template = small() | {"Parameters": {"Vpc": {"Type": "AWS::EC2::VPC::Id"}}}
    properties(template, "Config")["KmsKeyId"] = {"Ref": "Vpc"}
    assert len(read(tmp_path, template).endpoints) == 1


def test_everything_is_said_at_once(tmp_path: Path) -> None:
    template = with_components()
    variant(template)["InitialInstanceCount"] = "x"
    properties(template, "Base")["RuntimeConfig"] = {"CopyCount": "y"}
    properties(template, "Model")["PrimaryContainer"]["Environment"] = {"A": {"Ref": "Nope"}}
    assert len(problems(tmp_path, template, parameters={"Q": "1"})) == 4
