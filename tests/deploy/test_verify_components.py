"""`warmstack verify` after `cdk deploy` of specs with components, as a user runs them: one process each."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.deploy.process import local, serving
from tests.deploy.toolkit import REGION, run_cdk, spec_of, synthesize

pytestmark = pytest.mark.deploy

OUTPUTS = "outputs.json"


@pytest.mark.parametrize(
    ("name", "copies"),
    [
        ("lora-tenants", [{"tenants-prod-base": 2}]),
        ("two-models", [{"assistant-prod-chat": 1, "assistant-prod-draft-replies": 1}] * 2),
    ],
)
def test_components_are_verified_and_spread_over_the_instances(
    environment: dict[str, str], port: int, tmp_path: Path, name: str, copies: list[dict[str, int]]
) -> None:
    with serving(environment, port) as (process, variables):
        done = run_cdk(["bootstrap", f"aws://111122223333/{REGION}"], variables, tmp_path)
        assert done.status == 0, done.text
        assembly = synthesize(spec_of(name), tmp_path / "assembly")
        words = ["deploy", "--app", str(assembly), "--require-approval", "never", "--outputs-file", OUTPUTS]
        done = run_cdk(words, variables, tmp_path)
        assert done.status == 0, done.text
        verified = subprocess.run(
            [sys.executable, "-m", "warmstack", "verify", OUTPUTS, "--local", "--port", str(port)],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert verified.returncode == 0, verified.stdout + verified.stderr
        status = json.loads(local(environment, "status", "--port", str(port), "--json").stdout)
        (variant,) = status["endpoints"][0]["variants"]
        placed = [Counter(copy["component"] for copy in one["copies"]) for one in variant["instances"]]
        assert placed == copies
        process.terminate()
        assert "no component of the template is on it" not in process.communicate(timeout=30)[1]
