"""Specs synthesized in this process, each app once, into values that tests may read but not write."""

from __future__ import annotations

import copy
import functools
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.examples import EXAMPLES, ROOT
from warmstack.plan import Plan

__all__ = ["EXAMPLES", "ROOT"]

EXTRAS = tuple(sorted((Path(__file__).parent / "specs").glob("*.yaml")))
"""What the examples leave out: isolation, the hub, mirrors, other strategies, names that are cut."""
ALL = (*EXAMPLES, *EXTRAS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesized:
    """One spec's stack.

    Args:
        plan: the plan that the stack was made from.
        text: the template as `cdk synth` writes it.
        template: the same, parsed.
    """

    plan: Plan
    text: str
    template: dict[str, Any]

    def of_type(self, name: str) -> dict[str, dict[str, Any]]:
        """Return the resources of a type, such as ``SageMaker::Model``, by logical id."""
        return of_type(self.template, name)

    @property
    def execution_role(self) -> tuple[str, dict[str, Any]]:
        """The logical id and the properties of the role that SageMaker assumes; builds have roles of their own."""
        (found,) = (
            (key, one["Properties"])
            for key, one in self.of_type("IAM::Role").items()
            if "sagemaker.amazonaws.com" in json.dumps(one["Properties"]["AssumeRolePolicyDocument"])
        )
        return found

    def only(self, name: str) -> dict[str, Any]:
        """Return the properties of the one resource of a type."""
        (resource,) = self.of_type(name).values()
        properties: dict[str, Any] = resource["Properties"]
        return properties


def of_type(template: dict[str, Any], name: str) -> dict[str, dict[str, Any]]:
    """Return the resources of a type by logical id."""
    return {key: one for key, one in template["Resources"].items() if one["Type"] == f"AWS::{name}"}


def synthesize(paths: Sequence[Path]) -> list[Synthesized]:
    """Return the stacks of one app with these specs."""
    # Late: the first import of aws_cdk starts node, which tests of other folders do without.
    import app as program

    with tempfile.TemporaryDirectory(prefix="warmstack-") as folder:
        app = program.build_app(paths, outdir=f"{folder}/out", build_folder=Path(folder) / "build")
        app.synth()
        plans = program.plans(paths)
        texts = [
            (Path(folder) / "out" / f"{plan.stack_name}.template.json").read_text(encoding="utf-8") for plan in plans
        ]
    return [
        Synthesized(plan=plan, text=text, template=json.loads(text)) for plan, text in zip(plans, texts, strict=True)
    ]


@functools.cache
def _all() -> dict[Path, Synthesized]:
    return dict(zip(ALL, synthesize(ALL), strict=True))


def synthesized(path: Path) -> Synthesized:
    """Return the stack of one of the specs in ``ALL``; they share one app."""
    return _all()[path]


def path_of(name: str) -> Path:
    """Return the spec file with a name, without its suffix."""
    (path,) = (one for one in ALL if one.stem == name)
    return path


def document_of(name: str) -> dict[str, Any]:
    """Return a spec as a document to change."""
    document: dict[str, Any] = yaml.safe_load(path_of(name).read_text(encoding="utf-8"))
    return document


def synthesize_document(folder: Path, document: Mapping[str, Any]) -> Synthesized:
    """Return the stack of a spec that is written down first, in an app of its own."""
    path = folder / "spec.yaml"
    apart = json.loads(json.dumps(document))  # Guard: PyYAML writes shared parts as anchors, which specs do not have.
    path.write_text(yaml.safe_dump(apart, sort_keys=False), encoding="utf-8")
    (found,) = synthesize([path])
    return found


def template_of(name: str) -> dict[str, Any]:
    """Return a template to change, by the name of its spec file without the suffix."""
    return copy.deepcopy(synthesized(path_of(name)).template)
