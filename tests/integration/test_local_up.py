"""`warmstack local` as people use it: in a terminal, in the background, twice on a port, killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.ports import kept_port
from tests.signals import WITH_DEFAULT_SIGNALS
from tests.unit.local.clients import chat, close_all, runtime, whole
from tests.unit.local.clients import session as credentials
from warmstack import EndpointClient

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "tests" / "golden" / "stacks" / "rag-prefix-aware" / "template.json"
WAIT_SECONDS = 60
SIMULATED = ("--engine", "simulated", "--copies", "2")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return os.environ | {"XDG_STATE_HOME": str(tmp_path / "state"), "TMPDIR": str(tmp_path)}


@pytest.fixture
def port() -> Iterator[int]:
    with kept_port() as number:
        yield number


def warmstack(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "warmstack", "local", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=WAIT_SECONDS, check=False)


@contextmanager
def serving(
    environment: dict[str, str], port: int, *options: str, program: tuple[str, ...] = ("-m", "warmstack")
) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    """A local endpoint in a process of its own, and what it said when it was ready."""
    command = [sys.executable, *program, "local", "up", str(TEMPLATE), "--port", str(port), "--json"]
    process = subprocess.Popen(
        [*command, *SIMULATED, *options],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout
        line = process.stdout.readline()
        assert line, process.communicate(timeout=WAIT_SECONDS)[1]
        yield process, json.loads(line)
    finally:
        close_all()
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=WAIT_SECONDS)


def invoke(url: str) -> int:
    answer = whole(runtime(url).invoke_endpoint(EndpointName="rag-prod", ContentType="application/json", Body=chat()))
    return int(answer["ResponseMetadata"]["HTTPStatusCode"])


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def until(condition: Callable[[], Any]) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_serves_until_a_signal_and_leaves_nothing(
    environment: dict[str, str], port: int, tmp_path: Path, number: signal.Signals
) -> None:
    with serving(environment, port) as (process, ready):
        assert ready["url"] == f"http://127.0.0.1:{port}"
        assert ready["endpoints"][0]["openai_base_url"].endswith("/endpoints/rag-prod/openai/v1")
        assert invoke(ready["url"]) == 200
        close_all()
        process.send_signal(number)
        assert process.wait(WAIT_SECONDS) == 0
    assert not listens(port)
    left = [path for path in tmp_path.rglob("*") if path.name.startswith(("warmstack-local-", "local-"))]
    assert left == []


def test_status_faults_and_down(environment: dict[str, str], port: int) -> None:
    with serving(environment, port) as (process, ready):
        invoke(ready["url"])
        close_all()
        status = json.loads(warmstack(environment, "status", "--port", str(port), "--json").stdout)
        assert status["requests"] == 1
        assert status["notices"] == [
            "rag-prod: variant primary: 2 of 7 copies start; --copies and --instances change that"
        ]
        shown = warmstack(environment, "status", "--port", str(port))
        assert "i-1" in shown.stdout
        assert "prefix" in shown.stdout
        copy = status["endpoints"][0]["variants"][0]["instances"][0]["copies"][0]["name"]
        done = warmstack(environment, "fault", "slow", copy, "--seconds", "0.1", "--port", str(port))
        assert done.stdout == f"{copy} slow by 0.1 s\n"
        bad = warmstack(environment, "fault", "slow", "nowhere", "--port", str(port))
        assert bad.returncode == 1
        assert bad.stderr.startswith("warmstack: there is no copy 'nowhere'; there is i-1/primary-")
        down = warmstack(environment, "down", "--port", str(port))
        assert (down.returncode, down.stdout) == (
            0,
            f"stopped the local endpoint on port {port} (process {process.pid})\n",
        )
        assert process.wait(WAIT_SECONDS) == 0
    again = warmstack(environment, "down", "--port", str(port))
    assert (again.returncode, again.stdout) == (0, f"no local endpoint runs on port {port}\n")
    absent = warmstack(environment, "status", "--port", str(port))
    assert absent.returncode == 1
    assert absent.stderr.startswith(f"warmstack: no local endpoint answers at http://127.0.0.1:{port}: ")


def test_a_port_is_served_once(environment: dict[str, str], port: int) -> None:
    with serving(environment, port):
        for more in ((), ("--detach",)):
            second = warmstack(environment, "up", str(TEMPLATE), "--port", str(port), *SIMULATED, *more)
            assert second.returncode == 1
            assert f"port {port}" in second.stderr
            assert "--port takes another one" in second.stderr


def test_down_leaves_alone_what_it_did_not_start(environment: dict[str, str], port: int) -> None:
    with socket.create_server(("127.0.0.1", port)) as stranger:
        stranger.settimeout(0.1)
        found = warmstack(environment, "down", "--port", str(port))
        assert found.stdout == f"no local endpoint runs on port {port}\n"
        assert listens(port)


def test_one_that_was_killed_is_no_obstacle(environment: dict[str, str], port: int) -> None:
    with serving(environment, port) as (process, _):
        process.send_signal(signal.SIGKILL)
        process.wait(WAIT_SECONDS)
        assert warmstack(environment, "down", "--port", str(port)).stdout == f"no local endpoint runs on port {port}\n"
    with serving(environment, port) as (_, ready):
        assert invoke(ready["url"]) == 200


def test_the_outputs_are_written_for_the_client(environment: dict[str, str], port: int, tmp_path: Path) -> None:
    path = tmp_path / "cdk-outputs.json"
    with serving(environment, port, "--outputs-file", str(path)) as (_, ready):
        assert list(json.loads(path.read_text(encoding="utf-8"))) == ["template"]
        client = EndpointClient.from_outputs(path, boto3_session=credentials(), endpoint_url=ready["url"])
        with client:
            assert (client.target.endpoint, client.target.dialect) == ("rag-prod", "vllm")
            assert client.chat("hello", max_tokens=2).text


def test_a_file_that_cannot_be_written_ends_the_start(environment: dict[str, str], port: int) -> None:
    options = ("--port", str(port), *SIMULATED, "--outputs-file", "/nowhere/outputs.json")
    done = warmstack(environment, "up", str(TEMPLATE), *options)
    assert done.returncode == 1
    assert "--outputs-file /nowhere/outputs.json cannot be written: No such file or directory" in done.stderr
    assert not listens(port)


def test_in_the_background(environment: dict[str, str], port: int) -> None:
    arguments = ("up", str(TEMPLATE), "--port", str(port), *SIMULATED, "--detach", "--json")
    started = warmstack(environment, *arguments)
    assert started.returncode == 0, started.stderr
    ready = json.loads(started.stdout)
    try:
        assert invoke(ready["url"]) == 200
        close_all()
        assert warmstack(environment, *arguments).returncode == 1
    finally:
        stopped = warmstack(environment, "down", "--port", str(port))
    assert f"process {ready['pid']}" in stopped.stdout
    until(lambda: not listens(port))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("absent.json",), "absent.json"),
        ((str(TEMPLATE), "--engine", "magic"), "--engine is 'magic'; it must be one of vllm, simulated"),
        ((str(TEMPLATE), "--cut", "never"), "--cut is 'never'; it must be one of as-written, every-byte, random"),
        ((str(TEMPLATE), "--limit", "speed=1"), "limit 'speed' does not exist; the limits are request_bytes"),
        ((str(TEMPLATE), "--limit", "request_bytes=-1"), "limit request_bytes is '-1'; it must be a whole number"),
        ((str(TEMPLATE), "--choice", "spil=x"), "there is no routing choice 'spil'; did you mean 'spill'?"),
        ((str(TEMPLATE), "--latency", "fast"), "--latency is 'fast'; it must be PREFILL:DECODE in milliseconds"),
        ((str(TEMPLATE), "--adapter", "legal"), "--adapter is 'legal'; it must be NAME=VALUE"),
        ((str(TEMPLATE), "--model", "/nowhere"), "--model is /nowhere; it must be a folder with a model's config.json"),
        ((str(TEMPLATE), "--kv-cache", "big"), "--kv-cache: 'big' is not a size"),
        ((str(TEMPLATE), "--host", "192.0.2.1"), "192.0.2.1:"),
    ],
)
def test_what_is_wrong_is_said_without_a_traceback(
    environment: dict[str, str], port: int, arguments: tuple[str, ...], text: str
) -> None:
    engine = () if "--engine" in arguments else ("--engine", "simulated")
    found = warmstack(environment, "up", *arguments, *engine, "--port", str(port))
    assert found.returncode == 1
    assert text in found.stderr
    assert "Traceback" not in found.stderr


def test_a_dry_run_starts_nothing(environment: dict[str, str], port: int) -> None:
    found = warmstack(environment, "up", str(TEMPLATE), "--port", str(port), *SIMULATED, "--dry-run")
    assert found.returncode == 0
    assert "variant primary: 2 of 7 ml.p5.48xlarge, PREFIX_AWARE (prefix " in found.stdout
    assert not listens(port)


def test_a_dry_run_says_what_it_lacks(environment: dict[str, str]) -> None:
    bare = environment | {"WARMSTACK_ENGINE": "/nowhere"}
    found = warmstack(bare, "up", str(TEMPLATE), "--dry-run")
    assert found.returncode == 0
    # Where the engine's wheels do not fit, it goes on with simulated copies, and says so.
    assert "vLLM is not installed" in found.stdout or "going on with simulated copies" in found.stderr


def test_options_are_listed_for_people_and_scripts(environment: dict[str, str]) -> None:
    assert "spill = least_outstanding | next_in_hash_order" in warmstack(environment, "options").stdout
    listed = json.loads(warmstack(environment, "options", "--json").stdout)
    assert {"limits", "choices", "faults"} <= set(listed)


def test_detached_by_a_cluster_of_short_options(environment: dict[str, str], port: int) -> None:
    up = warmstack(environment, "up", str(TEMPLATE), *SIMULATED, f"-dp{port}", "--json")
    try:
        assert up.returncode == 0, up.stderr
        assert invoke(json.loads(up.stdout)["url"]) == 200
        close_all()
    finally:
        down = warmstack(environment, "down", "-p", str(port))
    assert down.stdout.startswith("stopped the local endpoint")
    assert not listens(port)


# With a grace period that no test waits for: what ends, ends without it.
PATIENT = """
from warmstack.cli import main
from warmstack.local import serving

serving.GRACE_SECONDS = serving.LAST_WORDS_SECONDS = 3600
main()
"""


def in_flight(url: str) -> int:
    with urllib.request.urlopen(f"{url}/_warmstack/status", timeout=WAIT_SECONDS) as answer:
        variants = json.load(answer)["endpoints"][0]["variants"]
    return sum(instance["in_flight"] for variant in variants for instance in variant["instances"])


def test_a_second_interrupt_does_not_wait_for_requests(environment: dict[str, str], port: int) -> None:
    options = ("--latency", "0:1000000", "--limit", "response_seconds=3600")
    with (
        serving(environment, port, *options, program=("-c", PATIENT)) as (process, ready),
        socket.create_connection(("127.0.0.1", port), timeout=WAIT_SECONDS) as client,
    ):
        body = chat(max_tokens=100)
        client.sendall(
            b"POST /endpoints/rag-prod/invocations HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Authorization: AWS4-HMAC-SHA256 x\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        )
        until(lambda: in_flight(ready["url"]) == 1)
        process.send_signal(signal.SIGINT)
        # Two that come to a process before it runs again are one.
        until(lambda: not listens(port))
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_SECONDS) == 0
        assert b"ModelError" in client.recv(65536)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_what_is_begun_in_the_background_ends_with_the_one_that_waits_for_it(
    environment: dict[str, str], port: int, number: signal.Signals
) -> None:
    command = [sys.executable, "-m", "warmstack", "local", "up", str(TEMPLATE), *SIMULATED, "--port", str(port), "-d"]
    found: list[str] = []
    with subprocess.Popen(
        [*WITH_DEFAULT_SIGNALS, *command],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as waiting:
        try:
            children = Path(f"/proc/{waiting.pid}/task/{waiting.pid}/children")
            until(lambda: found.extend(children.read_text(encoding="utf-8").split()) or found)
            waiting.send_signal(number)
            assert waiting.wait(WAIT_SECONDS) == 130
            assert not Path(f"/proc/{found[0]}").exists()
        finally:
            waiting.kill()
            for one in found:
                with suppress(ProcessLookupError):
                    os.kill(int(one), signal.SIGKILL)


def test_standard_streams_that_are_closed_are_no_sockets(environment: dict[str, str], port: int) -> None:
    command = f"exec {sys.executable} -m warmstack local up {TEMPLATE} --engine simulated --port {port} >&- <&- 2>&-"
    with subprocess.Popen(["sh", "-c", command], env=environment) as process:
        try:
            until(lambda: listens(port))
            assert invoke(f"http://127.0.0.1:{port}") == 200
            close_all()
            assert [str(Path(f"/proc/{process.pid}/fd/{one}").readlink()) for one in range(3)] == [os.devnull] * 3
            process.send_signal(signal.SIGTERM)
            assert process.wait(WAIT_SECONDS) == 0
        finally:
            process.kill()


def test_the_region_is_the_one_of_clients_where_the_template_names_none(environment: dict[str, str], port: int) -> None:
    with_region = environment | {"AWS_REGION": "eu-central-1"}
    for arguments, region in (((), "eu-central-1"), (("--region", "us-west-2"), "us-west-2")):
        found = warmstack(with_region, "up", str(TEMPLATE), *SIMULATED, *arguments, "--dry-run", "--json")
        assert json.loads(found.stdout)["endpoints"][0]["region"] == region
