"""The real process, started as the image starts it: its start, its end, and the engine's."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.container.session_server.harness import PATIENCE_SECONDS, STANDIN_FOLDER, wait_until
from tests.ports import kept_port

CONTAINER = Path(__file__).parents[3] / "container"
STREAM = json.dumps({"prompt": "x", "stream": True})
MAIN = ("-m", "session_server")
# The same with an hour after the engine's end in which /ping says so: time enough to look.
HOURS_NOTICE = """
import sys
from session_server import __main__, supervisor

supervisor.DEATH_NOTICE_SECONDS = 3600
sys.exit(__main__.main())
"""
DRAIN_SECONDS = 25.0
"""How long the server's end takes where nothing cuts it short."""


def alive(pid: int) -> bool:
    """Tell whether a process runs; one that waits to be reaped does not."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    return False


@dataclass(slots=True, kw_only=True)
class Container:
    """A running `python -m session_server` and what it has started."""

    process: subprocess.Popen[bytes]
    port: int
    engine_port: int
    log: Path

    def ping(self) -> int | None:
        """Return the status, or None if nothing answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            connection.request("GET", "/ping")
            return connection.getresponse().status
        except OSError:
            return None
        finally:
            connection.close()

    def stream(self) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        connection.request("POST", "/invocations", STREAM)
        response = connection.getresponse()
        response.read1()
        return connection, response

    def control_engine(self, **values: object) -> None:
        """Tell the stand-in how to behave, as soon as it listens."""
        wait_until(lambda: any(line.startswith("stand-in engine: ") for line in self.lines), "the engine listens")
        connection = http.client.HTTPConnection("127.0.0.1", self.engine_port, timeout=PATIENCE_SECONDS)
        connection.request("POST", "/standin/control", json.dumps(values))
        assert connection.getresponse().read() == b"{}"
        connection.close()

    @property
    def lines(self) -> list[str]:
        return self.log.read_text(encoding="utf-8").splitlines()

    @property
    def engine_pid(self) -> int:
        line = next(line for line in self.lines if "started the engine" in line)
        return int(line.split("process ", 1)[1].split(":")[0])

    def wait(self, timeout: float = PATIENCE_SECONDS) -> int:
        return self.process.wait(timeout)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Container]]:
    started: list[Container] = []
    ports = ExitStack()

    def start_container(*, wait_for_ready: bool = True, main: Sequence[str] = MAIN, **environment: str) -> Container:
        port, engine_port = (ports.enter_context(kept_port()) for _ in range(2))
        log = tmp_path / f"log-{len(started)}"
        variables = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": f"{CONTAINER}{os.pathsep}{STANDIN_FOLDER}",
            "WARMSTACK_HOST": "127.0.0.1",
            "WARMSTACK_PORT": str(port),
            "WARMSTACK_ENGINE_PORT": str(engine_port),
            "WARMSTACK_ENGINE_PYTHON": sys.executable,
            "WARMSTACK_PROBE_SECONDS": "0.1",
            **{name: value for name, value in os.environ.items() if name.startswith("COV")},
            **environment,
        }
        with log.open("wb") as output:
            process = subprocess.Popen([sys.executable, *main], env=variables, stdout=output, stderr=subprocess.STDOUT)
        container = Container(process=process, port=port, engine_port=engine_port, log=log)
        started.append(container)
        if wait_for_ready:
            wait_until(lambda: container.ping() == 200 or process.poll() is not None, "/ping is 200")
            assert process.poll() is None, log.read_text(encoding="utf-8")
        return container

    with ports:
        yield start_container
        for container in started:
            if container.process.poll() is None:
                container.process.kill()
                container.process.wait(PATIENCE_SECONDS)


def test_ping_answers_while_the_engine_loads(start: Callable[..., Container]) -> None:
    container = start(wait_for_ready=False, STANDIN_READY_SECONDS="1e9")
    wait_until(lambda: container.ping() is not None, "the port answers")
    assert container.ping() == 503
    container.control_engine(ready_seconds=0)
    wait_until(lambda: container.ping() == 200, "/ping is 200")


def test_the_engines_output_is_ours_and_secrets_are_not(start: Callable[..., Container]) -> None:
    container = start(HF_TOKEN="hf_very_secret", SM_SGLANG_CONTEXT_LENGTH="4096")
    assert any(line.startswith("stand-in engine: http://") for line in container.lines)
    command = Path(f"/proc/{container.engine_pid}/cmdline").read_bytes().split(b"\0")
    assert b"--context-length" in command
    assert b"127.0.0.1" in command
    assert b"hf_very_secret" in Path(f"/proc/{container.engine_pid}/environ").read_bytes()
    assert b"hf_very_secret" not in b"".join(command)
    assert "hf_very_secret" not in container.log.read_text(encoding="utf-8")


def test_sigterm_lets_a_stream_finish(start: Callable[..., Container]) -> None:
    container = start(STANDIN_HOLD_AFTER="1")
    engine = container.engine_pid
    connection, response = container.stream()
    container.process.send_signal(signal.SIGTERM)
    wait_until(lambda: container.ping() is None, "new connections are refused")
    container.control_engine(hold_after=-1)
    assert response.read().endswith(b"data: [DONE]\n\n")
    connection.close()
    assert container.wait() == 0
    assert not alive(engine)
    assert container.lines[-1] == "session-server: INFO: stopped"


def test_sigterm_does_not_wait_for_half_sent_bodies_and_heads(start: Callable[..., Container]) -> None:
    container = start()
    half = (b"POST /invocations HTTP/1.1\r\ncontent-length: 100\r\n\r\n{", b"POST /invocations HTTP/1.1\r\nx: ")
    connections = [socket.create_connection(("127.0.0.1", container.port)) for _ in half]
    for connection, part in zip(connections, half, strict=True):
        connection.sendall(part)
    assert container.ping() == 200
    started = time.monotonic()
    container.process.send_signal(signal.SIGTERM)
    assert container.wait() == 0
    assert time.monotonic() - started < DRAIN_SECONDS
    for connection in connections:
        connection.close()


@pytest.mark.parametrize("drain", ["1", "25"])
def test_the_end_comes_within_30_seconds_and_a_second_sigterm_hastens(
    start: Callable[..., Container], drain: str
) -> None:
    container = start(STANDIN_HOLD_AFTER="1", STANDIN_IGNORE_SIGTERM="1", WARMSTACK_DRAIN_SECONDS=drain)
    engine = container.engine_pid
    connection, _ = container.stream()
    started = time.monotonic()
    container.process.send_signal(signal.SIGTERM)
    if drain == "25":
        wait_until(lambda: container.ping() is None, "the drain has begun")
        container.process.send_signal(signal.SIGTERM)
    assert container.wait() == 0
    assert time.monotonic() - started < DRAIN_SECONDS
    assert not alive(engine)
    connection.close()


def test_sigterm_while_the_engine_loads(start: Callable[..., Container]) -> None:
    container = start(wait_for_ready=False, STANDIN_READY_SECONDS="600")
    wait_until(lambda: container.ping() == 503, "the port answers")
    container.process.send_signal(signal.SIGTERM)
    assert container.wait() == 0


def test_the_engine_takes_what_it_started_with_it(start: Callable[..., Container], tmp_path: Path) -> None:
    container = start(STANDIN_FORK=str(tmp_path / "child"), STANDIN_IGNORE_SIGTERM="1")
    child = int((tmp_path / "child").read_text(encoding="utf-8"))
    assert alive(child)
    container.process.send_signal(signal.SIGTERM)
    assert container.wait() == 0
    wait_until(lambda: not alive(child), "the engine's child ends")


def test_an_engine_that_dies_fails_ping_and_ends_the_process(start: Callable[..., Container]) -> None:
    container = start(main=("-c", HOURS_NOTICE), STANDIN_HOLD_AFTER="1")
    connection, response = container.stream()
    os.kill(container.engine_pid, signal.SIGKILL)
    wait_until(lambda: container.ping() == 503, "/ping fails")
    assert b'"code":"engine_connection_broken"' in response.read()
    connection.close()
    container.process.send_signal(signal.SIGTERM)
    assert container.wait() == 137
    assert container.lines[-1] == "session-server: ERROR: the engine exited with signal SIGKILL"


def test_the_process_of_an_engine_that_dies_ends_by_itself(start: Callable[..., Container]) -> None:
    container = start()
    os.kill(container.engine_pid, signal.SIGKILL)
    assert container.wait() == 137
    assert container.lines[-1] == "session-server: ERROR: the engine exited with signal SIGKILL"


def test_an_engine_that_does_not_start(start: Callable[..., Container]) -> None:
    container = start(wait_for_ready=False, STANDIN_DIE_SECONDS="0.1")
    assert container.wait() == 17
    assert container.lines[-1] == "session-server: ERROR: the engine exited with status 17"


def test_kill_9_takes_the_engine_with_it(start: Callable[..., Container]) -> None:
    container = start()
    engine = container.engine_pid
    container.process.kill()
    container.wait()
    wait_until(lambda: not alive(engine), "the engine ends")


@pytest.mark.parametrize(("parent", "command", "status"), [("1", "true", 1), ("", "/no/such/program", 127)])
def test_the_tether_starts_nothing_for_another_parent_and_names_what_it_cannot_start(
    parent: str, command: str, status: int
) -> None:
    tether = CONTAINER / "session_server" / "tether.py"
    arguments = [sys.executable, "-IS", str(tether), parent or str(os.getpid()), command]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS)
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert (command in done.stderr) is (status == 127)


def test_bad_values_stop_the_start_with_all_their_messages(start: Callable[..., Container]) -> None:
    container = start(
        wait_for_ready=False,
        WARMSTACK_DRAIN_SECONDS="99",
        SM_SGLANG_API_KEY="hunter2",
        SAGEMAKER_SESSIONS_EXPIRATION="x",
    )
    assert container.wait() == 2
    text = container.log.read_text(encoding="utf-8")
    for name in ("WARMSTACK_DRAIN_SECONDS is '99'", "SM_SGLANG_API_KEY is set", "SAGEMAKER_SESSIONS_EXPIRATION is 'x'"):
        assert name in text
    assert "hunter2" not in text
    assert "Traceback" not in text


def test_a_taken_port_and_broken_formatters_are_told(start: Callable[..., Container], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        container = start(wait_for_ready=False, WARMSTACK_PORT=str(taken.getsockname()[1]))
        assert container.wait() == 2
    assert "WARMSTACK_PORT is" in container.lines[-1]
    formatters = tmp_path / "formatters.py"
    formatters.write_text("1 / 0\n", encoding="utf-8")
    runtime = CONTAINER / "formatters"
    path = f"{runtime}{os.pathsep}{CONTAINER}{os.pathsep}{STANDIN_FOLDER}"
    container = start(wait_for_ready=False, WARMSTACK_FORMATTERS=str(formatters), PYTHONPATH=path)
    assert container.wait() == 2
    assert "WARMSTACK_FORMATTERS is" in container.lines[-1]
    assert "division by zero" in container.lines[-1]
