"""The CDK app: context → load → plan → stacks. No logic and no AWS call.

``-c spec=specs/x.yaml`` takes one spec (several with commas); without it, every ``specs/*.yaml`` is a stack.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from warmstack.errors import WarmstackError

if TYPE_CHECKING:
    from aws_cdk import App

    from warmstack.plan import Plan

ROOT = Path(__file__).parent


def build_app(specs: Sequence[Path] | None = None, *, outdir: str | None = None) -> App:
    """Return the app with one stack for each spec.

    Args:
        specs: the spec files; None takes them from the context, or all of ``specs/``.
        outdir: where to synthesize; None leaves it to the CDK CLI.

    Raises:
        WarmstackError: a spec is invalid; the message holds everything that is wrong with all of them.
    """
    _import_cdk_and_planning()
    from aws_cdk import App

    from stacks.endpoint_stack import EndpointStack

    # The built-in validation takes seconds a run; `make check` validates every template instead.
    app = App(outdir=outdir, builtin_cloud_formation_validation=False)
    for plan in plans(specs if specs is not None else _specs_of(app)):
        EndpointStack(app, plan.stack_name, plan=plan)
    return app


def plans(specs: Sequence[Path]) -> list[Plan]:
    """Return the plans of the specs.

    Raises:
        WarmstackError: a spec is invalid, or two specs are the same deployment.
    """
    from warmstack.cli.load import plan_file
    from warmstack.spec import render

    found: dict[str, tuple[Path, Plan]] = {}
    problems: list[str] = []
    for path in specs:
        outcome = plan_file(path)
        errors = [one for one in outcome.diagnostics if one.severity == "error"]
        if errors or outcome.plan is None:
            problems.append(render(errors, outcome.lines).rstrip("\n"))
        elif outcome.plan.stack_name in found:
            first = found[outcome.plan.stack_name][0]
            problems.append(f"{path}: the stack {outcome.plan.stack_name} is deployed by {first} already")
        else:
            found[outcome.plan.stack_name] = (path, outcome.plan)
    if problems:
        raise WarmstackError("\n".join(problems))
    return [plan for _, plan in found.values()]


def _import_cdk_and_planning() -> None:
    """Import both at once: while node starts, Python would only wait. It saves a tenth of a synthesis."""
    importlib.import_module("jsii")
    planning = threading.Thread(target=importlib.import_module, args=("warmstack.cli.load",))
    planning.start()
    importlib.import_module("aws_cdk")
    planning.join()


def _specs_of(app: App) -> list[Path]:
    wanted = app.node.try_get_context("spec")
    if wanted:
        return [Path(one.strip()) for one in str(wanted).split(",") if one.strip()]
    every = sorted((ROOT / "specs").glob("*.yaml"))
    if not every:
        raise WarmstackError("there is no spec in specs/; `warmstack init NAME` writes a first one")
    return [path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path for path in every]


def main() -> None:
    """Synthesize; an invalid spec ends with its messages and exit code 1."""
    try:
        build_app().synth()
    except WarmstackError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
