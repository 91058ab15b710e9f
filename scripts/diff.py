"""Compare the templates of this work tree with a revision's: what `make diff BASE=<revision>` runs.

The revision is checked out whole in a temporary git worktree and synthesized with its own code, and with its
own packages when its lock files differ from ours. Each stack is then compared with the stock `cdk diff`,
without an account: against the templates of the revision, not against what is deployed. The table at the end
says, per stack:

    none         the templates are equal
    new          the revision does not have the stack
    changes      resources are added or updated in place
    rollout      also, SageMaker models or endpoint configurations are replaced: they cannot be changed, and
                 the endpoint moves over to the new ones
    destructive  something else is replaced or removed, or the stack is gone

Exit status: 0; 1 when a stack is destructive (0 with `--allow-destructive`) or a synthesis fails; 2 on wrong
usage.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console
from rich.table import Table

from cloud_assembly import CDK, ROOT, SynthesisError, read_template, stack_templates, synthesize

LOCK_FILES = (
    "requirements/bootstrap.txt",
    "requirements/runtime.txt",
    "requirements/dev.txt",
    "package-lock.json",
)

# All that CloudFormation can do with a change of these is to replace them, and nothing is lost by it as long
# as it makes up their names. Each with the property that would fix the name.
REPLACED_BY_DESIGN = {
    "AWS::SageMaker::EndpointConfig": "EndpointConfigName",
    "AWS::SageMaker::Model": "ModelName",
}
FOUND = re.compile(r"Found (\d+) destructive change")
REPLACED = re.compile(r"^\s+\S+: (?P<type>AWS::\S+) .*?(?P<logical_id>\S+) will be replaced$", re.MULTILINE)
# The folder of a run, with its process; the rest is tempfile's.
LEFTOVER = re.compile(r"warmstack-diff-(?P<process>[1-9][0-9]*)-[a-z0-9_]+")
ANSI = re.compile(r"\x1b\[[0-9;]*m")


class UsageError(Exception):
    """The command cannot mean anything here; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What `cdk diff` says of one stack."""

    stack: str
    verdict: str
    detail: str = ""


def main() -> int:
    """Compare and print; return the exit status."""
    parser = argparse.ArgumentParser(prog="diff", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("base", nargs="?", help="a git revision, as in origin/main")
    parser.add_argument("--allow-destructive", action="store_true", help="report destructive changes, exit 0")
    arguments = parser.parse_args()
    # The worktree is removed by `finally`, so a polite kill has to unwind too.
    signal.signal(signal.SIGTERM, stop)
    console = Console()
    try:
        if not arguments.base:
            raise UsageError("name the revision to compare with, as in: make diff BASE=origin/main")
        comparisons = compare_with(arguments.base, console)
    except UsageError as error:
        print(f"diff: {error}", file=sys.stderr)
        return 2
    except SynthesisError as error:
        print(f"diff: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("diff: interrupted", file=sys.stderr)
        return 130
    console.print(verdict_table(arguments.base, comparisons))
    destructive = [item.stack for item in comparisons if item.verdict == "destructive"]
    if destructive:
        hint = "" if arguments.allow_destructive else " (ALLOW_DESTRUCTIVE=1 only reports them)"
        message = f"Destructive changes in: {', '.join(destructive)}{hint}"
        console.print(message, style="bold red", soft_wrap=True)
    return 1 if destructive and not arguments.allow_destructive else 0


def stop(signum: int, frame: object) -> NoReturn:  # noqa: ARG001  (the signature of a signal handler)
    """End the process by an exception, as Ctrl-C does."""
    raise SystemExit(128 + signum)


def compare_with(base: str, console: Console) -> list[Comparison]:
    """Return one comparison for each stack of the revision `base` or the work tree, and print each diff."""
    commit = commit_of(base)
    remove_leftovers()
    with tempfile.TemporaryDirectory(prefix=f"warmstack-diff-{os.getpid()}-") as name:
        folder = Path(name)
        # The worktree stays until the end: a later run finds the folder by it if this one is killed.
        with worktree(commit, folder / "base") as tree:
            return compare_trees(tree, folder, f"{base} ({commit[:12]})", console)


def compare_trees(tree: Path, folder: Path, label: str, console: Console) -> list[Comparison]:
    """Synthesize the checked-out revision and the work tree into `folder`, and compare stack by stack."""
    if not (tree / "app.py").exists():
        raise UsageError(f"{label} has no app.py, so there are no templates to compare with")
    before, after = folder / "before", folder / "after"
    console.print(f"Synthesizing {label} …", style="dim", highlight=False)
    synthesize_revision(tree, before, label)
    console.print("Synthesizing this work tree …", style="dim", highlight=False)
    synthesize_project(ROOT, after, "this work tree")
    old, new = stack_templates(before), stack_templates(after)
    empty = folder / "empty.json"
    empty.write_text("{}", encoding="utf-8")
    return [compare_stack(stack, old.get(stack, empty), new.get(stack), after, console) for stack in sorted(old | new)]


# -----------------------------------------------------------------------------------------------------------
# The revision's templates


def git(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run git in the clone, with its hooks off."""
    command = ["git", "-C", str(ROOT), "-c", "core.hooksPath=/dev/null", *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise UsageError("git is not on PATH; it holds the revision to compare with") from error


def commit_of(base: str) -> str:
    """Return the commit that a revision names."""
    found = git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}")
    if found.returncode != 0:
        why = found.stderr.strip() or "a shallow clone holds few revisions; `git fetch --unshallow` brings them all"
        raise UsageError(f"git does not know the revision {base!r} ({why})")
    return found.stdout.strip()


@contextmanager
def worktree(commit: str, folder: Path) -> Iterator[Path]:
    """Check out `commit` whole in `folder`, and remove it again however the block ends."""
    git("worktree", "prune")
    try:
        added = git("worktree", "add", "--detach", "--quiet", str(folder), commit)
        if added.returncode != 0:
            raise UsageError(f"git cannot check out {commit[:12]}: {added.stderr.strip()}")
        yield folder
    finally:
        remove_worktree(folder)


def remove_worktree(folder: Path) -> None:
    """Remove a worktree's folder and what git knows of it."""
    # Guard: these may be links into this clone; take the links away, not what they lead to.
    for link in (folder / ".venv", folder / "node_modules"):
        if link.is_symlink():
            link.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    # Guard: git locks a worktree while it checks out, and prunes no locked one.
    git("worktree", "unlock", str(folder))
    git("worktree", "prune")


def remove_leftovers() -> None:
    """Remove what runs left behind that were killed: worktrees of this repository whose process is gone."""
    for line in git("worktree", "list", "--porcelain").stdout.splitlines():
        folder = Path(line.removeprefix("worktree "))
        owner = LEFTOVER.fullmatch(folder.parent.name)
        if line.startswith("worktree ") and folder.name == "base" and owner and not is_running(int(owner["process"])):
            remove_worktree(folder)
            shutil.rmtree(folder.parent, ignore_errors=True)


def is_running(process: int) -> bool:
    """Tell whether a process exists, whoever it belongs to."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def synthesize_revision(tree: Path, output: Path, label: str) -> None:
    """Synthesize the checked-out revision with its own code, and its own packages unless ours are equal."""
    if all(same_file(tree / name, ROOT / name) for name in LOCK_FILES):
        for name in (".venv", "node_modules"):
            (tree / name).symlink_to(ROOT / name, target_is_directory=True)
        # The environment has this clone's package installed; the revision's folders come before it.
        synthesize_project(tree, output, label, python_path=f"{tree / 'src'}{os.pathsep}{tree}")
        return
    # What make exported for this run (BASE among it) is none of the other make's business.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    setup = subprocess.run(["make", "setup"], cwd=tree, env=environment, check=False)
    if setup.returncode != 0:
        raise SynthesisError(f"{label} could not be set up; its own `make setup` failed")
    synthesize_project(tree, output, label, cdk=tree / ".venv" / "bin" / "cdk")


def synthesize_project(
    project: Path, output: Path, label: str, *, cdk: Path = CDK, python_path: str | None = None
) -> None:
    """Synthesize one copy of the project; a failure names which one."""
    try:
        synthesize(project, output, cdk=cdk, python_path=python_path)
    except SynthesisError as error:
        raise SynthesisError(f"{label} does not synthesize:\n{error}") from error


def same_file(one: Path, other: Path) -> bool:
    """Tell whether both files exist and hold the same bytes."""
    return one.exists() and other.exists() and one.read_bytes() == other.read_bytes()


# -----------------------------------------------------------------------------------------------------------
# The comparison


def compare_stack(stack: str, old: Path, new: Path | None, assembly: Path, console: Console) -> Comparison:
    """Run `cdk diff` for one stack, print what it prints, and judge it."""
    if new is None:
        return Comparison(stack=stack, verdict="destructive", detail="the stack is gone")
    template = read_template(new)
    if template == read_template(old):
        return Comparison(stack=stack, verdict="none")
    command = [
        str(CDK),
        "diff",
        "--app",
        str(assembly),
        stack,
        "--template",
        str(old),
        "--fail-on",
        "destructive",
    ]
    environment = os.environ | ({"FORCE_COLOR": "1"} if console.is_terminal else {})
    result = subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    verdict, detail = judge(result.returncode, ANSI.sub("", result.stdout), template)
    # Guard: cdk ends with a red "destructive" for every replaced Model; the table below judges that better.
    shown = result.stdout.partition("❌")[0] if verdict == "rollout" else result.stdout
    print(shown.strip(), end="\n\n", flush=True)
    if verdict == "changes" and not read_template(old):
        verdict = "new"
    return Comparison(stack=stack, verdict=verdict, detail=detail)


def judge(status: int, output: str, template: dict[str, Any]) -> tuple[str, str]:
    """Return the verdict and its detail from what `cdk diff --fail-on destructive` returned and printed.

    Whatever is not understood counts as destructive.
    """
    if status == 0:
        return ("none", "") if "There were no differences" in output else ("changes", "")
    found = FOUND.search(output)
    if found is None:
        raise SynthesisError(f"cdk diff failed with exit status {status}:\n{output.strip()}")
    total = int(found[1])
    by_design = sum(
        replaced_by_design(match["type"], match["logical_id"], template) for match in REPLACED.finditer(output)
    )
    if by_design == total:
        return "rollout", f"{total} of the endpoint's models and configurations replaced"
    return "destructive", f"{total - by_design} replaced or removed"


def replaced_by_design(kind: str, logical_id: str, template: dict[str, Any]) -> bool:
    """Tell whether a replacement is how the resource changes, and not a loss."""
    if kind not in REPLACED_BY_DESIGN:
        return False
    resource = template.get("Resources", {}).get(logical_id, {})
    return resource.get("Type") == kind and REPLACED_BY_DESIGN[kind] not in resource.get("Properties", {})


def verdict_table(base: str, comparisons: list[Comparison]) -> Table:
    """Return the closing table: one row a stack."""
    styles = {"destructive": "bold red", "rollout": "yellow", "changes": "yellow", "new": "green"}
    table = Table(title=f"This work tree against {base}", title_justify="left")
    for heading in ("stack", "verdict", "detail"):
        table.add_column(heading, overflow="fold")
    for item in comparisons:
        table.add_row(item.stack, item.verdict, item.detail, style=styles.get(item.verdict, ""))
    return table


if __name__ == "__main__":
    sys.exit(main())
