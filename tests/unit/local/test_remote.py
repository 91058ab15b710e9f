"""Whoever answers on the port, and whatever the state folder holds: a message, and no signal to a stranger."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from warmstack.local.errors import LocalError
from warmstack.local.instances import birth_of, note, running_on
from warmstack.local.remote import ask, stop

ANSWERS = [
    b"SSH-2.0-OpenSSH_9.9\r\n",
    b"",
    b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
    *(
        b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
        for body in (b"{}", b"[]", b'{"pid": null}', b"[" * 100_000, b"\xff", b'{"done": 1, "pid": null, "source": 1}')
    ),
]


@contextmanager
def stranger(answer: bytes) -> Iterator[int]:
    """Somebody else's server; its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                client, _ = listener.accept()
                with client:
                    if not client.recv(65536):
                        return
                    client.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        port = int(listener.getsockname()[1])
        try:
            yield port
        finally:
            socket.create_connection(("127.0.0.1", port)).close()
            thread.join(10)


@pytest.mark.parametrize("answer", ANSWERS[:-1])
@pytest.mark.parametrize("order", [None, {}])
def test_a_stranger_on_the_port_is_no_local_endpoint(answer: bytes, order: dict[str, str] | None) -> None:
    with stranger(answer) as port, pytest.raises(LocalError, match="no local endpoint"):
        ask(f"http://127.0.0.1:{port}", "status", order)


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_stranger_is_not_stopped(answer: bytes, tmp_path: Path) -> None:
    with stranger(answer) as port:
        assert stop(f"http://127.0.0.1:{port}", port, tmp_path) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "[" * 100_000,
        '{"port": 1}',
        '{"port": 1, "host": "127.0.0.1", "pid": 99999999, "birth": null}',
        '{"port": 1, "host": "127.0.0.1", "pid": -1, "birth": null}',
        '{"port": 1, "host": "127.0.0.1", "pid": "self", "birth": null}',
        '{"port": 1, "host": 5, "pid": 1, "birth": "1"}',
        '{"port": 1, "host": "127.0.0.1", "pid": 1, "birth": "1"}',
    ],
)
def test_a_state_file_that_names_no_process_of_ours_is_as_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "local-1.json").write_text(text, encoding="utf-8")
    assert running_on(tmp_path, 1) is None
    assert stop("http://127.0.0.1:1", 1, tmp_path) is None


def ended(process: subprocess.Popen[bytes]) -> None:
    process.wait(10)


def test_one_that_was_suspended_is_ended_all_the_same(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        state = {"port": 1, "host": "127.0.0.1", "pid": process.pid, "birth": birth_of(process.pid)}
        (tmp_path / "local-1.json").write_text(json.dumps(state), encoding="utf-8")
        process.send_signal(signal.SIGSTOP)
        try:
            assert stop("http://127.0.0.1:1", 1, tmp_path, sleep=lambda _: ended(process)) is not None
        finally:
            process.kill()


def test_two_on_one_port_are_refused_whatever_their_addresses(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        try:
            state = {"port": 1, "host": "::1", "pid": process.pid, "birth": birth_of(process.pid)}
            (tmp_path / "local-1.json").write_text(json.dumps(state), encoding="utf-8")
            with pytest.raises(LocalError, match=f"serves port 1 already \\(process {process.pid}\\)"):
                note(tmp_path, "127.0.0.1", 1)
            assert json.loads((tmp_path / "local-1.json").read_text(encoding="utf-8")) == state
        finally:
            process.kill()
    assert note(tmp_path, "127.0.0.1", 1).is_file()
