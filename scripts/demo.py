"""Show the first half of the path, with no AWS account: specs → plan → templates → what would be deployed.

`demo_loop.py` deploys. Runs with the `runtime` set of packages: ``python scripts/demo.py specs/one.yaml`` plans that
spec in full and synthesizes all of them.
"""

import argparse
import json
import shlex
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from cloud_assembly import ROOT, read_template, stack_templates

BIN = Path(".venv") / "bin"
ASSEMBLY = Path("cdk.out")
DEFAULT = Path("specs/rag-prefix-aware.yaml")  # what the Makefile names


def main() -> int:
    """Run the steps one after the other; return the exit status of the first that fails, or 0."""
    parser = argparse.ArgumentParser(prog="demo", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("spec", type=Path, help="the spec whose plan is shown")
    spec: Path = parser.parse_args().spec
    specs = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "specs").glob("*.yaml"))
    if not specs:
        print("demo: there is no spec in specs/; `.venv/bin/warmstack init NAME` writes a first one", file=sys.stderr)
        return 1
    if not spec.exists() and spec != DEFAULT:
        print(f"demo: there is no file {spec}", file=sys.stderr)
        return 1
    if not spec.exists():  # the example that is shown by default is gone: show what is there
        spec = Path(specs[0])
    steps: tuple[tuple[str, list[str]], ...] = (
        ("Every spec is valid", [str(BIN / "warmstack"), "validate", *specs]),
        ("One spec becomes a plan", [str(BIN / "warmstack"), "plan", str(spec)]),
        ("The plans become CloudFormation templates", [str(BIN / "cdk"), "synth", "--quiet", "**"]),
        ("The stacks that `cdk deploy` can take", [str(BIN / "cdk"), "ls", "--app", str(ASSEMBLY)]),
    )
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    started = time.monotonic()
    for title, command in steps:
        console.rule(f"[bold]{title}", align="left")
        console.print(f"$ {shlex.join(command)}", style="dim", highlight=False, soft_wrap=True)
        status = subprocess.run(command, cwd=ROOT, check=False).returncode
        if status != 0:
            console.print(f"demo: the step failed with exit status {status}", style="red")
            return status
        console.print()
    console.rule("[bold]What would be deployed", align="left")
    console.print(summary_table(ROOT / ASSEMBLY))
    console.print(f"{time.monotonic() - started:.1f} s so far.\n")
    return 0


def summary_table(assembly: Path) -> Table:
    """Return a table with one row a stack: endpoint, instances, and its resources counted by type."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("stack", "endpoint", "instances"):
        table.add_column(heading, no_wrap=True)
    table.add_column("resources", overflow="fold")
    for name, path in stack_templates(assembly).items():
        resources = read_template(path).get("Resources", {}).values()
        endpoints = [endpoint_name(item) for item in resources if item["Type"] == "AWS::SageMaker::Endpoint"]
        variants = [
            variant_size(variant)
            for item in resources
            if item["Type"] == "AWS::SageMaker::EndpointConfig"
            for variant in item["Properties"].get("ProductionVariants", [])
        ]
        counts = Counter(item["Type"].rsplit("::", 1)[-1] for item in resources)
        listed = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
        table.add_row(name, "\n".join(endpoints) or "-", "\n".join(variants) or "-", listed or "-")
    return table


def endpoint_name(endpoint: dict[str, Any]) -> str:
    """Return the physical name of an endpoint, or what stands for it."""
    return as_text(endpoint.get("Properties", {}).get("EndpointName", "(named by CloudFormation)"))


def variant_size(variant: dict[str, Any]) -> str:
    """Return number and type of a production variant's instances, as in ``2 to 4 × ml.g6.xlarge``."""
    pools = [as_text(pool.get("InstanceType", "?")) for pool in variant.get("InstancePools", [])]
    kinds = " or ".join(pools) or as_text(variant.get("InstanceType", "?"))
    scaling = variant.get("ManagedInstanceScaling", {})
    initial = variant.get("InitialInstanceCount", 1)
    low, high = scaling.get("MinInstanceCount", initial), scaling.get("MaxInstanceCount", initial)
    count = as_text(low) if low == high else f"{as_text(low)} to {as_text(high)}"
    return f"{count} × {kinds}"


def as_text(value: object) -> str:
    """Return a template value as text: an intrinsic function as its JSON."""
    return value if isinstance(value, str) else json.dumps(value)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
