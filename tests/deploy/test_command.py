"""`warmstack local aws` as people use it: a process of its own, the CDK CLI, and clients that ask meanwhile."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

from tests.deploy.toolkit import REGION, run_cdk, spec_of, synthesize

pytestmark = pytest.mark.deploy

WAIT_SECONDS = 60
SPEC = spec_of("rag-prefix-aware")
BODY = json.dumps({"messages": [{"role": "user", "content": "hello"}], "max_tokens": 4})


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("AWS_")}
    return kept | {"XDG_STATE_HOME": str(tmp_path / "state"), "TMPDIR": str(tmp_path), "AWS_REGION": REGION}


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def local_aws(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "warmstack", "local", "aws", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=WAIT_SECONDS, check=False)


@contextmanager
def serving(environment: dict[str, str], port: int) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    """A local AWS in a process of its own, and the variables that lead to it."""
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "warmstack",
            "local",
            "aws",
            "up",
            "--engine",
            "simulated",
            "--port",
            str(port),
            "--json",
        ],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout
        line = process.stdout.readline()
        assert line, process.communicate(timeout=WAIT_SECONDS)[1]
        yield process, json.loads(line)["environment"]
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=WAIT_SECONDS)


class Load:
    """A client that asks without a pause until it is told to stop."""

    def __init__(self, url: str) -> None:
        self._client = boto3.client(
            "sagemaker-runtime",
            endpoint_url=url,
            region_name=REGION,
            aws_access_key_id="local",
            aws_secret_access_key="local",
            config=Config(retries={"total_max_attempts": 1}, proxies={}),
        )
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.answered = 0
        self.failures: list[str] = []

    def _run(self) -> None:
        while not self._end.is_set():
            try:
                answer = self._client.invoke_endpoint(
                    EndpointName="rag-prod", ContentType="application/json", Body=BODY
                )
                answer["Body"].read()
                self.answered += 1
            except Exception as error:
                self.failures.append(repr(error))

    def __enter__(self) -> Load:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join(WAIT_SECONDS)
        self._client.close()


def deploy(assembly: Path, variables: dict[str, str], folder: Path) -> None:
    done = run_cdk(["deploy", "--app", str(assembly), "--require-approval", "never"], variables, folder)
    assert done.status == 0, done.text


def test_an_endpoint_changes_its_routing_while_clients_ask(
    environment: dict[str, str], port: int, tmp_path: Path
) -> None:
    few: dict[str, Any] = {**SPEC, "endpoint": {**SPEC["endpoint"], "instances": {"min": 2}}}
    other = {**few, "endpoint": {**few["endpoint"], "routing": {"strategy": "RANDOM"}}}
    first, second = synthesize(few, tmp_path / "first"), synthesize(other, tmp_path / "second")
    with serving(environment, port) as (process, variables):
        done = run_cdk(["bootstrap", f"aws://111122223333/{REGION}"], variables, tmp_path)
        assert done.status == 0, done.text
        deploy(first, variables, tmp_path)
        with Load(variables["AWS_ENDPOINT_URL"]) as load:
            deploy(second, variables, tmp_path)
        assert load.failures == []
        assert load.answered > 0
        shown = local_aws(environment, "status", "--port", str(port))
        assert "rag-prod" in shown.stdout
        assert "UPDATE_COMPLETE" in shown.stdout
        printed = local_aws(environment, "env", "--port", str(port)).stdout.splitlines()
        assert f"export AWS_ENDPOINT_URL=http://localhost:{port}" in printed
        done = run_cdk(["destroy", "--app", str(second), "--force"], variables, tmp_path)
        assert done.status == 0, done.text
        stacks = json.loads(local_aws(environment, "status", "--port", str(port), "--json").stdout)["stacks"]
        assert [one["name"] for one in stacks] == ["CDKToolkit"]
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=WAIT_SECONDS)
        assert process.returncode == 0, told
        assert "its stacks are gone with it" in told


def test_in_the_background(environment: dict[str, str], port: int) -> None:
    done = local_aws(environment, "up", "--engine", "simulated", "--port", str(port), "--detach")
    assert done.returncode == 0, done.stderr
    try:
        assert f"cdk bootstrap aws://111122223333/{REGION}" in done.stdout
        assert "there are no stacks" in local_aws(environment, "status", "--port", str(port)).stdout
        again = local_aws(environment, "up", "--engine", "simulated", "--port", str(port), "--detach")
        assert again.returncode == 1
        assert "already" in again.stderr
    finally:
        stopped = local_aws(environment, "down", "--port", str(port))
    assert "stopped" in stopped.stdout
    assert "no local AWS runs on port" in local_aws(environment, "status", "--port", str(port)).stderr
