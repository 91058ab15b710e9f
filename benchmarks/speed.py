"""How long people wait, as ratios of two commands that run in turns on the same machine at the same time.

Absolute times differ from machine to machine and from minute to minute; the ratio of two interleaved commands does
not, much. A ratio is the median over the rounds of one round's ratio. Exit status 1 when one is over its limit.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PYTHON = sys.executable
WARMSTACK = str(Path(PYTHON).with_name("warmstack"))
SPEC = "specs/tiered-cache.yaml"
STACK = "tiered-prod"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command to time.

    Args:
        name: how the table names it.
        arguments: the command line; it runs in the repository.
        environment: what it has beside this process's environment.
    """

    name: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]

    def seconds(self) -> float:
        """Run it and return the wall time."""
        start = time.perf_counter()
        done = subprocess.run(
            self.arguments,
            cwd=ROOT,
            env=environment() | dict(self.environment),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        taken = time.perf_counter() - start
        if done.returncode != 0:
            sys.exit(f"speed: {self.name} ended with {done.returncode}:\n{done.stderr}")
        return taken


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two commands, and how much longer the first may take.

    Args:
        key: how the command line names it.
        measured: what people wait for.
        base: what it is held against.
        limit: the most that measured over base may be.
    """

    key: str
    measured: Command
    base: Command
    limit: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The medians of one comparison, seconds, and the median of its rounds' ratios."""

    comparison: Comparison
    measured_seconds: float
    base_seconds: float
    ratio: float

    @property
    def over(self) -> bool:
        """Whether the ratio is over the limit."""
        return self.ratio > self.comparison.limit


def environment() -> dict[str, str]:
    """Return an environment as users have it: bytecode is kept, and nobody looks for an account."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"AWS_EC2_METADATA_DISABLED": "true", "CDK_VALIDATION": "false"}


def comparisons(folder: Path) -> Iterator[Comparison]:
    """Yield what is compared; outputs and made-up specs go to a folder."""
    imports = Command(
        name="import pydantic, yaml, typer, rich",
        arguments=(PYTHON, "-c", "import pydantic, yaml, typer, rich"),
        environment={},
    )
    for word in ("validate", "plan"):
        measured = Command(name=f"warmstack {word}", arguments=(WARMSTACK, word, SPEC), environment={})
        yield Comparison(key=word, measured=measured, base=imports, limit=3.0)
    by_hand = Command(
        name="benchmarks/minimal_app.py",
        arguments=(PYTHON, "benchmarks/minimal_app.py"),
        environment=_cdk(folder / "by-hand", SPEC),
    )
    yield Comparison(key="app", measured=_app("app.py", SPEC, folder / "app"), base=by_hand, limit=1.2)
    many, one = (_with_adapters(folder / f"adapters-{count}.yaml", count) for count in (200, 1))
    yield Comparison(
        key="adapters",
        measured=_app("app.py, 200 adapters", str(many), folder / "many"),
        base=_app("app.py, 1 adapter", str(one), folder / "one"),
        limit=2.0,
    )


def _app(name: str, spec: str, output: Path) -> Command:
    return Command(name=name, arguments=(PYTHON, "app.py"), environment=_cdk(output, spec))


def _cdk(output: Path, spec: str) -> dict[str, str]:
    """Return what the CDK CLI hands to an app: where to write, and the context."""
    context: dict[str, object] = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
    return {"CDK_OUTDIR": str(output), "CDK_CONTEXT_JSON": json.dumps(context | {"spec": spec})}


def _with_adapters(path: Path, count: int) -> Path:
    """Write the adapters' example with another number of adapters; every list is JSON, which YAML holds."""
    text = (ROOT / "specs" / "lora-tenants.yaml").read_text(encoding="utf-8")
    head, mark, rest = text.partition("    adapters:\n")
    if not mark:
        sys.exit("speed: specs/lora-tenants.yaml has no list of adapters any more")
    after = [line for line in rest.splitlines() if not line.startswith("      - ")]
    adapters = [
        {"name": f"tenant-{number:03}", "artifact": f"s3://acme-adapters/tenants/{number:03}.tar.gz", "rank": 16}
        for number in range(count)
    ]
    lines = [f"      - {json.dumps(one)}" for one in adapters]
    path.write_text("\n".join([head + mark.rstrip("\n"), *lines, *after, ""]), encoding="utf-8")
    return path


def measure(comparison: Comparison, rounds: int) -> Result:
    """Return the medians of a comparison's interleaved rounds, after one round that does not count."""
    pairs: list[tuple[float, float]] = []
    for number in range(rounds + 1):
        # The order alternates, so that neither command always follows the other.
        order = [comparison.measured, comparison.base]
        taken = {one.name: one.seconds() for one in (order if number % 2 else reversed(order))}
        if number > 0:
            pairs.append((taken[comparison.measured.name], taken[comparison.base.name]))
    return Result(
        comparison=comparison,
        measured_seconds=statistics.median(one for one, _ in pairs),
        base_seconds=statistics.median(two for _, two in pairs),
        ratio=statistics.median(one / two for one, two in pairs),
    )


def types(folder: Path) -> Counter[str]:
    """Return how many resources of each type the synthesized stack has."""
    template = json.loads((folder / f"{STACK}.template.json").read_text(encoding="utf-8"))
    return Counter(resource["Type"] for resource in template["Resources"].values())


def show(results: Sequence[Result]) -> None:
    """Print the table."""
    print(f"{'measured':<24}{'against':<38}{'median':>9}{'median':>9}{'ratio':>8}{'limit':>8}")
    for one in results:
        pair = one.comparison
        print(
            f"{pair.measured.name:<24}{pair.base.name:<38}{one.measured_seconds:>7.2f} s{one.base_seconds:>7.2f} s"
            f"{one.ratio:>8.2f}{pair.limit:>8.2f}{'  OVER' if one.over else ''}"
        )


def main() -> int:
    """Measure, print the table, and return the exit status."""
    parser = argparse.ArgumentParser(description="How long people wait, as ratios of two commands run in turns.")
    parser.add_argument("only", nargs="*", help="validate, plan, app, adapters (default: all)")
    parser.add_argument("--rounds", type=int, default=9, help="rounds of each comparison (default: 9)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="warmstack-speed-") as name:
        folder = Path(name)
        every = list(comparisons(folder))
        unknown = set(given.only) - {one.key for one in every}
        if unknown:
            parser.error(f"there is no comparison {', '.join(sorted(unknown))}")
        chosen = [one for one in every if not given.only or one.key in given.only]
        results = [measure(one, given.rounds) for one in chosen]
        if (folder / "app").exists() and types(folder / "app") != types(folder / "by-hand"):
            sys.exit("speed: minimal_app.py and the spec's stack no longer have the same resources")
    show(results)
    return int(any(one.over for one in results))


if __name__ == "__main__":
    sys.exit(main())
