"""Build contexts in a folder, and the program that the CDK CLI calls in Docker's place."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from warmstack.local.aws.build_contexts import BuildContexts
from warmstack.local.aws.docker_command import answer
from warmstack.local.errors import LocalError
from warmstack.local.instances import make_run_folder, note

PORT = 8899
IMAGE = "111122223333.dkr.ecr.us-west-2.amazonaws.com/cdk-assets:0f3a"
Call = Callable[..., int]


@pytest.fixture
def context(tmp_path: Path) -> Path:
    folder = tmp_path / "asset.0f3a"
    (folder / "models").mkdir(parents=True)
    (folder / "Dockerfile").write_text("FROM base\nCOPY models/ /opt/models/\n")
    (folder / "models" / "formatters.py").write_text("# é\n", encoding="utf-8")
    return folder


@pytest.fixture
def contexts(tmp_path: Path) -> BuildContexts:
    return BuildContexts(tmp_path / "run")


def test_a_context_is_found_by_the_tag_that_it_was_published_under(contexts: BuildContexts, context: Path) -> None:
    assert list(contexts) == []
    contexts.take("cdkasset-0f3a", context)
    assert "0f3a" not in contexts
    contexts.publish("cdkasset-0f3a", "0f3a")
    assert list(contexts) == ["0f3a"]
    assert (contexts["0f3a"] / "models" / "formatters.py").read_text(encoding="utf-8") == "# é\n"


def test_it_is_a_copy_that_outlives_the_assembly(contexts: BuildContexts, context: Path) -> None:
    contexts.take("cdkasset-0f3a", context)
    contexts.publish("cdkasset-0f3a", "0f3a")
    (context / "models" / "formatters.py").unlink()
    assert (contexts["0f3a"] / "models" / "formatters.py").exists()


def test_taken_again_it_is_replaced_and_nothing_else_is_left(
    contexts: BuildContexts, context: Path, tmp_path: Path
) -> None:
    contexts.take("cdkasset-0f3a", context)
    contexts.publish("cdkasset-0f3a", "0f3a")
    (context / "models" / "formatters.py").write_text("# other\n")
    contexts.take("cdkasset-0f3a", context)
    assert (contexts["0f3a"] / "models" / "formatters.py").read_text() == "# other\n"
    assert sorted(one.name for one in (tmp_path / "run" / "contexts").iterdir()) == ["built", "tagged"]


def test_another_dockerfile_becomes_the_dockerfile(contexts: BuildContexts, context: Path) -> None:
    (context / "gpu.Dockerfile").write_text("FROM other\n")
    contexts.take("one", context, "gpu.Dockerfile")
    contexts.publish("one", "1")
    assert (contexts["1"] / "Dockerfile").read_text() == "FROM other\n"


def test_a_link_out_of_the_context_brings_nothing_in(contexts: BuildContexts, context: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (context / "models" / "leak").symlink_to(tmp_path / "secret")
    contexts.take("one", context)
    contexts.publish("one", "1")
    assert (contexts["1"] / "models" / "leak").is_symlink()


def test_a_dockerfile_that_is_a_link_is_replaced_and_what_it_leads_to_stays(
    contexts: BuildContexts, context: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "precious"
    outside.write_text("FROM precious\n")
    (context / "Dockerfile").unlink()
    (context / "Dockerfile").symlink_to(outside)
    (context / "gpu.Dockerfile").write_text("FROM other\n")
    contexts.take("one", context, "gpu.Dockerfile")
    contexts.publish("one", "1")
    assert outside.read_text() == "FROM precious\n"
    assert (contexts["1"] / "Dockerfile").read_text() == "FROM other\n"


def test_of_two_that_bring_the_same_one_stays(
    contexts: BuildContexts, context: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename, done = Path.rename, [False]

    def race(self: Path, target: Path) -> Path:
        # Another process has come between the look and the move.
        if self.name == "context" and not done[0]:
            done[0] = True
            shutil.copytree(self, target)
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", race)
    contexts.take("one", context)
    contexts.publish("one", "1")
    assert (contexts["1"] / "models" / "formatters.py").exists()


def test_files_that_cannot_be_copied_are_counted(contexts: BuildContexts, context: Path) -> None:
    for name in ("one", "two", "three"):
        os.mkfifo(context / "models" / name)
    with pytest.raises(LocalError, match=r"cannot be copied: \S*models/\w+: .* is a named pipe, and 2 more$"):
        contexts.take("one", context)
    assert not contexts.has("one")


@pytest.mark.parametrize("name", ["", "..", "a/b", "-x", "é", "x" * 201])
def test_names_are_those_of_the_cdk(contexts: BuildContexts, context: Path, name: str) -> None:
    with pytest.raises(LocalError, match="is none that the CDK makes"):
        contexts.take(name, context)
    assert not contexts.has(name)
    assert name not in contexts


def test_what_is_no_context_is_refused_and_what_was_there_stays(contexts: BuildContexts, context: Path) -> None:
    contexts.take("one", context)
    contexts.publish("one", "1")
    (context / "Dockerfile").unlink()
    with pytest.raises(LocalError, match="has no Dockerfile, so it is no build context"):
        contexts.take("one", context)
    assert (contexts["1"] / "Dockerfile").exists()
    with pytest.raises(LocalError, match="there is no build context two; `build` hands one over"):
        contexts.publish("two", "2")


def test_others_may_not_read_what_is_kept(contexts: BuildContexts, context: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    contexts.take("one", context)
    contexts.publish("one", "1")
    assert {oct((run / "contexts" / name).stat().st_mode & 0o077) for name in ("built", "tagged")} == {"0o0"}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What leads to a local AWS that this process seems to be."""
    state = tmp_path / "state"
    make_run_folder(state / "warmstack", PORT)
    note(state / "warmstack", "127.0.0.1", PORT)
    return {"XDG_STATE_HOME": str(state), "AWS_ENDPOINT_URL": f"http://localhost:{PORT}"} | {
        "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "false"
    }


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, context: Path) -> Call:
    monkeypatch.chdir(context)
    monkeypatch.setattr(sys, "stdin", io.StringIO("password"))
    return answer


def test_the_calls_of_the_cli_hand_a_context_over(
    call: Call, environment: Mapping[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    login = ["login", "--username", "AWS", "--password-stdin", "111122223333.dkr.ecr.us-west-2.amazonaws.com"]
    assert call(login, environment) == 0
    assert call(["inspect", "cdkasset-0f3a"], environment) == 1
    build = ["build", "--build-arg", "A=b", "--tag", "cdkasset-0f3a", "--platform", "linux/amd64", "."]
    assert call(build, environment) == 0
    assert "cdkasset-0f3a is not built; copies read the files that it would carry" in capsys.readouterr().out
    assert call(["inspect", "cdkasset-0f3a"], environment) == 0
    assert call(["tag", "cdkasset-0f3a", IMAGE], environment) == 0
    assert call(["push", IMAGE], environment) == 0
    run = tmp_path / "state" / "warmstack" / "runs" / f"{PORT}-{os.getpid()}"
    assert (BuildContexts(run)["0f3a"] / "models" / "formatters.py").exists()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "AWS_ENDPOINT_URL is not set"),
        ("https://ecr.us-west-2.amazonaws.com", "AWS_ENDPOINT_URL is https://ecr.us-west-2.amazonaws.com"),
        ("http://localhost:99999", "AWS_ENDPOINT_URL is http://localhost:99999"),
        ("http://localhost:8898", "no local AWS of this user runs on port 8898"),
    ],
)
def test_elsewhere_than_in_a_local_aws_nothing_is_taken(
    call: Call, environment: dict[str, str], capsys: pytest.CaptureFixture[str], url: str, said: str
) -> None:
    assert call(["build", "--tag", "one", "."], {**environment, "AWS_ENDPOINT_URL": url}) == 2
    told = capsys.readouterr().err
    assert said in told
    assert "`unset CDK_DOCKER` to build with Docker" in told


def test_credentials_for_registries_are_named_before_the_command(call: Call, environment: Mapping[str, str]) -> None:
    assert call(["--config", "/tmp/cdkDockerConfig", "inspect", "cdkasset-0f3a"], environment) == 1
    assert call(["--config", "/tmp/cdkDockerConfig", "build", "--tag", "cdkasset-0f3a", "."], environment) == 0
    assert call(["--config", "/tmp/cdkDockerConfig", "inspect", "cdkasset-0f3a"], environment) == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"),
        ("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", ""),
        ("AWS_ENDPOINT_URL_CLOUDFORMATION", "https://cloudformation.us-west-2.amazonaws.com"),
    ],
)
def test_where_a_part_of_the_deploy_goes_elsewhere_nothing_is_taken(
    call: Call, environment: dict[str, str], capsys: pytest.CaptureFixture[str], name: str, value: str
) -> None:
    assert call(["build", "--tag", "one", "."], {**environment, name: value}) == 2
    assert f"{name} is {value or 'not set'}" in capsys.readouterr().err


def test_a_build_without_a_name(call: Call, environment: Mapping[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert call(["build"], environment) == 2
    assert "build: it has no --tag" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["run", "--rm", "image"], [], ["buildx"]])
def test_it_runs_nothing(
    call: Call, environment: Mapping[str, str], capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    assert call(arguments, environment) == 2
    assert "and runs nothing; `unset CDK_DOCKER` to build with Docker" in capsys.readouterr().err
