"""`warmstack verify` of a deployed stack, as a process against the local AWS; and where nothing has stacks."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.cli.test_operate_verify import OUTPUTS, PROGRAM, TEMPLATE, run
from tests.unit.local.aws.running import Running
from tests.unit.local.aws.running import running as running_aws
from tests.unit.local.running import Local, running
from warmstack.assembly import read_assembly

ACCOUNT = "222233334444"
PUBLISHED = {key: {"Value": value} for key, value in OUTPUTS["demo"].items()}


def published(template: str) -> str:
    return f"{template}Outputs: {json.dumps(PUBLISHED)}\n"


@pytest.fixture(scope="module")
def aws() -> Iterator[Running]:
    """A local AWS with a stack, whose SageMaker has no copies: nothing answers a canary."""
    with running_aws(account=ACCOUNT) as found:
        assert found.create(published(TEMPLATE))["StackStatus"] == "CREATE_COMPLETE"
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("assembly")
    (folder / "demo.template.yaml").write_text(TEMPLATE, encoding="utf-8")
    (folder / "cdk-outputs.json").write_text(json.dumps(OUTPUTS), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def local(folder: Path) -> Iterator[Local]:
    with running(*read_assembly(folder / "demo.template.yaml").endpoints, folder=folder) as local:
        yield local


def port_of(there: Running | Local) -> str:
    return there.url.rpartition(":")[2]


def verify(folder: Path, *words: str, variables: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    kept |= {"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null"}
    kept |= {"AWS_EC2_METADATA_DISABLED": "true"}
    return subprocess.run(
        [*PROGRAM, "verify", *words, "--no-canary"],
        cwd=folder, env=kept | (variables or {}), capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize("words", [["--stack", "demo"], ["cdk-outputs.json"], ["demo-prod", "--stack", "demo"]])
def test_the_stacks_of_a_local_aws_are_asked_for(folder: Path, aws: Running, words: list[str]) -> None:
    done = verify(folder, *words, "--local", "--port", port_of(aws))
    assert done.returncode == 0, done.stdout + done.stderr
    text = " ".join(done.stdout.split())
    assert text.startswith(f"demo-prod: region us-west-2, account {ACCOUNT}, configuration demo-Config-")
    assert "pass stack-complete demo CREATE_COMPLETE" in text
    assert "it is that of stack demo, by name and values" in text
    assert "it is that of stack demo: image, weights and environment" in text
    assert text.endswith("demo-prod: passed (4 passed, 3 skipped)")


@pytest.fixture
def configured(tmp_path: Path) -> dict[str, str]:
    """A configuration of AWS that cannot be used: of another account, and broken."""
    path = tmp_path / "config"
    path.write_text("[default\nuse_fips_endpoint = true\n", encoding="utf-8")
    return {
        "AWS_PROFILE": "nonexistent",
        "AWS_CONFIG_FILE": str(path),
        "AWS_USE_FIPS_ENDPOINT": "true",
        "AWS_ENDPOINT_URL": "http://localhost:1",
        "AWS_REGION": "eu-west-9",
    }


def test_local_needs_nothing_of_the_aws_configuration(folder: Path, aws: Running, configured: dict[str, str]) -> None:
    done = verify(folder, "--stack", "demo", "--local", "--port", port_of(aws), variables=configured)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"demo-prod: region us-west-2, account {ACCOUNT}, ")


def test_the_variables_of_a_local_aws_are_enough(folder: Path, aws: Running) -> None:
    done = verify(folder, "--stack", "demo", variables=aws.environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "it is that of stack demo, by name and values" in " ".join(done.stdout.split())


def test_either_variable_of_the_region_is_enough(folder: Path, aws: Running) -> None:
    for left_out in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        variables = {name: value for name, value in aws.environment.items() if name != left_out}
        done = verify(folder, "--stack", "demo", variables=variables)
        assert done.returncode == 0, done.stdout + done.stderr


def test_its_address_is_enough(folder: Path, aws: Running) -> None:
    keys = {name: value for name, value in aws.environment.items() if name != "AWS_ENDPOINT_URL"}
    done = verify(folder, "--stack", "demo", "--endpoint-url", aws.url, variables=keys)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_stack_that_was_not_deployed_there_is_one_message(folder: Path, aws: Running) -> None:
    done = verify(folder, "--stack", "nobody", "--local", "--port", port_of(aws))
    assert done.returncode == 1
    assert done.stderr == (
        "warmstack: --stack is 'nobody', and there is no such stack in us-west-2; look at its name, the Region and the "
        "account, or deploy it\n"
    )


def test_a_local_endpoint_has_no_stacks(folder: Path, local: Local) -> None:
    port = port_of(local)
    done = run(folder, local, "--stack", "demo")
    assert done.returncode == 1
    assert done.stderr == (
        f"warmstack: --stack is 'demo', and port {port} serves a local endpoint, which has no stacks; add --assembly "
        "cdk.out, or deploy the stack to `warmstack local aws up`\n"
    )
    led = {"AWS_ENDPOINT_URL": local.url, "AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
    done = verify(folder, "--stack", "demo", variables=led | {"AWS_DEFAULT_REGION": "us-west-2"})
    assert done.returncode == 1
    assert done.stderr == (
        f"warmstack: CloudFormation is asked at {local.url}, as the environment says, and port {port} serves a local "
        "endpoint, which has no stacks; give --assembly cdk.out, or deploy the stack to `warmstack local aws up`\n"
    )
    compared = run(folder, local, "cdk-outputs.json", "--no-canary")
    assert compared.returncode == 0, compared.stdout + compared.stderr
    assert "no --assembly is named, and port" in " ".join(compared.stdout.split())


def test_a_client_is_told_the_same(folder: Path, local: Local) -> None:
    port = port_of(local)
    words = ["invoke", "--stack", "demo", "--prompt", "Hello", "--local", "--port", port]
    done = subprocess.run([*PROGRAM, *words], cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert done.stderr == (
        f"warmstack: --stack is 'demo', and port {port} serves a local endpoint, which has no stacks; give the "
        "endpoint's name as TARGET, or deploy the stack to `warmstack local aws up`\n"
    )


def test_where_nothing_answers_a_stack_is_not_asked_for(folder: Path) -> None:
    done = verify(folder, "--stack", "demo", "--local", "--port", "1")
    assert done.returncode == 1
    assert "--stack is 'demo', and nothing of Warmstack answers on port 1; add --assembly cdk.out" in done.stderr
