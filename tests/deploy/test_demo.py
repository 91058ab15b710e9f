"""`make demo` with simulated copies: it deploys, measures, edits a line, and leaves nothing running."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.deploy.process import local_aws
from tests.ports import kept_port

ROOT = Path(__file__).parents[2]
WAIT_SECONDS = 60
pytestmark = pytest.mark.deploy


@pytest.fixture
def port() -> Iterator[int]:
    with kept_port() as number:
        yield number
        if serves(number):  # a test that failed has left it
            local_aws(dict(os.environ), "down", "--port", str(number))


def command(port: int, *more: str) -> list[str]:
    return [sys.executable, "scripts/demo_loop.py", "--engine", "simulated", "--port", str(port), *more]


def demo(port: int, *more: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(port, *more),
        cwd=ROOT,
        env=os.environ | variables,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def serves(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def running(port: int) -> list[str]:
    """Return the processes that have the port in their arguments."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = path.read_bytes().decode(errors="replace").split("\0")
            found += [" ".join(words)] if str(port) in words else []
    return found


def test_the_demo_shows_a_cache_that_gets_warm_whatever_the_shell_has(port: int, tmp_path: Path) -> None:
    (tmp_path / "config").write_text("garbage\n", encoding="utf-8")
    nowhere = "http://127.0.0.1:9"
    done = demo(
        port,
        "--keep",
        HTTP_PROXY=nowhere,
        AWS_PROFILE="nobody",
        AWS_CONFIG_FILE=str(tmp_path / "config"),
        AWS_ENDPOINT_URL_CLOUDFORMATION=nowhere,
        AWS_ENDPOINT_URL_S3=nowhere,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "demo-local: passed" in done.stdout, "verify"
    rates = [int(one) for one in re.findall(r"([0-9]+)%$", done.stdout, re.MULTILINE)]
    assert len(rates) == 4
    naive, routed, aware, conversation = rates
    # Of four requests about a document the first is cold: three quarters are the most that can be found.
    assert naive < 60
    # The strategy alone is no help to bodies that differ from their beginning on: where each goes is chance.
    assert routed < aware
    assert (aware, conversation) == (75, 75)
    kept = " ".join(done.stdout.split())
    end = f".venv/bin/warmstack local aws down --port {port}"
    assert kept.endswith(f"shows it, and {end} ends it.")
    again = demo(port)
    assert again.returncode == 1
    told = " ".join(again.stdout.split())
    assert f"runs a local AWS of an earlier demo (KEEP=1 leaves it running); end it: {end}; or take another" in told
    assert "port: make demo ENGINE=simulated PORT=" in told
    subprocess.run(end.split(), cwd=ROOT, check=True, capture_output=True)
    assert not serves(port)


def test_a_port_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = int(taken.getsockname()[1])
        done = demo(port)
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    text = " ".join(done.stdout.split())
    assert f"demo: port {port} cannot be used (Address already in use); end the program that uses it, or take" in text
    assert re.search(r"make demo ENGINE=simulated PORT=[0-9]+$", text)
    assert "What it started" not in text


def test_what_an_earlier_demo_left_is_known_and_told_how_to_end(port: int, tmp_path: Path) -> None:
    environment = os.environ | {"XDG_STATE_HOME": str(tmp_path)}
    try:
        up = local_aws(environment, "up", "--engine", "simulated", "--port", str(port), "--detach")
        assert up.returncode == 0, up.stderr
        done = demo(port, XDG_STATE_HOME=str(tmp_path))
        assert done.returncode == 1
        text = " ".join(done.stdout.split())
        assert f"demo: on port {port} runs a local AWS that the demo did not start; end it: " in text
        assert (
            f".venv/bin/warmstack local aws down --port {port}; or take another port: make demo ENGINE=simulated PORT="
            in text
        )
        assert serves(port), "what somebody else has started is not ended"
    finally:
        local_aws(environment, "down", "--port", str(port))


def starting(state: Path, port: int, _: Path) -> bool:
    # It is written when the process in the background is about to start, some seconds before that serves.
    return (state / "warmstack" / f"local-{port}.log").exists()


def served(_: Path, port: int, log: Path) -> bool:
    return f"--port {port}` ends it" in log.read_text(encoding="utf-8")


def deploying(_: Path, __: int, log: Path) -> bool:
    return "$ cdk bootstrap" in log.read_text(encoding="utf-8")


@pytest.mark.parametrize("moment", [starting, served, deploying])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["SIGTERM", "SIGHUP"])
def test_a_signal_ends_what_it_started(
    port: int, tmp_path: Path, moment: Callable[[Path, int, Path], bool], number: signal.Signals
) -> None:
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command(port), cwd=ROOT, env=os.environ | {"XDG_STATE_HOME": str(tmp_path)}, stdout=output, stderr=output
        )
        try:
            deadline = time.monotonic() + WAIT_SECONDS
            while not moment(tmp_path, port, log):
                assert process.poll() is None, log.read_text(encoding="utf-8")
                assert time.monotonic() < deadline
                time.sleep(0.02)
            process.send_signal(number)
            assert process.wait(WAIT_SECONDS) == 128 + number, log.read_text(encoding="utf-8")
        finally:
            process.kill()
            process.wait()
    assert f"demo: ended by {number.name}; what it started is stopped" in log.read_text(encoding="utf-8")
    assert running(port) == []
    assert not serves(port)
