"""Images of one's own on a local AWS: none is built, and copies run what it would carry."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

from tests.deploy.process import local_aws, serving
from tests.deploy.toolkit import REGION, Outcome, run_cdk, synthesize

pytestmark = pytest.mark.deploy

CODE = """\
from warmstack_formatters import output_formatter


@output_formatter
def to_client(response: dict) -> dict:
    return {**response, "by": "%s"}
"""
SPEC: dict[str, Any] = {
    "name": "chat",
    "environment": "prod",
    "target": {"account": "111122223333", "region": REGION},
    "model": {
        "id": "Qwen/Qwen2.5-7B-Instruct",
        "weights": {"s3": "s3://acme/qwen/"},
        "max_model_len": 8192,
        "formatters": "formatters.py",
    },
    "engine": {"server": "vllm", "version": "0.30.0"},
    "endpoint": {"instance_type": "ml.g5.12xlarge"},
}


def deploy(build: str, by: str, variables: Mapping[str, str], folder: Path) -> Outcome:
    """Deploy the spec with formatters that sign what they see."""
    spec = {**SPEC, "image": {"build": build}}
    assembly = synthesize(spec, folder / f"{build}-{by}", {"formatters.py": CODE % by})
    return run_cdk(["deploy", "--app", str(assembly), "--require-approval", "never"], variables, folder)


def asked(url: str) -> dict[str, Any]:
    """Ask the endpoint for a chat."""
    client = boto3.client(
        "sagemaker-runtime",
        endpoint_url=url,
        region_name=REGION,
        aws_access_key_id="local",
        aws_secret_access_key="local",
        config=Config(proxies={}),
    )
    body = json.dumps({"messages": [{"role": "user", "content": "hello"}], "max_tokens": 4})
    answer = client.invoke_endpoint(EndpointName="chat-prod", ContentType="application/json", Body=body)
    return dict(json.loads(answer["Body"].read()))


def test_copies_run_the_code_of_the_build_context_and_that_of_the_next_one(
    environment: dict[str, str], port: int, tmp_path: Path
) -> None:
    with serving(environment, port) as (_, variables):
        state = {**variables, "XDG_STATE_HOME": environment["XDG_STATE_HOME"]}
        run_cdk(["bootstrap", f"aws://111122223333/{REGION}"], state, tmp_path)
        first = deploy("docker", "first", state, tmp_path)
        assert first.status == 0, first.text
        assert asked(variables["AWS_ENDPOINT_URL"])["by"] == "first"
        second = deploy("docker", "second", state, tmp_path)
        assert second.status == 0, second.text
        assert asked(variables["AWS_ENDPOINT_URL"])["by"] == "second"


def test_an_image_that_codebuild_builds_is_recorded_and_said_not_to_run(
    environment: dict[str, str], port: int, tmp_path: Path
) -> None:
    up = local_aws(environment, "up", "--engine", "simulated", "--port", str(port), "--detach", "--json")
    assert up.returncode == 0, up.stderr
    started = json.loads(up.stdout)
    try:
        run_cdk(["bootstrap", f"aws://111122223333/{REGION}"], started["environment"], tmp_path)
        done = deploy("codebuild", "nobody", started["environment"], tmp_path)
        assert done.status == 0, done.text
        assert "by" not in asked(started["environment"]["AWS_ENDPOINT_URL"])
        log = Path(started["log"]).read_text(encoding="utf-8")
        assert "(AWS::CodeBuild::Project): CREATE_COMPLETE: recorded only: no build runs in the local AWS" in log
        assert "the formatters in /opt/warmstack/models/model/formatters.py do not run" in log
    finally:
        local_aws(environment, "down", "--port", str(port))
