"""Read a cloud assembly (the folder that `cdk synth` writes) as the scripts beside this file need it."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CDK = ROOT / ".venv" / "bin" / "cdk"


class SynthesisError(Exception):
    """The CDK app did not synthesize; the message holds what it printed."""


def stack_templates(assembly: Path) -> dict[str, Path]:
    """Return the template file of each stack by the stack's display name, those of nested stages included."""
    manifest = json.loads((assembly / "manifest.json").read_text(encoding="utf-8"))
    templates: dict[str, Path] = {}
    for name, artifact in manifest.get("artifacts", {}).items():
        properties = artifact.get("properties", {})
        if artifact["type"] == "aws:cloudformation:stack":
            templates[artifact.get("displayName", name)] = assembly / properties["templateFile"]
        elif artifact["type"] == "cdk:cloud-assembly":
            templates |= stack_templates(assembly / properties["directoryName"])
    return dict(sorted(templates.items()))


def read_template(path: Path) -> dict[str, Any]:
    """Return one template as a mapping."""
    template = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(template, dict):
        raise SynthesisError(f"{path} is not a template")
    return template


def synthesize(project: Path, output: Path, *, cdk: Path = CDK, python_path: str | None = None) -> None:
    """Synthesize the app of `project` into the folder `output`, with no account and no built-in validation.

    `python_path` replaces PYTHONPATH for the app, so that a second copy of the project runs its own code.
    """
    environment = os.environ | {"CDK_VALIDATION": "false", "AWS_EC2_METADATA_DISABLED": "true"}
    if python_path is not None:
        environment["PYTHONPATH"] = python_path
    command = [str(cdk), "synth", "--quiet", "--no-lookups", "--output", str(output), "**"]
    result = subprocess.run(
        command,
        cwd=project,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        raise SynthesisError(result.stdout.strip())
