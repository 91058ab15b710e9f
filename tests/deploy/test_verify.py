"""`warmstack preflight` before `cdk deploy` and `warmstack verify` after it, as a user runs them: one process each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
import yaml

from tests.deploy.process import serving
from tests.deploy.toolkit import REGION, Outcome, run_cdk, spec_of, synthesize
from tests.ports import kept_port

pytestmark = pytest.mark.deploy

STACK = "rag-prod"
RAG = spec_of("rag-prefix-aware")
# With sessions besides, so that nothing is left out; two instances are enough for prefixes to choose from.
SPEC: dict[str, Any] = {
    **RAG,
    "endpoint": {**RAG["endpoint"], "instances": {"min": 2}, "sessions": {"ttl": "20m"}},
}
WEIGHTS = "llama-3.1-70b-instruct/"
TAKEN = "/search/rag"


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A local AWS in a process of its own, bootstrapped, and the commands that people run against it."""

    folder: Path
    environment: dict[str, str]
    variables: dict[str, str]

    @property
    def local(self) -> tuple[str, ...]:
        return ("--local", "--port", self.variables["AWS_ENDPOINT_URL"].rpartition(":")[2])

    def client(self, service: str) -> Any:
        return boto3.client(
            service,
            endpoint_url=self.variables["AWS_ENDPOINT_URL"],
            region_name=REGION,
            aws_access_key_id="local",
            aws_secret_access_key="local",
        )

    def warmstack(self, *words: str, variables: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "warmstack", *words],
            cwd=self.folder, env=self.environment | (variables or {}), capture_output=True, text=True, check=False,
            timeout=60,
        )  # fmt: skip

    def deploy(self, assembly: Path) -> Outcome:
        words = ["deploy", "--app", str(assembly), "--require-approval", "never", "--outputs-file", "cdk-outputs.json"]
        return run_cdk(words, self.variables, self.folder)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    folder = tmp_path_factory.mktemp("verify")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    # --local must need nothing of the environment.
    nothing = {"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null"}
    environment = kept | nothing | {"XDG_STATE_HOME": str(folder / "state"), "AWS_EC2_METADATA_DISABLED": "true"}
    with kept_port() as port, serving(environment | {"AWS_REGION": REGION}, port) as (_, variables):
        done = run_cdk(["bootstrap", f"aws://111122223333/{REGION}"], variables, folder)
        assert done.status == 0, done.text
        yield Machine(folder=folder, environment=environment, variables=variables)


@pytest.fixture(scope="module")
def assembly(machine: Machine) -> Path:
    return synthesize(SPEC, machine.folder / "first")


def outcomes(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """Return the outcome of each check, of which there is one each here."""
    document = json.loads(done.stdout)
    (report,) = document.get("reports", [document])
    return {one["check"]: one["outcome"] for one in report["results"]}


def seen(done: subprocess.CompletedProcess[str], check: str) -> str:
    (found,) = [one["seen"] for one in json.loads(done.stdout)["results"] if one["check"] == check]
    return str(found)


def upload(machine: Machine) -> None:
    """Upload weights that have every file of a model, and next to no bytes."""
    s3 = machine.client("s3")
    s3.create_bucket(Bucket="acme-models", CreateBucketConfiguration={"LocationConstraint": REGION})
    shards = {f"model-{number:05}-of-00002.safetensors": b"weights" for number in (1, 2)}
    config = json.dumps({"hidden_size": 8192, "num_hidden_layers": 80}).encode()
    for name, body in {**shards, "config.json": config, "tokenizer.json": b"{}"}.items():
        s3.put_object(Bucket="acme-models", Key=WEIGHTS + name, Body=body)
    s3.close()


def test_preflight_looks_at_what_was_uploaded(machine: Machine) -> None:
    spec = machine.folder / "rag.yaml"
    spec.write_text(yaml.safe_dump(json.loads(json.dumps(SPEC)), sort_keys=False), encoding="utf-8")
    before = machine.warmstack("preflight", str(spec), *machine.local)
    assert before.returncode == 1, before.stdout + before.stderr
    assert "there is no such bucket" in before.stdout
    upload(machine)
    after = machine.warmstack("preflight", str(spec), "--json", variables=machine.variables)
    assert after.returncode == 0, after.stdout + after.stderr
    assert outcomes(after) == {
        "identity": "pass",
        "quota": "skipped",
        "image": "skipped",
        "bucket": "pass",
        "weights": "pass",
        "weights-shards": "pass",
        "weights-size": "warning",
        "serving-properties": "pass",
    }


def test_what_was_deployed_is_verified(machine: Machine, assembly: Path) -> None:
    outcome = machine.deploy(assembly)
    assert outcome.status == 0, outcome.text
    done = machine.warmstack("verify", "--stack", STACK, "--json", variables=machine.variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert outcomes(done) == {
        "stack-complete": "pass",
        "endpoint-in-service": "pass",
        "variant-instances": "pass",
        "active-configuration": "pass",
        "active-model": "pass",
        "canary": "pass",
        "session": "pass",
        "prefix-cache": "pass",
    }
    done = machine.warmstack("verify", "cdk-outputs.json", *machine.local)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(f"{STACK}: passed (8 passed)\n")


def test_an_update_that_was_rolled_back_is_told(machine: Machine, assembly: Path) -> None:
    outcome = machine.deploy(assembly)
    assert outcome.status == 0, outcome.text
    other = {**SPEC, "endpoint": {**SPEC["endpoint"], "routing": {"strategy": "LEAST_OUTSTANDING_REQUESTS"}}}
    outcome = machine.deploy(failing(machine, synthesize(other, machine.folder / "second")))
    assert outcome.status != 0
    assert "The parameter already exists" in outcome.text
    assert moves(machine) == 2, "there, and back again"
    done = machine.warmstack("verify", "--stack", STACK, "--json", *machine.local)
    assert done.returncode == 1, done.stdout + done.stderr
    assert seen(done, "stack-complete") == "its status is UPDATE_ROLLBACK_COMPLETE"
    assert [check for check, one in outcomes(done).items() if one != "pass"] == ["stack-complete"]


def moves(machine: Machine) -> int:
    """Return how often the stack has moved its endpoint to another configuration."""
    client = machine.client("cloudformation")
    events = client.describe_stack_events(StackName=STACK)["StackEvents"]
    client.close()
    kinds = [one["ResourceType"] for one in events if one["ResourceStatus"] == "UPDATE_COMPLETE"]
    return kinds.count("AWS::SageMaker::Endpoint")


def failing(machine: Machine, assembly: Path) -> Path:
    """Return an assembly whose update fails when its endpoint has moved: by a parameter that somebody else made."""
    ssm = machine.client("ssm")
    ssm.put_parameter(Name=TAKEN, Value="another team's", Type="String")
    ssm.close()
    path = assembly / f"{STACK}.template.json"
    template = json.loads(path.read_text(encoding="utf-8"))
    (endpoint,) = [key for key, one in template["Resources"].items() if one["Type"] == "AWS::SageMaker::Endpoint"]
    template["Resources"]["Taken"] = {
        "Type": "AWS::SSM::Parameter",
        "DependsOn": [endpoint],
        "Properties": {"Name": TAKEN, "Type": "String", "Value": "ours"},
    }
    path.write_text(json.dumps(template), encoding="utf-8")
    return assembly
