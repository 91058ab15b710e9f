"""Running containers: started as SageMaker starts them, watched from outside, ended by their process id."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.image.buildah import Buildah, Mount
from tests.ports import kept_port

PATIENCE_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A whole HTTP answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(slots=True, kw_only=True)
class Container:
    """A container that runs."""

    process: subprocess.Popen[bytes]
    log: Path
    port: int
    engine_port: int

    @property
    def main(self) -> int:
        """The process id of what the image starts: the one below buildah's last helper."""
        helper = next(
            (one for one in descendants(self.process.pid) if command_of(one)[:1] == ["buildah-chroot-exec"]), 0
        )
        found = children(helper) if helper else []
        assert len(found) == 1, f"{found}; the container printed:\n{self.printed}"
        return found[0]

    @property
    def engine(self) -> int:
        """The process id of the engine."""
        (found,) = [one for one in descendants(self.main) if "sglang.launch_server" in command_of(one)]
        return found

    @property
    def printed(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def request(self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Answer:
        """Send a request and wait for the whole answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            connection.request(method, path, *_json(body, headers))
            response = connection.getresponse()
            lowered = {key.lower(): value for key, value in response.getheaders()}
            return Answer(status=response.status, headers=lowered, body=response.read())
        finally:
            connection.close()

    def invoke(self, body: object, **headers: str) -> Answer:
        """POST /invocations; `session` and `adapter` are SageMaker's headers."""
        return self.request("POST", "/invocations", body, platform_headers(**headers))

    @contextmanager
    def stream(self, body: object) -> Iterator[Iterator[bytes]]:
        """POST /invocations and yield the lines with content, each as it comes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            connection.request("POST", "/invocations", *_json(body, None))
            response = connection.getresponse()
            assert response.status == 200, response.read()
            yield (line.strip() for line in iter(response.readline, b"") if line.strip())
        finally:
            connection.close()

    def control_engine(self, **values: object) -> None:
        """Tell the stand-in engine how to behave, as soon as it listens."""
        self.wait_for(lambda: "stand-in engine: http://" in self.printed)
        connection = http.client.HTTPConnection("127.0.0.1", self.engine_port, timeout=PATIENCE_SECONDS)
        try:
            connection.request("POST", "/standin/control", *_json(values, None))
            assert connection.getresponse().read() == b"{}"
        finally:
            connection.close()

    def ping(self) -> int:
        """Return the status of GET /ping; 0 while nothing listens."""
        try:
            return self.request("GET", "/ping").status
        except (OSError, http.client.HTTPException):
            return 0

    def wait_for(self, condition: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> None:
        """Wait until a condition holds."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"not within {seconds} s; the container printed:\n{self.printed}"
            time.sleep(0.05)

    def wait_until_ready(self) -> list[int]:
        """Wait for the first 200 of GET /ping and return the other answers before it."""
        seen: list[int] = []

        def ready() -> bool:
            assert self.process.poll() is None, f"the container ended:\n{self.printed}"
            status = self.ping()
            if status not in (0, 200, *seen[-1:]):
                seen.append(status)
            return status == 200

        self.wait_for(ready)
        return seen

    def terminate(self) -> None:
        """Send SIGTERM, as the platform does, to what the image started."""
        os.kill(self.main, signal.SIGTERM)

    def wait_for_end(self, seconds: float = PATIENCE_SECONDS) -> int:
        """Return the exit status."""
        return self.process.wait(seconds)


@contextmanager
def running(
    buildah: Buildah,
    image: str,
    *,
    log: Path,
    environment: Mapping[str, str],
    mounts: Sequence[Mount] = (),
    arguments: Sequence[str] = ("serve",),
    before: Sequence[str] = (),
) -> Iterator[Container]:
    """Run an image's entrypoint with SageMaker's argument, and end all of it afterwards.

    Args:
        buildah: where the image is.
        image: which one.
        log: gets what it prints.
        environment: of the Model.
        mounts: what the platform mounts.
        arguments: what follows the entrypoint.
        before: a command that starts the entrypoint in its place.
    """
    entrypoint = buildah.inspect(image)["config"]["Entrypoint"]
    # What the platform does not set: the network is the host's, so that the ports have to be free ones.
    with (
        kept_port() as port,
        kept_port() as engine_port,
        buildah.container(image) as name,
        log.open("wb") as output,
    ):
        ports = {"WARMSTACK_HOST": "127.0.0.1", "WARMSTACK_PORT": str(port), "WARMSTACK_ENGINE_PORT": str(engine_port)}
        command = buildah.start_command(name, [*before, *entrypoint, *arguments], {**ports, **environment}, mounts)
        process = subprocess.Popen(
            command, env=buildah.environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            yield Container(process=process, log=log, port=port, engine_port=engine_port)
        finally:
            end_tree(process)


def end_tree(process: subprocess.Popen[bytes]) -> None:
    """End what runs in a container, then the helpers of buildah, which clean up after it."""
    if process.poll() is None:
        helpers = ("buildah", "buildah-chroot-runtime", "buildah-chroot-exec")
        for one in reversed(descendants(process.pid)):
            if command_of(one)[:1] and Path(command_of(one)[0]).name not in helpers:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one, signal.SIGKILL)
        try:
            process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def platform_headers(session: str | None = None, adapter: str | None = None) -> dict[str, str]:
    """Return the headers by which SageMaker passes on a session and an adapter."""
    named = {"X-Amzn-SageMaker-Session-Id": session, "X-Amzn-SageMaker-Adapter-Identifier": adapter}
    return {key: value for key, value in named.items() if value is not None}


def children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(word) for word in task.read_text().split()]
    return found


def descendants(pid: int) -> list[int]:
    found = children(pid)
    for one in found:
        found += children(one)  # the list grows while it is walked: every generation comes in turn
    return found


def command_of(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode().rstrip("\0").split("\0")
    except OSError:
        return []


def environment_of(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/environ").read_bytes().decode().rstrip("\0").split("\0")
    return dict(line.split("=", 1) for line in lines if "=" in line)


def _json(body: object, headers: Mapping[str, str] | None) -> tuple[bytes | None, dict[str, str]]:
    if body is None:
        return None, dict(headers or {})
    return json.dumps(body).encode(), {"Content-Type": "application/json", **(headers or {})}
