"""`warmstack local aws` as people use it: a process of its own, the CDK CLI, and clients that ask meanwhile."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

from tests.deploy.load import Load
from tests.deploy.process import WAIT_SECONDS, local_aws, serving
from tests.deploy.toolkit import REGION, run_cdk, spec_of, synthesize

pytestmark = pytest.mark.deploy

SPEC = spec_of("rag-prefix-aware")
BODY = json.dumps({"messages": [{"role": "user", "content": "hello"}], "max_tokens": 4})


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
        with Load(variables["AWS_ENDPOINT_URL"], "rag-prod") as load:
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


def test_what_the_user_has_configured_changes_nothing(environment: dict[str, str], port: int, tmp_path: Path) -> None:
    garbage = tmp_path / "garbage"
    garbage.write_text("garbage\n")
    configured = {"AWS_PROFILE": "nope", "AWS_CONFIG_FILE": str(garbage), "AWS_DEFAULTS_MODE": "none of these"}
    with serving(environment | configured, port) as (_, variables):
        names = ("cloudformation", "ecr", "ssm")
        cloudformation, ecr, ssm = (
            boto3.client(
                name,
                endpoint_url=variables["AWS_ENDPOINT_URL"],
                region_name=REGION,
                aws_access_key_id="local",
                aws_secret_access_key="local",
                config=Config(retries={"total_max_attempts": 1}),
            )
            for name in names
        )
        parameter = {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Name": "one", "Value": "1"}}
        cloudformation.create_stack(StackName="demo", TemplateBody=json.dumps({"Resources": {"One": parameter}}))
        cloudformation.get_waiter("stack_create_complete").wait(StackName="demo", WaiterConfig={"Delay": 1})
        assert ssm.get_parameter(Name="one")["Parameter"]["Value"] == "1"
        assert ecr.describe_repositories()["repositories"] == []
        for one in (cloudformation, ecr, ssm):
            one.close()


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
