"""`warmstack preflight --local`, as a process against the local AWS and real clients that upload to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.cli.runner import write
from tests.unit.local.aws.running import Running
from tests.unit.local.aws.running import running as running_aws
from tests.unit.local.definitions import endpoint
from tests.unit.local.running import running
from tests.unit.operate.preflighting import BUCKET, CONFIG, PREFIX, SHARDS, SPEC, archive

ACCOUNT = "333344445555"
OURS = SPEC.replace("123456789012", ACCOUNT)
PASSED = "tenants-prod: passed (6 passed, 1 warned, 3 skipped)\n"


@pytest.fixture(scope="module")
def aws() -> Iterator[Running]:
    """A local AWS with everything that the spec needs."""
    with running_aws(account=ACCOUNT) as found:
        s3 = found.client("s3")
        s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
        for name in SHARDS:
            s3.put_object(Bucket=BUCKET, Key=PREFIX + name, Body=b"weights")
        s3.put_object(Bucket=BUCKET, Key=f"{PREFIX}config.json", Body=json.dumps(CONFIG).encode())
        s3.put_object(Bucket=BUCKET, Key=f"{PREFIX}tokenizer.json", Body=b"{}")
        s3.put_object(Bucket=BUCKET, Key="adapters/legal.tar.gz", Body=archive())
        yield found


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    return write(tmp_path / "tenants.yaml", OURS)


def port_of(url: str) -> str:
    return url.rpartition(":")[2]


def preflight(*words: str, variables: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run it with nothing of AWS in the environment but these."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    kept |= {"AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null"}
    kept |= {"AWS_EC2_METADATA_DISABLED": "true", "HTTP_PROXY": "http://127.0.0.1:9"}
    return subprocess.run(
        [sys.executable, "-c", "from warmstack.cli import main; main()", "preflight", *words],
        env=kept | (variables or {}), capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_what_was_uploaded_is_found(aws: Running, spec: Path) -> None:
    done = preflight(str(spec), "--local", "--port", port_of(aws.url))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"tenants-prod: region us-west-2, account {ACCOUNT}\n")
    assert done.stdout.endswith(PASSED)


def test_local_needs_nothing_of_the_aws_configuration(aws: Running, spec: Path, tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("[default\n", encoding="utf-8")
    broken = {"AWS_PROFILE": "nonexistent", "AWS_CONFIG_FILE": str(path), "AWS_ENDPOINT_URL": "http://localhost:1"}
    done = preflight(str(spec), "--local", "--port", port_of(aws.url), variables=broken)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(PASSED)


@pytest.mark.parametrize("variables", [True, False])
def test_its_address_is_known_without_local(aws: Running, spec: Path, variables: bool) -> None:
    if variables:
        done = preflight(str(spec), variables=aws.environment)
    else:
        done = preflight(str(spec), "--endpoint-url", aws.url)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(PASSED)


def test_a_shard_that_is_missing_fails(aws: Running, spec: Path) -> None:
    s3, key = aws.client("s3"), f"{PREFIX}model-00002-of-00004.safetensors"
    s3.delete_object(Bucket=BUCKET, Key=key)
    try:
        done = preflight(str(spec), "--local", "--port", port_of(aws.url), "--json")
    finally:
        s3.put_object(Bucket=BUCKET, Key=key, Body=b"weights")
    assert done.returncode == 1
    (report,) = json.loads(done.stdout)["reports"]
    (failed,) = [one for one in report["results"] if one["outcome"] == "fail"]
    assert failed["check"] == "weights-shards"
    assert failed["seen"] == "1 of 4 files are missing: model-00002-of-00004.safetensors"


def test_without_a_target_its_region_is_taken(aws: Running, tmp_path: Path) -> None:
    spec = write(tmp_path / "tenants.yaml", OURS.replace(f'target: {{account: "{ACCOUNT}", region: us-west-2}}\n', ""))
    done = preflight(str(spec), "--local", "--port", port_of(aws.url))
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_local_endpoint_is_none(spec: Path, tmp_path: Path) -> None:
    why = "serves a local endpoint, which has no buckets, secrets and registries; start `warmstack local aws up`"
    with running(endpoint(), folder=tmp_path) as local:
        done = preflight(str(spec), "--local", "--port", port_of(local.url))
        assert done.returncode == 1
        assert done.stderr == f"warmstack: port {port_of(local.url)} {why}, or leave --local out to ask AWS\n"
        done = preflight(str(spec), "--endpoint-url", local.url)
        assert done.returncode == 1
        assert done.stderr == f"warmstack: AWS is asked at {local.url}, and port {port_of(local.url)} {why}\n"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--port", "1"], "nothing of Warmstack answers on port 1; start `warmstack local aws up`, or leave --local"),
        (["--endpoint-url", "http://localhost:1"], "leave --endpoint-url and --profile out"),
        (["--profile", "me"], "leave --endpoint-url and --profile out"),
    ],
)
def test_what_cannot_be_asked_is_one_message(spec: Path, words: list[str], problem: str) -> None:
    done = preflight(str(spec), "--local", *words)
    assert done.returncode == 1
    assert problem in done.stderr
    assert "Traceback" not in done.stderr
