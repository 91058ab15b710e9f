"""Plans with images to build, for tests of the renderer."""

from __future__ import annotations

from typing import Any

from tests.unit.plan.specs import FILES, SGLANG, VLLM, planned
from warmstack.plan import Plan
from warmstack.render import BuildContext, render_contexts

Change = dict[str, Any]
HERE: Change = {"target": {"account": "111122223333", "region": "us-west-2"}}
DOCKER: Change = {"image": {"build": "docker"}}
CODEBUILD: Change = {"image": {"build": "codebuild"}}
TIERS: Change = {"cache": {"tiers": {"cpu": "40GiB", "disk": {"size": "1TiB", "direct_io": True}}}}
TEMPLATE: Change = {"model": {"chat_template": "chat.jinja"}, FILES: {"chat.jinja": "{{ messages }}\n"}}
CODE = "from warmstack_formatters import input_formatter\n\n\n@input_formatter\ndef to_model(payload): return payload\n"
FORMATTERS: Change = {"model": {"formatters": "formatters.py"}, FILES: {"formatters.py": CODE}}
SECRET = "arn:aws:secretsmanager:us-west-2:111122223333:secret:hub-token-AbCdEf"
TOKEN: Change = {"model": {"weights": {"s3": None, "hub": {"revision": "main", "token_secret": SECRET}}}}

EVERY: dict[str, tuple[Change, ...]] = {
    "lmi-tiers": (HERE, DOCKER, TIERS),
    "lmi-all": (HERE, DOCKER, TIERS, TEMPLATE, FORMATTERS),
    "lmi-token": (HERE, DOCKER, TIERS, TOKEN),
    "vllm-all": (HERE, DOCKER, VLLM, TIERS, TEMPLATE, FORMATTERS, TOKEN),
    "vllm-agnostic": (CODEBUILD, VLLM, TIERS),
    "sglang": (HERE, DOCKER, SGLANG),
    "sglang-all": (CODEBUILD, SGLANG, TEMPLATE, FORMATTERS, TOKEN),
}
"""Each server with what its image can carry."""


def contexts(*changes: Change) -> tuple[BuildContext, ...]:
    """Return the build contexts of the changed base."""
    return render_contexts(planned(*changes))


def context(*changes: Change) -> BuildContext:
    """Return the one build context of the changed base."""
    (found,) = contexts(*changes)
    return found


def text(built: BuildContext, path: str) -> str:
    """Return a file of a build context."""
    return built.files[path].content.decode()


def instructions(dockerfile: str) -> list[str]:
    """Return the instructions of a Dockerfile as a builder reads them: continued lines joined, comments left out."""
    joined = dockerfile.replace("\\\n", " ")
    return [line.strip() for line in joined.split("\n") if line.strip() and not line.lstrip().startswith("#")]


__all__ = ["CODEBUILD", "DOCKER", "EVERY", "FORMATTERS", "HERE", "SGLANG", "TEMPLATE", "TIERS", "TOKEN", "VLLM", "Plan"]
