"""Synthesize the example specs and validate the templates offline with three independent tools.

cfn-lint and cloudformation-validate read each template against the CloudFormation resource schemas;
cdk-nag's AwsSolutions rules read the constructs. One line a problem, and exit status 1 when there is one.
"""

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cloud_assembly import ROOT, SynthesisError, read_template, stack_templates, synthesize

# The validators' schemas are older than this value of the SageMaker API (botocore 1.44.8 has it in its enum
# RoutingStrategy). The exception holds for this value at this place and for nothing else.
UNKNOWN_ENUM_RULES = {"cfn-lint": "E3030", "cloudformation-validate": "W3030"}
NEW_STRATEGY = "KV_AWARE"
STRATEGY_PATH = ("RoutingConfig", "RoutingStrategy")

# What cloudformation-validate says for information (create-only properties, advice on tags) is no problem.
INFORMATION = "INFO"

# The report holds the stacks' own warnings too, which are the plan's findings: `warmstack validate` is for them.
NAG_PLUGIN = "AwsSolutions"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One finding of one validator about one place of a template or one construct."""

    tool: str
    rule: str
    where: str
    message: str

    def __str__(self) -> str:
        """Return the finding as one line."""
        return f"{self.where}: {self.tool} {self.rule}: {' '.join(self.message.split())}"


def validate_templates(paths: Iterable[Path]) -> list[Problem]:
    """Return what cfn-lint and cloudformation-validate find in the template files `paths`."""
    paths = list(paths)
    return [*lint_templates(paths), *validate_against_schemas(paths)]


def lint_templates(paths: Sequence[Path]) -> list[Problem]:
    """Return cfn-lint's errors and warnings."""
    from cfnlint import ManualArgs, lint_by_config

    if not paths:
        return []
    problems = []
    for match in lint_by_config(ManualArgs(templates=[str(path) for path in paths])):
        template = Path(match.filename)
        if not is_new_strategy("cfn-lint", match.rule.id, template, match.path):
            where = f"{template.name}:{match.linenumber}:{match.columnnumber} {dotted(match.path)}"
            problems.append(Problem(tool="cfn-lint", rule=match.rule.id, where=where, message=match.message))
    return problems


def validate_against_schemas(paths: Sequence[Path]) -> list[Problem]:
    """Return cloudformation-validate's findings of every severity above information."""
    from cloudformation_validate import CompositeEngine

    engine = CompositeEngine()
    problems = []
    for path in paths:
        for finding in engine.validate_template(path).diagnostics:
            resource = finding.entity.logical_id if finding.entity else ""
            keys = ("Resources", resource, *(finding.property_path or "").split("."))
            if finding.severity.name == INFORMATION:
                continue
            if not is_new_strategy("cloudformation-validate", finding.rule_id, path, keys):
                where = f"{path.name}:{finding.start_line}:{finding.start_column} {dotted(keys)}"
                problem = Problem(
                    tool="cloudformation-validate", rule=finding.rule_id, where=where, message=finding.message
                )
                problems.append(problem)
    return problems


def is_new_strategy(tool: str, rule: str, template: Path, path: Sequence[str | int]) -> bool:
    """Tell whether a finding is only that the tool's schema does not list KV_AWARE yet."""
    if rule != UNKNOWN_ENUM_RULES[tool] or tuple(path[-2:]) != STRATEGY_PATH:
        return False
    return bool(value_at(read_template(template), path) == NEW_STRATEGY)


def value_at(document: Any, path: Sequence[str | int]) -> Any:
    """Return the value that `path` leads to, or None when there is none. Numbers in text index lists."""
    for key in path:
        if isinstance(document, list):
            document = document[int(key)] if str(key).isdigit() and int(key) < len(document) else None
        elif isinstance(document, dict):
            document = document.get(key)
        else:
            return None
    return document


def dotted(path: Sequence[str | int]) -> str:
    """Return a path as text, as in ``Resources.Config.Properties``."""
    return ".".join(str(key) for key in path if key != "")


def nag() -> list[Problem]:
    """Return what cdk-nag's AwsSolutions rules find in the app that `app.build_app` makes."""
    sys.path.insert(0, str(ROOT))
    # The command line hands the context of cdk.json to the app this way; feature flags change templates.
    context = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8")).get("context", {})
    os.environ["CDK_CONTEXT_JSON"] = json.dumps(context)
    os.environ["CDK_VALIDATION"] = "false"
    with tempfile.TemporaryDirectory(prefix="warmstack-nag-") as folder:
        # The App reads its output folder from here, as it does under the command line.
        os.environ["CDK_OUTDIR"] = folder
        from app import build_app

        return nag_problems(build_app())


def nag_problems(app: Any) -> list[Problem]:
    """Synthesize a CDK app with the AwsSolutions rules added, and return what they find in it."""
    import aws_cdk
    from cdk_nag import AwsSolutionsChecks

    aws_cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    report = Path(app.outdir) / "validation-report.json"
    try:
        app.synth()
    except RuntimeError as error:
        # A synthesis with findings raises after it has written the report.
        if not report.exists():
            raise SynthesisError(str(error)) from error
    if not report.exists():
        return []
    return [
        Problem(tool="cdk-nag", rule=found["ruleName"], where=place["constructPath"], message=found["description"])
        for plugin in json.loads(report.read_text(encoding="utf-8"))["pluginReports"]
        if plugin["pluginName"] == NAG_PLUGIN
        for found in plugin["violations"]
        for place in found["violatingConstructs"]
    ]


def main() -> int:
    """Synthesize, validate, print one line a problem; return the exit status."""
    with tempfile.TemporaryDirectory(prefix="warmstack-templates-") as folder:
        try:
            synthesize(ROOT, Path(folder))
            templates = stack_templates(Path(folder))
            problems = [*validate_templates(templates.values()), *nag()]
        except SynthesisError as error:
            print(f"check_templates: the app did not synthesize:\n{error}", file=sys.stderr)
            return 1
    for problem in problems:
        print(problem)
    print(f"check_templates: {len(templates)} templates, {len(problems)} problems")
    return 1 if problems or not templates else 0


if __name__ == "__main__":
    sys.exit(main())
