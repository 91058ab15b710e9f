"""What is in a template and not served."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.assembly.templates import (
    IMAGE,
    model_of,
    problems,
    properties,
    read,
    small,
    variant,
    with_components,
    write,
)
from warmstack.assembly import read_assembly, read_template


@pytest.mark.parametrize(("name", "why"), [
    ("ExplainerConfig", "predictions are not explained here"),
    ("ShadowProductionVariants", "shadow variants are not served here; no traffic is copied"),
    ("DataCaptureConfig", "requests are not captured here"),
])  # fmt: skip
def test_what_endpoints_have_besides(tmp_path: Path, name: str, why: str) -> None:
    template = small()
    properties(template, "Config")[name] = {"Any": "thing"}
    assembly = read(tmp_path, template)
    assert [str(one) for one in assembly.notices] == [f"app: Config: {name}: {why}"]
    assert len(assembly.endpoints) == 1


@pytest.mark.parametrize(("place", "why"), [
    ("AsyncInferenceConfig",
     "app: Config: AsyncInferenceConfig: asynchronous inference is not served here, so its endpoint is left out"),
    ("ServerlessConfig",
     "app: Config: ProductionVariants[0].ServerlessConfig: serverless variants are not served here"),
])  # fmt: skip
def test_endpoints_that_are_left_out(tmp_path: Path, place: str, why: str) -> None:
    template = small()
    (variant(template) if place == "ServerlessConfig" else properties(template, "Config"))[place] = {"A": 1}
    assert problems(tmp_path, template) == (f"{tmp_path}/app.json: holds no endpoint that can be served here: {why}",)


def test_one_serverless_variant_of_two(tmp_path: Path) -> None:
    template = small()
    properties(template, "Config")["ProductionVariants"].append({"VariantName": "s", "ServerlessConfig": {"A": 1}})
    assembly = read(tmp_path, template)
    assert [one.name for one in assembly.endpoints[0].variants] == ["primary"]
    assert [one.what for one in assembly.notices] == ["ProductionVariants[1].ServerlessConfig"]


def test_of_a_pipeline_the_first_container_is_served(tmp_path: Path) -> None:
    template = small()
    properties(template, "Model").pop("PrimaryContainer")
    properties(template, "Model")["Containers"] = [{"Image": IMAGE, "Mode": "MultiModel"}, {"Image": "other:1"}]
    assembly = read(tmp_path, template)
    assert model_of(assembly).image == IMAGE
    assert [str(one) for one in assembly.notices] == [
        "app: Model: Containers: a pipeline is not served; its first container is",
        "app: Model: Containers[0].Mode: multi-model containers are served as one model",
    ]


def test_a_model_package_names_no_image(tmp_path: Path) -> None:
    template = small()
    properties(template, "Model")["PrimaryContainer"] = {"ModelPackageName": "arn:aws:sagemaker:::model-package/a/1"}
    assembly = read(tmp_path, template)
    assert (model_of(assembly).image, model_of(assembly).server) == ("", None)
    assert [one.what for one in assembly.notices] == ["PrimaryContainer.ModelPackageName", "PrimaryContainer.Image"]


def test_an_image_is_named_as_far_as_it_is_known(tmp_path: Path) -> None:
    template = small()
    container = properties(template, "Model")["PrimaryContainer"]
    container["Image"] = {"Fn::Join": ["/", [{"Fn::ImportValue": "registry"}, "vllm:1"]]}
    container["ModelDataUrl"] = {"Fn::ImportValue": "weights"}
    properties(template, "Model")["ExecutionRoleArn"] = {"Fn::ImportValue": "role"}
    assembly = read(tmp_path, template)
    model = model_of(assembly)
    assert (model.image, model.server) == ("${ImportValue}/vllm:1", "vllm")
    assert len(assembly.notices) == 3


def test_a_variant_without_a_model_and_without_components(tmp_path: Path) -> None:
    template = small()
    del variant(template)["ModelName"]
    (notice,) = read(tmp_path, template).notices
    assert str(notice) == (
        "app: Endpoint: ProductionVariants: variant 'primary' has no model, and no component of the template is on it"
    )


def test_components_that_may_come_later_are_not_missed() -> None:
    template = small()
    del variant(template)["ModelName"]
    names = {"stack": "app", "account": "111122223333", "region": "us-west-2"}
    assert len(read_template(template, **names).notices) == 1
    assert read_template(template, **names, is_whole=False).notices == ()


def test_a_component_for_several_instance_types(tmp_path: Path) -> None:
    template = with_components()
    spec = properties(template, "Base").pop("Specification")
    properties(template, "Base")["Specifications"] = [
        {"InstanceType": "ml.p5.48xlarge", "ModelName": "model"},
        spec | {"InstanceType": "ml.g5.xlarge"},
    ]
    assembly = read(tmp_path, template)
    assert assembly.endpoints[0].components[0].min_memory_mib == 1024
    assert [str(one) for one in assembly.notices] == [
        "app: Base: Specifications: Specifications[1] is served for every instance"
    ]


def test_of_components_for_other_instance_types_the_first_is_served(tmp_path: Path) -> None:
    template = with_components()
    spec = properties(template, "Base").pop("Specification")
    properties(template, "Base")["Specifications"] = [spec | {"InstanceType": f"ml.p{n}.48xlarge"} for n in (5, 6)]
    (notice,) = read(tmp_path, template).notices
    assert notice.why == "Specifications[0] is served for every instance"


def test_instance_pools_have_the_type(tmp_path: Path) -> None:
    template = small()
    del variant(template)["InstanceType"]
    variant(template)["InstancePools"] = [{"InstanceType": "ml.g6.xlarge"}, {"InstanceType": "ml.g5.xlarge"}]
    assert read(tmp_path, template).endpoints[0].variants[0].instance_type == "ml.g6.xlarge"


def test_an_adapter_whose_archive_is_not_known(tmp_path: Path) -> None:
    template = with_components()
    artifact = {"Fn::Sub": ["s3://${B}/legal.tar.gz", {"B": {"Fn::ImportValue": "x"}}]}
    properties(template, "Adapter")["Specification"]["Container"]["ArtifactUrl"] = artifact
    assembly = read(tmp_path, template)
    assert assembly.endpoints[0].components[1].artifact_url == "s3://${ImportValue}/legal.tar.gz"
    assert [one.what for one in assembly.notices] == ["Specification.Container.ArtifactUrl"]


def test_components_of_a_container_that_names_no_server(tmp_path: Path) -> None:
    template = with_components()
    properties(template, "Base")["Specification"] = {"Container": {"Image": "ours:1"}}
    (notice,) = read(tmp_path, template).notices
    assert notice.why == ("neither the image 'ours:1' nor the environment says which server it is: lmi, vllm or sglang")


def test_transforms_loops_and_nested_stacks(tmp_path: Path) -> None:
    template = small() | {"Transform": "AWS::LanguageExtensions"}
    template["Resources"]["Fn::ForEach::Models"] = ["x", ["a"], {}]
    template["Resources"]["Deeper"] = {"Type": "AWS::CloudFormation::Stack"}
    assert [str(one) for one in read(tmp_path, template).notices] == [
        "app: Transform: AWS::LanguageExtensions: transforms are not run here",
        "app: Fn::ForEach::Models: Fn::ForEach: loops are not run here",
        "app: Deeper: AWS::CloudFormation::Stack: nested stacks are not read here",
    ]


def test_names_are_made_the_same_way_each_time_and_fit(tmp_path: Path) -> None:
    template = small()
    del properties(template, "Endpoint")["EndpointName"]
    short = read(tmp_path, template).endpoints[0]
    assert short.name == "app-Endpoint"
    long = read_assembly(write(tmp_path, template, f"{'long-' * 20}name.json")).endpoints[0]
    assert len(long.name) <= 63
    assert long.name.startswith("long-long-")
    assert long.name != long.config_name
    assert read_assembly(write(tmp_path, template, f"{'long-' * 20}name.json")).endpoints[0] == long


def test_the_account_and_region_are_those_that_are_asked_for(tmp_path: Path) -> None:
    template = small(X={"Fn::Sub": "${AWS::AccountId} ${AWS::Region} ${AWS::Partition} ${AWS::URLSuffix}"})
    assembly = read(tmp_path, template, account="999988887777", region="cn-north-1")
    assert model_of(assembly).environment == {"X": "999988887777 cn-north-1 aws-cn amazonaws.com.cn"}
    assert (assembly.endpoints[0].account, assembly.endpoints[0].region) == ("999988887777", "cn-north-1")
