"""The offline validators of `make check`: every template passes them, and what is wrong does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from check_templates import Problem, nag_problems, validate_templates
from tests.infrastructure.synthesis import ALL, ROOT, Synthesized, document_of, of_type, synthesized, template_of

ACKNOWLEDGED = "aws:cdk:acknowledged-rules"


def _problems(folder: Path, texts: Mapping[str, str]) -> list[Problem]:
    paths = [folder / f"{name}.json" for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text, encoding="utf-8")
    return validate_templates(paths)


def test_every_template_is_valid(tmp_path: Path) -> None:
    """KV_AWARE among them, which the validators' own schemas do not list yet."""
    found = _problems(tmp_path, {path.stem: synthesized(path).text for path in ALL})
    assert [str(one) for one in found] == []


def _routing(template: dict[str, Any]) -> Any:
    (config,) = of_type(template, "SageMaker::EndpointConfig").values()
    return config["Properties"]["ProductionVariants"][0]["RoutingConfig"]


def test_what_is_wrong_is_found_by_both_validators(tmp_path: Path) -> None:
    """The exception for KV_AWARE is for that value only, and broken templates are not lost among good ones."""
    broken = template_of("kv-aware")
    _routing(broken)["RoutingStrategy"] = "KV_AVARE"
    short = template_of("rag-prefix-aware")
    _routing(short)["PrefixAwareRoutingConfig"]["PrefixLength"] = 512
    found = _problems(tmp_path, {"broken": json.dumps(broken), "short": json.dumps(short)})
    for name, place in (("broken", "RoutingStrategy"), ("short", "PrefixLength")):
        tools = {one.tool for one in found if one.where.startswith(f"{name}.json:") and one.where.endswith(place)}
        assert tools == {"cfn-lint", "cloudformation-validate"}, found


@dataclass(frozen=True, slots=True, kw_only=True)
class Nagged:
    """What cdk-nag found in all stacks, and the acknowledgements by construct path."""

    problems: tuple[Problem, ...]
    acknowledged: Mapping[str, Mapping[str, str]]


def _nag(folder: Path) -> Nagged:
    import app as program

    problems = nag_problems(program.build_app(ALL, outdir=str(folder), build_folder=folder / "build"))
    return Nagged(problems=tuple(problems), acknowledged=dict(_acknowledgements(folder)))


def _acknowledgements(folder: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    for file in folder.glob("*.metadata.json"):
        for path, entries in json.loads(file.read_text(encoding="utf-8")).items():
            rules = [entry["data"] for entry in entries if entry["type"] == ACKNOWLEDGED]
            if rules:
                yield path.removeprefix("/"), {rule: reason for one in rules for rule, reason in one.items()}


@pytest.fixture(scope="module")
def nagged(tmp_path_factory: pytest.TempPathFactory) -> Nagged:
    return _nag(tmp_path_factory.mktemp("nag"))


def test_nag_finds_nothing(stack: Synthesized, nagged: Nagged) -> None:
    own = [str(one) for one in nagged.problems if one.where.startswith(f"{stack.plan.stack_name}/")]
    assert own == []


def test_nag_has_nothing_beside_the_stacks(nagged: Nagged) -> None:
    assert nagged.problems == ()


def test_an_acknowledgement_is_for_one_wildcard_of_the_role_with_its_reasons(
    stack: Synthesized, nagged: Nagged
) -> None:
    own = [one for one in nagged.acknowledged if one.startswith(f"{stack.plan.stack_name}/")]
    path = f"{stack.plan.stack_name}/ExecutionRole/Role"
    builds = f"{stack.plan.stack_name}/Images/"
    assert [one for one in own if not one.startswith(builds)] == [path]
    reasons: dict[str, list[str]] = {}
    for permission in stack.plan.permissions:
        for resource in permission.resources:
            if "*" in resource:
                written = resource.replace("${", "<").replace("}", ">")
                reasons.setdefault(f"AwsSolutions-IAM5[Resource::{written}]", []).append(permission.reason)
    assert nagged.acknowledged[path] == {f"Annotation::{rule}": "; ".join(given) for rule, given in reasons.items()}


def test_without_the_acknowledgements_nag_finds_every_wildcard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nagged: Nagged
) -> None:
    monkeypatch.setattr("stacks.execution_role.ExecutionRole._acknowledge_wildcards", lambda *_: None)
    bare = _nag(tmp_path)
    left = {path for path in bare.acknowledged if "/Images/" not in path}
    assert left == set()
    found: dict[str, set[str]] = {}
    for one in bare.problems:
        assert one.tool == "cdk-nag"
        found.setdefault(one.where.removesuffix("/Resource"), set()).add(f"Annotation::{one.rule}")
    assert found == {path: set(rules) for path, rules in nagged.acknowledged.items() if "/Images/" not in path}


def test_what_builds_is_acknowledged_for_what_cannot_be_narrower(nagged: Nagged) -> None:
    """A log stream, the registry's login, and a project that runs Docker and has no artifacts: nothing else."""
    rules = {rule for path, found in nagged.acknowledged.items() if "/Images/" in path for rule in found}
    wildcards = {rule for rule in rules if "IAM5" in rule}
    assert rules - wildcards == {"Annotation::AwsSolutions-CB3", "Annotation::AwsSolutions-CB4"}
    assert all("Logs" in rule or rule.endswith("[Resource::*]") for rule in wildcards)


def test_the_plans_own_warnings_are_not_nags(tmp_path: Path) -> None:
    """They are in the same report; `warmstack validate` speaks of them, and `make check` does not fail for them."""
    document = {key: one for key, one in document_of("kv-aware").items() if key != "acknowledge"}
    (tmp_path / "spec.yaml").write_text(json.dumps(document), encoding="utf-8")
    # In a process of its own: the CDK prints the warning whenever it likes.
    program = (
        "import sys; from pathlib import Path; from app import build_app; from check_templates import nag_problems\n"
        "print(nag_problems(build_app([Path(sys.argv[1])], outdir=sys.argv[2])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "spec.yaml"), str(tmp_path / "out")],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT / "scripts"), os.environ.get("PYTHONPATH", "")))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
    assert "Annotation::warmstack:WS055" in (tmp_path / "out" / "validation-report.json").read_text(encoding="utf-8")
