"""The real CDK CLI against a local AWS, and this project's app with specs that a test writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.examples import ROOT
from tests.unit.local.aws.fake_sagemaker import REGION
from tests.unit.local.aws.running import Running

__all__ = ["REGION"]

CDK = Path(sys.executable).parent / "cdk"
SECONDS = 120
# What a developer's or a pipeline's environment may say of AWS; the local one must win.
_FOREIGN = ("AWS_", "CDK_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a command printed, and its status."""

    status: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolkit:
    """The CDK CLI.

    Args:
        aws: The local AWS.
        folder: Where specs and assemblies go.
        variables: What the CLI's environment has besides.
    """

    aws: Running
    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    def run(self, *arguments: str) -> Outcome:
        """Run the CLI."""
        return run_cdk(arguments, {**self.aws.environment, **self.variables}, self.folder)

    def synthesize(self, spec: Mapping[str, Any], files: Mapping[str, str] | None = None) -> Path:
        """Return the cloud assembly of a spec."""
        return synthesize(spec, self.folder / f"assembly-{len(list(self.folder.iterdir()))}", files)

    def deploy(self, spec: Mapping[str, Any], *arguments: str, files: Mapping[str, str] | None = None) -> Outcome:
        """Deploy a spec's stack; ``files`` lie beside the spec."""
        assembly = self.synthesize(spec, files)
        return self.run("deploy", "--app", str(assembly), "--require-approval", "never", *arguments)

    def destroy(self, spec: Mapping[str, Any]) -> Outcome:
        """Destroy a spec's stack."""
        return self.run("destroy", "--app", str(self.synthesize(spec)), "--force")

    def mark(self, stack: str) -> int:
        """Return how many events a stack has had."""
        return len(self.aws.events(stack))

    def since(self, mark: int, stack: str) -> list[tuple[str, str]]:
        """Return what has come to an end since then: the type's last word and the status."""
        found = self.aws.cloudformation.describe_stack_events(StackName=stack)["StackEvents"]
        events = [(one["ResourceType"].rsplit("::", 1)[-1], one["ResourceStatus"]) for one in reversed(found)]
        return [one for one in events[mark:] if not one[1].endswith("_IN_PROGRESS")]


def run_cdk(arguments: Sequence[str], variables: Mapping[str, str], folder: Path) -> Outcome:
    """Run the CDK CLI with the variables of a local AWS."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(_FOREIGN)}
    environment = {
        **inherited,
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "CI": "true",
        "FORCE_COLOR": "0",
        "HOME": str(folder),
        "NODE_NO_WARNINGS": "1",
        **variables,
    }
    done = subprocess.run(
        [str(CDK), *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return Outcome(status=done.returncode, text=done.stdout)


def synthesize(spec: Mapping[str, Any], place: Path, files: Mapping[str, str] | None = None) -> Path:
    """Return the cloud assembly of a spec; ``files`` lie beside it."""
    # Late: it starts node.
    import app as program

    place.mkdir()
    for name, text in (files or {}).items():
        (place / name).write_text(text, encoding="utf-8")
    path = place / "spec.yaml"
    # Guard: PyYAML writes shared parts as anchors, which specs do not have.
    path.write_text(yaml.safe_dump(json.loads(json.dumps(spec)), sort_keys=False), encoding="utf-8")
    program.build_app([path], outdir=str(place / "cdk.out"), build_folder=place / "build").synth()
    return place / "cdk.out"


def spec_of(name: str) -> dict[str, Any]:
    """Return an example spec as a document to change."""
    document: dict[str, Any] = yaml.safe_load((ROOT / "specs" / f"{name}.yaml").read_text(encoding="utf-8"))
    return document
