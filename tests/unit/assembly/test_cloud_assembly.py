"""Cloud assemblies, as the CDK writes them and as it could."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.unit.assembly.templates import model_of, properties, small, with_components
from warmstack.assembly import AssemblyError, EndpointDefinition, ModelDefinition, carried_file, read_assembly


@pytest.fixture(scope="module")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One app: an image that CodeBuild builds, a Docker asset, and components on two built images."""
    import app as program

    folder = tmp_path_factory.mktemp("synthesized")
    extra = ROOT / "tests/infrastructure/specs"
    specs = [ROOT / "specs/sglang-sessions.yaml", extra / "built-docker.yaml", extra / "built-components.yaml"]
    program.build_app(specs, outdir=str(folder / "cdk.out"), build_folder=folder / "build").synth()
    return folder / "cdk.out"


def _models(endpoint: EndpointDefinition) -> list[ModelDefinition]:
    return [one.model for one in (*endpoint.variants, *endpoint.components) if one.model is not None]


def test_an_assembly_of_three_stacks(synthesized: Path) -> None:
    assembly = read_assembly(synthesized)
    assert assembly.notices == ()
    sglang, docker, components = assembly.endpoints
    assert [one.stack for one in assembly.endpoints] == ["sglang-sessions-prod", "built-test", "built-components-test"]
    assert (docker.account, docker.region) == ("111122223333", "us-west-2")
    assert sglang.region == "us-east-1"
    assert [one.server for one in _models(sglang)] == ["sglang"]
    assert [one.server for one in _models(docker)] == ["vllm"]
    assert [one.server for one in _models(components)] == ["lmi", "lmi", "sglang", "sglang"]  # an adapter is last


def test_what_images_carry(synthesized: Path) -> None:
    sglang, docker, components = read_assembly(synthesized).endpoints
    for endpoint in (sglang, docker, components):
        for model in _models(endpoint):
            assert model.staged is not None
            assert model.staged.is_relative_to(synthesized)
            carried = [value for value in model.environment.values() if value.startswith("/opt/warmstack/")]
            for path in carried:
                found = carried_file(model, path.split(":")[0])
                assert found is not None
                assert found.is_file()
    (variant,) = docker.variants
    assert variant.model is not None
    template = carried_file(variant.model, variant.model.environment["SM_VLLM_CHAT_TEMPLATE"])
    assert template is not None
    assert template.read_text(encoding="utf-8") == (ROOT / "tests/infrastructure/specs/files/chat.jinja").read_text(
        encoding="utf-8"
    )
    assert carried_file(_models(sglang)[0], "/opt/warmstack/session_server/app.py") is not None
    one, two, three, adapter = _models(components)
    assert one.staged == two.staged != three.staged == adapter.staged


def test_one_stack_of_it(synthesized: Path) -> None:
    (endpoint,) = read_assembly(synthesized, stack="built-test").endpoints
    assert endpoint.name == "built-test"
    with pytest.raises(AssemblyError) as caught:
        read_assembly(synthesized, stack="built")
    there = "sglang-sessions-prod, built-test, built-components-test"
    assert str(caught.value) == f"{synthesized}: there is no stack 'built'; it holds {there}"


def test_a_template_inside_an_assembly_is_its_stack(synthesized: Path) -> None:
    assert read_assembly(synthesized / "built-test.template.json") == read_assembly(synthesized, stack="built-test")
    assert read_assembly(synthesized / "manifest.json") == read_assembly(synthesized)


def test_what_is_asked_for_is_above_the_stacks_environment(synthesized: Path) -> None:
    (endpoint,) = read_assembly(synthesized, stack="built-test", account="999988887777", region="eu-west-1").endpoints
    assert (endpoint.account, endpoint.region) == ("999988887777", "eu-west-1")


def stack(name: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "aws:cloudformation:stack",
        "environment": "aws://unknown-account/unknown-region",
        "properties": {"templateFile": f"{name}.json"},
        **more,
    }


def write_assembly(folder: Path, templates: Mapping[str, Any], **artifacts: Any) -> Path:
    folder.mkdir(exist_ok=True)
    for name, template in templates.items():
        (folder / f"{name}.json").write_text(json.dumps(template), encoding="utf-8")
    found = {name: stack(name) for name in templates} | artifacts
    (folder / "manifest.json").write_text(json.dumps({"version": "1", "artifacts": found}), encoding="utf-8")
    return folder


def test_stages_are_assemblies_inside_it(tmp_path: Path) -> None:
    nested = write_assembly(tmp_path / "assembly-Prod", {"app": small()})
    document = json.loads((nested / "manifest.json").read_text(encoding="utf-8"))
    document["artifacts"]["app"] |= {"displayName": "Prod/app", "environment": "aws://222233334444/eu-west-1"}
    document["artifacts"]["app"]["properties"]["stackName"] = "Prod-app"
    (nested / "manifest.json").write_text(json.dumps(document), encoding="utf-8")
    stage = {"type": "cdk:cloud-assembly", "properties": {"directoryName": "assembly-Prod"}}
    write_assembly(tmp_path, {}, Stage=stage, Tree={"type": "cdk:tree", "properties": {"file": "tree.json"}})
    (endpoint,) = read_assembly(tmp_path).endpoints
    assert (endpoint.stack, endpoint.account, endpoint.region) == ("Prod-app", "222233334444", "eu-west-1")
    assert read_assembly(tmp_path, stack="Prod/app") == read_assembly(tmp_path)


def test_stacks_name_each_others_resources(tmp_path: Path) -> None:
    models, endpoint = small(), small()
    models["Resources"] = {"Model": models["Resources"].pop("Model")}
    del properties(models, "Model")["ModelName"]
    export = {"Name": {"Fn::Sub": "${AWS::StackName}:m"}}
    models["Outputs"] = {"Name": {"Value": {"Fn::GetAtt": ["Model", "ModelName"]}, "Export": export}}
    del endpoint["Resources"]["Model"]
    endpoint["Resources"]["Config"]["Properties"]["ProductionVariants"][0]["ModelName"] = {
        "Fn::ImportValue": "models:m"
    }
    write_assembly(tmp_path, {"models": models, "endpoint": endpoint})
    assert model_of(read_assembly(tmp_path)).name == "models-Model"


def test_exports_that_import_each_other_are_not_known(tmp_path: Path) -> None:
    template = small(X={"Fn::ImportValue": "a"})
    template["Outputs"] = {
        "A": {"Value": {"Fn::ImportValue": "b"}, "Export": {"Name": "a"}},
        "B": {"Value": {"Fn::ImportValue": "a"}, "Export": {"Name": "b"}},
        "C": {"Value": "c", "Export": {"Name": {"Fn::ImportValue": "a"}}},
        "D": {"Value": "d"},
    }
    with pytest.raises(AssemblyError, match="its functions are nested too deeply to be answered"):
        read_assembly(write_assembly(tmp_path, {"app": template}))


def test_the_same_app_in_two_regions_is_read_a_stack_at_a_time(tmp_path: Path) -> None:
    east = with_components()
    write_assembly(tmp_path, {"east": east, "west": with_components()})
    with pytest.raises(AssemblyError) as caught:
        read_assembly(tmp_path)
    assert "the endpoints east.Endpoint and west.Endpoint have one name, 'chat'" in str(caught.value)
    assert [one.name for one in read_assembly(tmp_path, stack="west").endpoints] == ["chat"]


def test_a_stack_takes_its_own_models_before_those_of_others(tmp_path: Path) -> None:
    one, other = small(X="one"), small(X="other")
    properties(other, "Endpoint")["EndpointName"] = "other"
    write_assembly(tmp_path, {"one": one, "other": other})
    found = [model.environment["X"] for endpoint in read_assembly(tmp_path).endpoints for model in _models(endpoint)]
    assert found == ["one", "other"]


OPEN = "line 1, column 2: Expecting property name enclosed in double quotes"


@pytest.mark.parametrize(("artifacts", "problem"), [
    ({"a": stack("gone")}, "{path}/manifest.json: the template of a is not in this folder"),
    ({"a": stack("../outside")}, "{path}/manifest.json: the template of a is not in this folder"),
    ({"a": stack("bad")}, "{path}/bad.json: is no JSON: " + OPEN),
    ({"a": {"type": "cdk:cloud-assembly", "properties": {"directoryName": "gone"}}},
     "{path}/manifest.json: the assembly 'gone' of a is not in this folder"),
    ({"a": {"type": "cdk:cloud-assembly", "properties": {"directoryName": "."}}},
     "{path}/manifest.json: the assembly '.' of a is not in this folder"),
    ({"a": stack("app", dependencies=["m", 3]), "app": {},
      "m": {"type": "cdk:asset-manifest", "properties": {"file": "bad.json"}}},
     "{path}: an asset manifest of a is no JSON: " + OPEN),
])  # fmt: skip
def test_assemblies_that_are_broken(tmp_path: Path, artifacts: dict[str, Any], problem: str) -> None:
    folder = write_assembly(tmp_path / "out", {"app": small()}, **artifacts)
    (folder / "bad.json").write_text("{", encoding="utf-8")
    (tmp_path / "outside.json").write_text(json.dumps(small()), encoding="utf-8")
    with pytest.raises(AssemblyError) as caught:
        read_assembly(folder)
    assert caught.value.problems == (problem.format(path=folder.resolve() if "'.'" in problem else folder),)


@pytest.mark.parametrize("text", ["{", "[]", '{"artifacts": []}', "{}"])
def test_manifests_that_are_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(AssemblyError, match=r"manifest\.json: "):
        read_assembly(tmp_path)


def test_odd_manifests_are_read_as_far_as_they_go(tmp_path: Path) -> None:
    folder = write_assembly(
        tmp_path,
        {"app": small()},
        app=stack("app", dependencies=["m"], environment=3),
        m={"type": "cdk:asset-manifest", "properties": {"file": "assets.json"}},
        text="x",
    )
    odd = {"a": {"source": {"directory": 3}, "destinations": {"d": {"imageTag": "1"}}}, "b": {"source": "x"}, "c": 1}
    (folder / "assets.json").write_text(json.dumps({"dockerImages": odd}), encoding="utf-8")
    (endpoint,) = read_assembly(folder).endpoints
    assert (endpoint.region, model_of(read_assembly(folder)).staged) == ("us-east-1", None)


def test_assets_outside_the_assembly_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    template = small()
    properties(template, "Model")["PrimaryContainer"]["Image"] = "ours:abc"
    folder = write_assembly(
        tmp_path / "out",
        {"app": template},
        app=stack("app", dependencies=["m"]),
        m={"type": "cdk:asset-manifest", "properties": {"file": "assets.json"}},
    )
    images: dict[str, Any] = {
        "abc": {"source": {"directory": "../elsewhere"}, "destinations": {"d": {"imageTag": "abc"}}}
    }
    (folder / "assets.json").write_text(json.dumps({"dockerImages": images, "files": 3}), encoding="utf-8")
    assert model_of(read_assembly(folder)).staged is None
    (folder / "inside").mkdir()
    images["abc"]["source"]["directory"] = "inside"
    (folder / "assets.json").write_text(json.dumps({"dockerImages": images}), encoding="utf-8")
    assert model_of(read_assembly(folder)).staged == (folder / "inside").resolve()
