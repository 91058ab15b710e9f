"""How long a question to an address of this machine may take: it answers at once, or not at all."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.unit.cli.runner import Runner, write
from tests.unit.operate.preflighting import SPEC
from warmstack.operate import make_client


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield server


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from warmstack.cli import main; main()", *words],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def asked(silent: socket.socket) -> list[str]:
    """Return the first line of what each connection asked."""
    silent.setblocking(False)
    found = []
    with suppress(BlockingIOError):
        while True:
            connection, _ = silent.accept()
            with connection:
                found.append(connection.recv(4096).decode().splitlines()[0])
    return found


def test_verify_asks_once_and_waits_no_longer_than_its_time_allows(
    silent: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = []

    def made(*arguments: Any, **options: Any) -> Any:
        client = make_client(*arguments, **options)
        waits.append(client.meta.config.read_timeout)
        return client

    monkeypatch.setattr("warmstack.cli.verify.make_client", made)
    verify = Runner()
    out = verify("verify", "demo", "--local", "--port", str(silent.getsockname()[1]), "--timeout", "2s")
    assert verify.code == 1
    assert "ReadTimeoutError" in out, out + verify.err
    assert set(waits) == {2}
    # Whatever else is asked of this server is about what runs there.
    assert [one for one in asked(silent) if "/_warmstack/" not in one] == ["POST / HTTP/1.1"]


def test_preflight_asks_only_once_whether_anything_is_there(silent: socket.socket, tmp_path: Path) -> None:
    spec, port = write(tmp_path / "tenants.yaml", SPEC), silent.getsockname()[1]
    done = run("preflight", str(spec), "--local", "--port", str(port))
    assert done.returncode == 1
    assert f"nothing of Warmstack answers on port {port}" in done.stderr
    assert len(asked(silent)) == 1


@pytest.mark.parametrize(
    ("url", "most", "waits"),
    [
        ("http://localhost:8787", 1200.0, (2, 15, 1)),
        ("http://localhost:8787", 4.0, (2, 4, 1)),
        ("http://127.0.0.1:8787", 0.0, (2, 1, 1)),
        ("https://aws.example.org", 4.0, (5, 30, 6)),
    ],
)
def test_an_address_of_this_machine_is_asked_once_and_shortly(
    url: str, most: float, waits: tuple[float, float, int]
) -> None:
    session = boto3.Session(aws_access_key_id="local", aws_secret_access_key="local")
    client = make_client(session, "sts", region="us-west-2", endpoint_url=url, longest_seconds=most)
    config = client.meta.config
    assert (config.connect_timeout, config.read_timeout, config.retries["total_max_attempts"]) == waits
    client.close()
