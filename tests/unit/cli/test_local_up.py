"""What `warmstack local up` is told that makes no sense."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ports import kept_port
from tests.unit.cli.runner import process
from warmstack.cli.local_process import Reporter
from warmstack.local.errors import LocalError
from warmstack.local.serving import listen

TEMPLATE = Path(__file__).parents[2] / "golden" / "stacks" / "rag-prefix-aware" / "template.json"


def test_every_option_that_makes_no_sense_is_named_at_once(tmp_path: Path) -> None:
    done = process(
        "local", "up", str(TEMPLATE), "--engine", "simulated", "--dry-run", "--host", "", "--account", "me",
        "--region", "", "--limit", "stream_seconds=1", "--limit", "stream_seconds=2", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "warmstack: limit stream_seconds is given twice",
        "--host is ''; it must be an address of this machine, such as 127.0.0.1",
        "--account is 'me'; an account's number has 12 digits",
        "--region is ''; it must be the name of a Region, such as us-west-2",
    ]


def test_an_adapter_that_the_template_does_not_have(tmp_path: Path) -> None:
    options = "--engine", "simulated", "--dry-run", "--adapter", f"legal={tmp_path}"
    done = process("local", "up", str(TEMPLATE), *options, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == f"warmstack: --adapter legal: {TEMPLATE} has no such adapter; it has none\n"


@pytest.mark.parametrize("host", ["ä..b", "not a host", "a" * 300])
def test_a_host_that_is_no_address(host: str) -> None:
    with pytest.raises(LocalError):
        listen(host, 1)


@pytest.mark.parametrize("options", [(), ("--detach",)])
def test_a_state_folder_that_cannot_be(tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "file").touch()
    with kept_port() as port:
        done = process(
            "local", "up", str(TEMPLATE), "--engine", "simulated", "--port", str(port), *options,
            cwd=tmp_path, env={"XDG_STATE_HOME": str(tmp_path / "file")},
        )  # fmt: skip
    assert done.returncode == 1
    assert "XDG_STATE_HOME names another folder" in done.stderr


def test_a_report_that_nobody_reads_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    gone = os.fdopen(writing, "w")
    monkeypatch.setattr(sys, "stderr", gone)
    report = Reporter(timer=lambda: 0.0)
    report("one")
    report("two")
    with pytest.raises(BrokenPipeError):
        gone.close()


def test_a_server_may_have_as_many_connections_as_the_system_lets_it() -> None:
    code = (
        "import resource as r; most = r.getrlimit(r.RLIMIT_NOFILE)[1]; r.setrlimit(r.RLIMIT_NOFILE, (64, most));"
        "from warmstack.local.serving import allow_many_connections as allow; allow();"
        "print(r.getrlimit(r.RLIMIT_NOFILE) == (most, most))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "True\n"
