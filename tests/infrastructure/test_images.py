"""Images as assets, and what a change of their content replaces."""

from __future__ import annotations

from pathlib import Path

from tests.infrastructure.intrinsics import resolve
from tests.infrastructure.synthesis import ROOT, Synthesized, document_of, path_of, synthesize_document, synthesized


def _image(stack: Synthesized) -> str:
    container = stack.only("SageMaker::Model")["PrimaryContainer"]
    found: str = resolve(container["Image"], stack.template)
    return found


def _document(folder: Path, chat_template: str) -> dict[str, object]:
    document = document_of("built-docker")
    (folder / "files").mkdir(exist_ok=True)
    (folder / "files" / "chat.jinja").write_text(chat_template, encoding="utf-8")
    code = (path_of("built-docker").parent / "files" / "formatters.py").read_text(encoding="utf-8")
    (folder / "files" / "formatters.py").write_text(code, encoding="utf-8")
    return document


def test_a_docker_asset_lies_in_the_repository_of_the_bootstrap() -> None:
    image = _image(synthesized(path_of("built-docker")))
    assert image.startswith(
        "111122223333.dkr.ecr.us-west-2.amazonaws.com/cdk-hnb659fds-container-assets-111122223333-us-west-2:"
    )


def test_a_changed_file_is_another_image_and_so_another_model(tmp_path: Path) -> None:
    before = synthesize_document(tmp_path, _document(tmp_path, "one"))
    same = synthesize_document(tmp_path, _document(tmp_path, "one"))
    after = synthesize_document(tmp_path, _document(tmp_path, "two"))
    assert _image(before) == _image(same)
    assert before.template == same.template
    # A Model cannot change: another image replaces it, and the configuration that names it.
    assert _image(before) != _image(after)
    changed = {key for key, one in before.template["Resources"].items() if one != after.template["Resources"].get(key)}
    assert {before.template["Resources"][key]["Type"] for key in changed} == {"AWS::SageMaker::Model"}
    (config,) = after.of_type("SageMaker::EndpointConfig").values()
    (variant,) = config["Properties"]["ProductionVariants"]
    assert variant["ModelName"]["Fn::GetAtt"][0] in changed


def test_the_dockerfile_is_built_for_sagemakers_processor(tmp_path: Path) -> None:
    import json

    import app as program

    app = program.build_app([path_of("built-docker")], outdir=str(tmp_path / "out"), build_folder=tmp_path / "build")
    app.synth()
    (file,) = (tmp_path / "out").glob("*.assets.json")
    (image,) = json.loads(file.read_text(encoding="utf-8"))["dockerImages"].values()
    assert image["source"]["platform"] == "linux/amd64"
    assert (tmp_path / "out" / image["source"]["directory"] / "Dockerfile").is_file()
    assert not (ROOT / "build" / "built-test").exists()
