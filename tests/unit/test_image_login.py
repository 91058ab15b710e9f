"""`make image-login`: which registries it logs in to, and what the programs that it starts get to see."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import image_login
from tests.unit.plan.specs import changed
from tests.unit.render.builds import CODEBUILD, DOCKER, HERE, SGLANG, TIERS

HOST = "763104351884.dkr.ecr.us-west-2.amazonaws.com"
PASSWORD = "a-password-of-the-registry"
Change = dict[str, Any]
Write = Callable[..., Path]


@pytest.fixture
def spec(tmp_path: Path) -> Write:
    """Write a spec: the base of the plan's tests with changes."""

    def write(*changes: Change) -> Path:
        path = tmp_path / "spec.yaml"
        path.write_text(yaml.safe_dump(changed(*changes), sort_keys=False), encoding="utf-8")
        return path

    return write


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with an `aws` and a `docker` that note their arguments and their input."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program(folder, "aws", f"echo {PASSWORD}")
    program(folder, "docker", "echo Login Succeeded")
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("DOCKER", raising=False)
    return folder


def program(folder: Path, name: str, ending: str) -> None:
    path = folder / name
    note = folder / f"{name}.called"
    path.write_text(f'#!/bin/sh\necho "arguments: $*" >>"{note}"\n/bin/cat >>"{note}"\n{ending}\n', encoding="utf-8")
    path.chmod(0o755)


def called(folder: Path, name: str) -> list[str]:
    path = folder / f"{name}.called"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


@pytest.mark.parametrize("build", [DOCKER, CODEBUILD], ids=["docker", "codebuild"])
def test_it_logs_in_to_the_registry_of_the_region(
    build: Change, spec: Write, programs: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert image_login.main([str(spec(HERE, build, TIERS))]) == 0
    assert called(programs, "aws") == ["arguments: ecr get-login-password --region us-west-2"]
    assert called(programs, "docker") == [f"arguments: login --username AWS --password-stdin {HOST}", PASSWORD]
    shown = capfd.readouterr()
    assert shown.out == f"image-login: docker is logged in to {HOST}, for 12 hours\n"
    assert shown.err == ""


def test_each_registry_is_asked_once(spec: Write, programs: Path) -> None:
    components = [
        {"name": "one", "accelerators": 1},
        {"name": "two", "accelerators": 1, **SGLANG},
    ]
    assert image_login.main([str(spec(HERE, DOCKER, {"components": components}))]) == 0
    assert len(called(programs, "docker")) == 2


def test_a_mirror_is_its_own_registry(spec: Write, programs: Path) -> None:
    mirror = "111122223333.dkr.ecr.us-west-2.amazonaws.com/mirrors/lmi:1"
    assert image_login.main([str(spec(HERE, DOCKER, TIERS, {"image": {"base": mirror}}))]) == 0
    assert called(programs, "docker")[0].endswith(mirror.partition("/")[0])


def test_a_public_base_needs_no_login(spec: Write, programs: Path, capfd: pytest.CaptureFixture[str]) -> None:
    base = {"image": {"base": "public.ecr.aws/deep-learning-containers/vllm:0.30.0"}}
    assert image_login.main([str(spec(DOCKER, TIERS, base))]) == 0
    assert "public ones, which need no login" in capfd.readouterr().out
    assert called(programs, "aws") == called(programs, "docker") == []


def test_another_program_than_docker(spec: Write, programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(programs, "podman", "")
    monkeypatch.setenv("DOCKER", "podman")
    assert image_login.main([str(spec(HERE, DOCKER, TIERS))]) == 0
    assert called(programs, "podman")[1:] == [PASSWORD]
    assert called(programs, "docker") == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ((DOCKER, TIERS), 'target: {account: "111122223333", region: us-west-2}'),
        ((CODEBUILD, TIERS), 'target: {account: "111122223333", region: us-west-2}'),
        ((HERE, TIERS), "image.build of {spec} is none: the stock image is used"),
        (({"model": {"id": None}},), "{spec} has no plan:"),
    ],
    ids=["docker without a target", "codebuild without a target", "nothing is built", "no plan"],
)
def test_specs_without_a_registry(
    changes: tuple[Change, ...], says: str, spec: Write, programs: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = spec(*changes)
    assert image_login.main([str(path)]) == 1
    shown = capfd.readouterr()
    assert shown.err.startswith("image-login: ")
    assert says.replace("{spec}", str(path)) in shown.err
    assert shown.out == ""
    assert called(programs, "aws") == called(programs, "docker") == []


def test_no_spec(programs: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert image_login.main([""]) == 1
    assert capfd.readouterr().err == "image-login: name the spec: make image-login SPEC=specs/x.yaml\n"


@pytest.mark.parametrize(
    ("missing", "says"),
    [("aws", "the AWS CLI is not on PATH; install version 2"), ("docker", "docker is not on PATH; install it")],
)
def test_a_program_is_missing(
    missing: str, says: str, spec: Write, programs: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (programs / missing).unlink()
    assert image_login.main([str(spec(HERE, DOCKER, TIERS))]) == 1
    assert capfd.readouterr().err.startswith(f"image-login: {says}")
    assert called(programs, "aws") == called(programs, "docker") == []


def test_without_credentials_the_message_is_that_of_aws_in_one_line(
    spec: Write, programs: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program(programs, "aws", 'echo >&2; echo "Unable to locate credentials." >&2; echo "Configure them." >&2; exit 253')
    assert image_login.main([str(spec(HERE, DOCKER, TIERS))]) == 1
    (line,) = capfd.readouterr().err.splitlines()
    assert line == (
        "image-login: aws ecr get-login-password failed: Unable to locate credentials. Configure them.; "
        "look at your credentials"
    )
    assert called(programs, "docker") == []


def test_docker_does_not_run(spec: Write, programs: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program(programs, "docker", f'echo "Cannot connect to the Docker daemon with {PASSWORD}" >&2; exit 1')
    assert image_login.main([str(spec(HERE, DOCKER, TIERS))]) == 1
    shown = capfd.readouterr()
    assert "image-login: docker login failed: Cannot connect to the Docker daemon" in shown.err
    assert "is docker running" in shown.err
    assert PASSWORD not in shown.err + shown.out


def test_the_target_of_make_passes_the_spec_on(root: Path, spec: Write, programs: Path) -> None:
    told = subprocess.run(
        ["/usr/bin/make", "-n", "image-login", "SPEC=specs/it's.yaml", "DOCKER=finch", f"PYTHON={sys.executable}"],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin"},
    ).stdout
    assert "DOCKER='finch'" in told
    assert "scripts/image_login.py 'specs/it'\\''s.yaml'" in told
