"""The CDK app: context → load → plan → build contexts → stacks. No planning and no AWS call.

``-c spec=specs/x.yaml`` takes one spec (several with commas); without it, every ``specs/*.yaml`` is a stack.
"""

from __future__ import annotations

import gc
import importlib
import os
import re
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from warmstack.errors import WarmstackError

if TYPE_CHECKING:
    from aws_cdk import App

    from warmstack.plan import Plan

ROOT = Path(__file__).parent


def build_app(
    specs: Sequence[Path] | None = None, *, outdir: str | None = None, build_folder: Path = ROOT / "build"
) -> App:
    """Return the app with one stack for each spec.

    Args:
        specs: the spec files; None takes them from the context, or all of ``specs/``.
        outdir: where to synthesize; None leaves it to the CDK CLI.
        build_folder: where to write the build contexts of images, in a folder for each stack.

    Raises:
        WarmstackError: a spec is invalid; the message holds everything that is wrong with all of them.
    """
    _import_cdk_and_planning()
    from aws_cdk import App

    from stacks.endpoint_stack import EndpointStack

    # The built-in validation takes seconds a run; `make check` validates every template instead.
    app = App(outdir=outdir, builtin_cloud_formation_validation=False)
    for plan in plans(specs if specs is not None else _specs_of(app)):
        EndpointStack(app, plan.stack_name, plan=plan, contexts=contexts(plan, build_folder))
    return app


def plans(specs: Sequence[Path]) -> list[Plan]:
    """Return the plans of the specs; a file that is named twice counts once.

    Raises:
        WarmstackError: a spec is invalid, or two specs claim one stack or one name in SageMaker.
    """
    from warmstack.cli.load import plan_file
    from warmstack.plan import claimed_twice
    from warmstack.spec import render

    found: list[tuple[Path, Plan]] = []
    problems: list[str] = []
    files: dict[str, Path] = {}
    for path in specs:
        # Guard: Path.resolve raises for a link that leads to itself; the spec's reader has the message for it.
        files.setdefault(os.path.realpath(path), path)
    for path in files.values():
        outcome = plan_file(path)
        if outcome.errors or outcome.plan is None:
            problems.append(render(outcome.errors, outcome.lines).rstrip("\n"))
        else:
            found.append((path, outcome.plan))
    problems += claimed_twice([(str(path), plan) for path, plan in found])
    if problems:
        raise WarmstackError("\n".join(problems))
    return [plan for _, plan in found]


def contexts(plan: Plan, build_folder: Path) -> dict[str, Path]:
    """Write the build contexts of a plan's images; none for stock images.

    Raises:
        WarmstackError: a context cannot be rendered or written.
    """
    if not plan.images:
        return {}
    from warmstack.render import render_contexts, write_contexts

    return write_contexts(render_contexts(plan), build_folder / plan.stack_name)


def _import_cdk_and_planning() -> None:
    """Import both at once: while node starts, Python would only wait. It saves a tenth of a synthesis."""
    importlib.import_module("jsii")
    planning = threading.Thread(target=importlib.import_module, args=("warmstack.cli.load",))
    planning.start()
    importlib.import_module("aws_cdk")
    planning.join()


def _specs_of(app: App) -> list[Path]:
    wanted = app.node.try_get_context("spec")
    if wanted is not None:
        named = [Path(one.strip()) for one in str(wanted).split(",") if one.strip()]
        # Guard: an empty variable of a pipeline must not turn one spec into all of them.
        if not named:
            raise WarmstackError(
                f"the context names no spec (-c spec={wanted}): name one, or leave -c spec out for all of specs/"
            )
        return named
    every = sorted((ROOT / "specs").glob("*.yaml"))
    if not every:
        raise WarmstackError("there is no spec in specs/; `warmstack init NAME` writes a first one")
    return [path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path for path in every]


class _Interrupt:
    """Ctrl-C as a quiet end: what the CDK and its node still have to say of it would be tracebacks."""

    def __init__(self) -> None:
        self.happened = False
        signal.signal(signal.SIGINT, self._handle)

    def _handle(self, signum: int, frame: object) -> NoReturn:  # noqa: ARG002  (the signature of a handler)
        self.happened = True
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.stderr.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        raise KeyboardInterrupt


def _message(error: Exception) -> str:
    """Return what a user reads of an exception that is not Warmstack's own."""
    text = str(error).strip()
    crowded = re.search(r"Number of resources in stack '([^']+)': (\d+) is greater than allowed maximum of (\d+)", text)
    if crowded is not None:
        return (
            f"the stack {crowded[1]} has {crowded[2]} resources; a stack can have {crowded[3]}: "
            "move adapters or components to a spec of their own"
        )
    first = next(iter(text.splitlines()), "")
    return f"internal error: {type(error).__name__}: {first}, WARMSTACK_TRACEBACK=1 shows where"


def main() -> None:
    """Synthesize. Exit codes: 0 done, 1 an invalid spec (with its messages) or a defect, 130 Ctrl-C."""
    # A synthesis lives for a second: collecting garbage would be a twentieth of it and free nothing worth having.
    gc.disable()
    interrupt = _Interrupt()
    try:
        build_app().synth()
    except BaseException as error:
        # Guard: code that an interrupt broke off raises what it likes, a refusal of the spec or a panic of Rust too.
        if interrupt.happened:
            sys.exit(130)
        if isinstance(error, WarmstackError):
            sys.exit(str(error))
        if os.environ.get("WARMSTACK_TRACEBACK") or not isinstance(error, Exception):
            raise
        sys.exit(_message(error))
    # Guard: Python drops an interrupt that comes while it frees an object.
    if interrupt.happened:
        sys.exit(130)


if __name__ == "__main__":
    main()
