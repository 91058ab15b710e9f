"""`warmstack local aws`: what it prints, and what it says where there is none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.cli.runner import process
from tests.unit.local.aws.fake_sagemaker import OTHER_ACCOUNT
from tests.unit.local.aws.running import Running, running
from tests.unit.local.aws.templates import config, parameter, text
from warmstack.cli import local_aws
from warmstack.cli.local_environment import environment, lines_back


@pytest.fixture(scope="module")
def aws() -> Iterator[Running]:
    with running(account=OTHER_ACCOUNT) as found:
        yield found


@pytest.fixture
def port(aws: Running) -> int:
    return int(aws.url.rpartition(":")[2])


def test_every_option_that_makes_no_sense_is_named_at_once(tmp_path: Path) -> None:
    done = process("local", "aws", "up", "--account", "me", "--region", "", "--engine", "none", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "warmstack: --engine is 'none'; it must be one of vllm, simulated",
        "--account is 'me'; an account's number has 12 digits",
        "--region is ''; it must be the name of a Region, such as us-west-2",
    ]


def test_without_one_it_says_so(tmp_path: Path) -> None:
    for command in ("status", "env"):
        done = process("local", "aws", command, "--port", "1", cwd=tmp_path)
        assert done.returncode == 1
        assert done.stderr == (
            "warmstack: no local AWS runs on port 1; `warmstack local aws up` starts one, --port names another port\n"
        )
        # A shell that evaluates it fails, and goes on to nothing else.
        assert done.stdout == ("false\n" if command == "env" else "")
        led = {"AWS_ENDPOINT_URL": "http://localhost:8789"}
        done = process("local", "aws", command, "--port", "1", cwd=tmp_path, env=led)
        assert done.stderr == (
            "warmstack: no local AWS runs on port 1; AWS_ENDPOINT_URL names another one: --port 8789\n"
        )


def printed(port: int, capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert local_aws.print_environment(port, as_json=False) == 0
    return capsys.readouterr().out.splitlines()


def test_the_variables_are_a_shells(port: int, capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(port, capsys)
    assert lines[:3] == [
        "unset AWS_ENDPOINT_URL_SAGEMAKER AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME AWS_PROFILE AWS_DEFAULT_PROFILE",
        "unset AWS_SESSION_TOKEN AWS_SECURITY_TOKEN AWS_CREDENTIAL_EXPIRATION AWS_USE_FIPS_ENDPOINT",
        "unset AWS_USE_DUALSTACK_ENDPOINT",
    ]
    assert "export AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=false" in lines
    assert f"export AWS_ENDPOINT_URL=http://localhost:{port}" in lines
    assert local_aws.print_environment(port, as_json=True) == 0
    variables = json.loads(capsys.readouterr().out)
    assert variables["AWS_REGION"] == "us-west-2"
    assert all(isinstance(one, str) for one in variables.values())
    assert "NO_PROXY" not in variables


def test_every_address_that_the_shell_has_is_unset(
    port: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_CLOUDFORMATION", "AWS_ENDPOINT_URL_$(id)"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    unset = " ".join(one.removeprefix("unset ") for one in printed(port, capsys) if one.startswith("unset "))
    assert unset.endswith(" AWS_ENDPOINT_URL_CLOUDFORMATION AWS_ENDPOINT_URL_S3")
    assert "$" not in unset


def test_the_shell_is_given_back(port: int, tmp_path: Path) -> None:
    given = {"NO_PROXY": "example.com", "HTTP_PROXY": "http://127.0.0.1:9"}
    script = (
        'warmstack() { "$PYTHON" -c "from warmstack.cli import main; main()" "$@"; }\n'
        f'eval "$(warmstack local aws env --port {port})"\n'
        'test "$AWS_ACCESS_KEY_ID" = local || exit 1\n'
        # Nothing runs there any more: the port is not asked.
        'eval "$(warmstack local aws env --unset --port 1)"\n'
        "env\n"
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "CDK_"))}
    done = subprocess.run(
        ["bash", "-c", script], env=kept | given | {"PYTHON": sys.executable},
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    left = [line for line in done.stdout.splitlines() if line.startswith(("AWS_", "CDK_"))]
    assert left == []


def test_what_is_somebodys_own_stays() -> None:
    ours = lines_back({"CDK_DOCKER": "/venv/bin/warmstack-local-docker", "NO_PROXY": "localhost,127.0.0.1"})
    own = lines_back({"CDK_DOCKER": "podman", "NO_PROXY": "example.com,localhost,127.0.0.1"})
    assert ("CDK_DOCKER" in " ".join(ours), "NO_PROXY" in " ".join(ours)) == (True, True)
    assert ("CDK_DOCKER" in " ".join(own), "NO_PROXY" in " ".join(own)) == (False, False)


def test_the_end_says_how_the_shell_is_given_back(tmp_path: Path) -> None:
    done = process("local", "aws", "down", "--port", "1", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == (
        '`eval "$(warmstack local aws env --unset)"` takes its variables out of the shell; set your own anew'
    )


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({}, "localhost,127.0.0.1"),
        ({"NO_PROXY": "example.com, localhost"}, "example.com,localhost,127.0.0.1"),
        ({"NO_PROXY": "example.com", "no_proxy": "example.org"}, "example.org,localhost,127.0.0.1"),
        ({"NO_PROXY": "*"}, "*"),
    ],
)
@pytest.mark.parametrize("proxy", ["HTTP_PROXY", "https_proxy", "ALL_PROXY"])
def test_a_proxy_is_kept_away_from_this_machine(given: dict[str, str], kept: str, proxy: str) -> None:
    variables = environment(8787, "us-west-2", {proxy: "http://127.0.0.1:9", **given})
    assert (variables["NO_PROXY"], variables["no_proxy"]) == (kept, kept)


def test_stacks_are_shown(aws: Running, port: int, capsys: pytest.CaptureFixture[str]) -> None:
    local_aws.show_stacks(port, as_json=False)
    assert "there are no stacks" in capsys.readouterr().out
    aws.create(text({"One": parameter("1", "[red]")}))
    local_aws.show_stacks(port, as_json=False)
    shown = capsys.readouterr().out
    assert f"account {OTHER_ACCOUNT}, SageMaker in us-west-2" in shown
    assert "demo CREATE_COMPLETE" in shown
    local_aws.show_stacks(port, as_json=True)
    assert json.loads(capsys.readouterr().out)["stacks"][0]["name"] == "demo"


def test_what_failed_first_is_shown_and_not_what_came_of_it(
    aws: Running, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = {**config("RANDOM", "gone"), "DependsOn": "One"}
    aws.create(text({"One": parameter("1", "/failing"), "Bad": bad}), "failing")
    local_aws.show_stacks(port, as_json=True)
    (stack,) = [one for one in json.loads(capsys.readouterr().out)["stacks"] if one["name"] == "failing"]
    assert stack["status"] == "ROLLBACK_COMPLETE"
    assert (stack["failure"]["logical_id"], stack["failure"]["status"]) == ("Bad", "CREATE_FAILED")
    local_aws.show_stacks(port, as_json=False)
    assert "Bad CREATE_FAILED: " in capsys.readouterr().out
