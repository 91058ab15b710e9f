"""`warmstack lint-prompts`: the command's arguments, and its exit code."""

from __future__ import annotations

import enum
import sys
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from warmstack.prompts import LintReport
    from warmstack.workload import RecordedRequest

lint_prompts_app = typer.Typer(add_completion=False)
_ABSENT: Any = None
_EVERY = 500


class RequestFormat(enum.StrEnum):
    """The formats of files of requests."""

    jsonl = "jsonl"
    capture = "capture"
    agent = "agent"
    recorded = "recorded"


@lint_prompts_app.command("lint-prompts")
def lint_prompts(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Files of requests, or folders of them.", show_default=False),
    ],
    *,
    prefix_length: Annotated[
        int, typer.Option("--prefix-length", help="The endpoint's prefix_length, in bytes.", min=1024, max=65_536)
    ] = 4096,
    form: Annotated[
        RequestFormat, typer.Option("--format", help="The files' format, if their first line does not tell.")
    ] = _ABSENT,
    limit: Annotated[int, typer.Option("--limit", help="Read this many requests at most.", min=1)] = _ABSENT,
    fail_under: Annotated[
        float, typer.Option("--fail-under", help="Exit with 1 if the stable share is below.", min=0.0, max=1.0)
    ] = _ABSENT,
    json: Annotated[bool, typer.Option("--json", help="Write JSON for scripts.")] = False,
) -> None:
    """Compare requests that should share a prefix: where their bytes part, why, and what to do."""
    from warmstack.cli.console import print_json
    from warmstack.prompts import lint_requests, report_document

    found = islice(_requests(paths, form), limit)
    report = lint_requests(_counted(found), prefix_length=prefix_length)
    if json:
        print_json(report_document(report))
    else:
        from warmstack.cli.lint_report import show_report

        show_report(report)
    raise typer.Exit(_verdict(report, fail_under))


def _requests(paths: Sequence[Path], form: RequestFormat | None) -> Iterator[RecordedRequest]:
    from warmstack.workload import WorkloadFormat, read_requests

    named = None if form is None else WorkloadFormat(form.value)
    return chain.from_iterable(read_requests(path, form=named) for path in paths)


def _counted(requests: Iterator[RecordedRequest]) -> Iterator[RecordedRequest]:
    """Yield the requests, and tell on a terminal how many there were so far."""
    if not sys.stderr.isatty():
        yield from requests
        return
    from rich.console import Console

    with Console(stderr=True).status("reading") as status:
        for number, request in enumerate(requests, 1):
            if number % _EVERY == 0:
                status.update(f"{number:,} requests, {request.source}")
            yield request


def _verdict(report: LintReport, fail_under: float | None) -> int:
    share = report.sent.stable_share
    if fail_under is None or (share is not None and share >= fail_under):
        return 0
    # Guard: a check that found nothing to compare has not passed.
    found = "there is no pair to compare"
    if share is not None:
        # Guard: a share that is shown as the one that is asked for has not failed to reach it.
        rounded = f"{share:.4f}"
        found = f"the stable share is {rounded if float(rounded) < fail_under else share}"
    print(f"warmstack: {found}; --fail-under asks for {fail_under}", file=sys.stderr)
    return 1
