"""`warmstack verify`, as a process against the local endpoint."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.local.running import Local, running
from warmstack.assembly import read_assembly

PROGRAM = [sys.executable, "-c", "from warmstack.cli import main; main()"]
TEMPLATE = """\
Resources:
  Model:
    Type: AWS::SageMaker::Model
    Properties:
      ExecutionRoleArn: arn:aws:iam::111122223333:role/demo
      PrimaryContainer:
        Image: vllm:0.30.0
        Environment: {SM_VLLM_ENABLE_PROMPT_TOKENS_DETAILS: "true", SAGEMAKER_ENABLE_STATEFUL_SESSIONS: "true"}
  Config:
    Type: AWS::SageMaker::EndpointConfig
    Properties:
      ProductionVariants:
        - VariantName: primary
          ModelName: !GetAtt Model.ModelName
          InstanceType: ml.g5.12xlarge
          InitialInstanceCount: 2
          RoutingConfig:
            RoutingStrategy: PREFIX_AWARE
            PrefixAwareRoutingConfig: {PrefixLength: 4096, ConcurrencyThreshold: 16}
  Endpoint:
    Type: AWS::SageMaker::Endpoint
    Properties: {EndpointName: demo-prod, EndpointConfigName: !GetAtt Config.EndpointConfigName}
"""
OUTPUTS = {"demo": {"EndpointName": "demo-prod", "Dialect": "vllm", "SessionSeconds": "1200"}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("assembly")
    (folder / "demo.template.yaml").write_text(TEMPLATE, encoding="utf-8")
    changed = TEMPLATE.replace("InitialInstanceCount: 2", "InitialInstanceCount: 3")
    (folder / "changed.template.yaml").write_text(changed, encoding="utf-8")
    (folder / "cut.template.json").write_text('{"Resources": {', encoding="utf-8")
    (folder / "cdk-outputs.json").write_text(json.dumps(OUTPUTS), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def local(folder: Path) -> Iterator[Local]:
    definitions = read_assembly(folder / "demo.template.yaml").endpoints
    with running(*definitions, folder=folder) as local:
        yield local


def run(folder: Path, local: Local | None, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    kept |= {"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/dev/null"}
    kept |= {"AWS_SHARED_CREDENTIALS_FILE": "/dev/null"}
    address = [] if local is None else ["--local", "--port", local.url.rpartition(":")[2]]
    return subprocess.run(
        [*PROGRAM, "verify", *words, *address],
        cwd=folder, env=kept | more, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ["--assembly", "demo.template.yaml"],
        ["demo-prod", "--assembly", "demo.template.yaml"],
        ["cdk-outputs.json", "--assembly", "demo.template.yaml"],
        ["cdk-outputs.json", "--stack", "demo", "--assembly", "demo.template.yaml"],
    ],
)
def test_a_healthy_endpoint_passes(folder: Path, local: Local, words: list[str]) -> None:
    done = run(folder, local, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("demo-prod: region us-west-2, account 111122223333, configuration demo-Config\n")
    assert done.stdout.endswith("demo-prod: passed (6 passed, 1 skipped)\n")


def test_a_difference_is_exit_code_1_and_says_the_way_out(folder: Path, local: Local) -> None:
    done = run(folder, local, "--assembly", "changed.template.yaml")
    assert done.returncode == 1
    text = " ".join(done.stdout.split())
    assert "InitialInstanceCount is 2, defined is 3" in text
    assert "way out: read why the update failed" in text
    assert text.endswith("demo-prod: failed (5 passed, 1 failed, 1 skipped)")


def test_scripts_get_json(folder: Path, local: Local) -> None:
    done = run(folder, local, "demo-prod", "--no-canary", "--json")
    document = json.loads(done.stdout)
    assert (done.returncode, document["outcome"], document["configuration"]) == (0, "passed", "demo-Config")
    assert [one["outcome"] for one in document["results"]] == ["pass", "pass", "skipped", *["skipped"] * 3]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "no endpoint is named: give its name"),
        (["--stack", "demo"], "serves a local endpoint, which has no stacks"),
        (["demo-prod", "--timeout", "soon"], "--timeout: 'soon' is not a time"),
        (["nowhere.json"], "nowhere.json cannot be read"),
        (["--assembly", "nowhere"], "nowhere: is not there; name a cdk.out"),
        (["demo-prod", "--assembly", "nowhere"], "nowhere: is not there; name a cdk.out"),
        (["demo-prod", "--assembly", "."], "holds no manifest.json, so it is no cloud assembly"),
        (["demo-prod", "--assembly", ""], "--assembly is empty; give it a value or leave it out"),
        (["demo-prod", "--assembly", "cut.template.json"], "cut.template.json"),
        (["cdk-outputs.json", "--assembly", "nowhere"], "nowhere: is not there"),
        (["nobody", "--assembly", "demo.template.yaml"], "demo.template.yaml does not define the endpoint 'nobody'"),
        (["--assembly", "demo.template.yaml", "--stack", "other"], "there is no stack 'other'"),
        ([""], "TARGET is empty; give it a value or leave it out"),
        (["--stack", ""], "--stack is empty"),
        (["demo-prod", "--region", ""], "--region is empty"),
    ],
)
def test_what_cannot_be_done_is_one_message(folder: Path, local: Local, words: list[str], problem: str) -> None:
    done = run(folder, local, *words)
    assert done.returncode == 1
    assert problem in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    scripts = run(folder, local, *words, "--json")
    assert scripts.returncode == 1
    assert scripts.stderr == done.stderr
    assert json.loads(scripts.stdout)["error"]["message"] == done.stderr.strip().removeprefix("warmstack: ")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "no endpoint is named: give its name"),
        (["nowhere.json"], "nowhere.json cannot be read"),
        (["cdk-outputs.json", "--stack", "other"], "has no stack 'other'"),
        (["demo-prod", "--assembly", "nowhere"], "nowhere: is not there; name a cdk.out"),
        (["demo-prod"], "there is no Region: give --region, or set AWS_REGION"),
        (["cdk-outputs.json"], "there is no Region: give --region, or set AWS_REGION"),
    ],
)
def test_without_a_region_what_is_wrong_before_it_comes_first(folder: Path, words: list[str], problem: str) -> None:
    done = run(folder, None, *words)
    assert done.returncode == 1
    assert problem in done.stderr
    assert ("Region" in done.stderr) == ("Region" in problem)


def test_what_could_not_be_seen_counts_with_strict(folder: Path, local: Local) -> None:
    done = run(folder, local, "demo-prod", "--assembly", "demo.template.yaml", "--no-canary", "--strict", "--json")
    assert (done.returncode, json.loads(done.stdout)["outcome"]) == (0, "passed"), "what is skipped does not count"


def test_an_endpoint_that_is_not_there_is_a_failure(folder: Path, local: Local) -> None:
    done = run(folder, local, "nobody")
    assert done.returncode == 1
    assert "there is no such endpoint" in done.stdout


def test_an_address_that_is_none_is_one_message(folder: Path) -> None:
    done = run(folder, None, "demo-prod", "--region", "us-west-2", "--endpoint-url", "http://localhost:99999")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("warmstack: the address 'http://localhost:99999' is none: Port out of range")


def test_where_nothing_serves_the_way_out_is_told(folder: Path) -> None:
    done = run(folder, None, "demo-prod", "--local", "--port", "1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "warmstack: nothing of Warmstack answers on port 1; `warmstack local up` or `warmstack local aws up` serves "
        "one, --port names another port\n"
    )


def test_an_address_that_answers_nothing_is_a_failure(folder: Path) -> None:
    keys = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
    done = run(folder, None, "demo-prod", "--region", "us-west-2", "--endpoint-url", "http://localhost:1", **keys)
    assert done.returncode == 1
    assert "EndpointConnectionError" in done.stdout
    assert "nothing runs at this address: `warmstack local aws up`" in " ".join(done.stdout.split())
