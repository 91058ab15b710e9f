"""`warmstack render`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.runner import Runner
from warmstack.render import RenderError

STOCK = "specs/sticky-chat.yaml"
BUILT = "specs/sglang-sessions.yaml"


def test_it_writes_a_folder_that_docker_can_build(run: Runner, tmp_path: Path) -> None:
    output = run("render", BUILT, "-o", str(tmp_path))
    folder = tmp_path / "sglang-sessions-prod" / "sglang-0.5.20"
    assert (folder / "Dockerfile").is_file()
    assert (folder / "session_server" / "requirements.txt").is_file()
    base = "--build-arg BASE_IMAGE=REGISTRY/sglang:0.5.20-gpu-py312-cu130-ubuntu24.04-sagemaker"
    assert f"docker build --platform linux/amd64 {base} -t sglang-0.5.20 {folder.as_posix()}" in output
    assert "CodeBuild builds it while the stack deploys" in output


def test_json_names_every_file(run: Runner, tmp_path: Path) -> None:
    document = json.loads(run("render", BUILT, "--json", "-o", str(tmp_path)))
    ((image,),) = (one["images"] for one in document["stacks"])
    folder = Path(image["folder"])
    there = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert image["files"] == there
    assert len(image["sha256"]) == 64


def test_a_stock_image_is_nothing_to_build(run: Runner, tmp_path: Path) -> None:
    output = run("render", STOCK, "-o", str(tmp_path / "out"))
    assert output == "sticky-chat-prod: nothing to build: image.build is none, the stock image\n"


def test_serving_properties_only_on_request(run: Runner, tmp_path: Path) -> None:
    output = run("render", STOCK, "--serving-properties", "-o", str(tmp_path))
    file = tmp_path / "sticky-chat-prod" / "model.serving.properties"
    assert "option.enable_stateful_sessions=true\n" in file.read_text(encoding="utf-8")
    assert "beside the weights" in output


def test_other_servers_have_no_serving_properties(run: Runner, tmp_path: Path) -> None:
    with pytest.raises(RenderError, match=r"sglang reads no serving\.properties"):
        run("render", BUILT, "--serving-properties", "-o", str(tmp_path))


def test_an_invalid_spec_writes_nothing(run: Runner, tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("name: bad\n", encoding="utf-8")
    output = run("render", str(bad), BUILT, "-o", str(tmp_path / "out"))
    assert (run.code, run.err) == (1, "")
    assert "bad.yaml:1:1: error" in output
    assert run("render", str(bad), "--json", "-o", str(tmp_path / "out")) == ""
    assert "bad.yaml:1:1: error" in run.err
    assert not (tmp_path / "out").exists()


def test_two_specs_of_one_stack_are_refused(run: Runner, tmp_path: Path) -> None:
    copy = tmp_path / "copy.yaml"
    copy.write_text(Path(BUILT).read_text(encoding="utf-8"), encoding="utf-8")
    run("render", BUILT, str(copy), "-o", str(tmp_path / "out"))
    assert run.code == 1
    assert "the stack sglang-sessions-prod is deployed by" in run.err
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_named(run: Runner, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(RenderError, match="cannot be written: Not a directory; name another folder"):
        run("render", BUILT, "-o", str(tmp_path / "file"))
