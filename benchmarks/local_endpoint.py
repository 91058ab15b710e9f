"""What the local endpoint costs, against the same copy called directly; and how many requests it takes a second.

Three processes on this machine: the stand-in engine as the copy, the local endpoint with that one copy behind it, and
this one, which asks. The copy alone and the copy behind the endpoint take turns, so that both meet the same machine;
the copy alone goes twice in each round, and what these two differ by is the noise of that round. Then the endpoint
serves 8 simulated copies, and takes as many requests as it can.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvloop

sys.path.insert(0, str(Path(__file__).parent))
from local_endpoint_server import COPIES, ENDPOINT

from session_server import STANDIN, free_port

MAX_ADDED_MS = 2.0
"""SageMaker's own routing was published to take 1.3 to 1.9 ms for a request."""
MAX_ADDED_PART_MS = 1.0
TOKENS = 24
TOKEN_SECONDS = 0.004
PATIENCE_SECONDS = 30
BODY = json.dumps({"messages": [{"role": "user", "content": "warm " * 800}], "max_tokens": TOKENS})
HEADERS = "authorization: AWS4-HMAC-SHA256 Credential=x\r\ncontent-type: application/json\r\n"
DIRECT = "/v1/chat/completions"
PLAIN = f"/endpoints/{ENDPOINT}/invocations"
STREAM = f"/endpoints/{ENDPOINT}/invocations-response-stream"


class Connection:
    """A connection that stays open, and what each answer on it took.

    Args:
        port: Where to.
    """

    def __init__(self, port: int) -> None:
        self._port = port

    async def __aenter__(self) -> Connection:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 20)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._writer.close()

    async def ask(self, path: str, body: str) -> tuple[float, list[float]]:
        """Send a request; return the milliseconds until its end, and those between the pieces of its body."""
        head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{HEADERS}content-length: {len(body)}\r\n\r\n"
        began = last = time.perf_counter()
        self._writer.write((head + body).encode())
        answer = await self._reader.readuntil(b"\r\n\r\n")
        if not answer.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(answer.decode("latin-1") + (await self._reader.read(400)).decode("latin-1"))
        gaps: list[float] = []
        fields = answer.lower()
        if b"content-length: " in fields:
            await self._reader.readexactly(int(fields.split(b"content-length: ")[1].split(b"\r\n")[0]))
        else:
            while size := int(await self._reader.readline(), 16):
                await self._reader.readexactly(size + 2)
                now = time.perf_counter()
                gaps.append((now - last) * 1000)
                last = now
            await self._reader.readline()
        return (time.perf_counter() - began) * 1000, gaps[2:]


async def measure(port: int, path: str, body: str, *, requests: int) -> tuple[float, float]:
    """Return the medians of one answer, and of the time between its pieces, one request after the other."""
    async with Connection(port) as connection, asyncio.timeout(PATIENCE_SECONDS):
        answers = [await connection.ask(path, body) for _ in range(requests)]
    gaps = [gap for _, found in answers for gap in found]
    return statistics.median(whole for whole, _ in answers), statistics.median(gaps) if gaps else 0.0


async def most(port: int, *, clients: int, requests: int) -> float:
    """Return how many requests a second are answered to so many clients that never pause."""
    body = json.dumps({"messages": [{"role": "user", "content": "warm " * 40}], "max_tokens": 4})

    async def one() -> None:
        async with Connection(port) as connection:
            for _ in range(requests):
                await connection.ask(PLAIN, body)

    began = time.perf_counter()
    async with asyncio.timeout(PATIENCE_SECONDS * 2):
        await asyncio.gather(*(one() for _ in range(clients)))
    return clients * requests / (time.perf_counter() - began)


@contextmanager
def running(name: str, command: list[str], environment: dict[str, str], url: str) -> Iterator[None]:
    """Run a program until the block ends; wait until it answers."""
    process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=subprocess.DEVNULL)
    try:
        for _ in range(200):
            if process.poll() is not None:
                raise RuntimeError(f"{name} exited with {process.returncode}")
            try:
                with urllib.request.urlopen(url, timeout=2) as answer:
                    if answer.status == 200:
                        break
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        else:
            raise RuntimeError(f"{name} did not answer in time")
        yield
    finally:
        process.terminate()
        process.wait(timeout=40)


def main() -> int:
    """Measure and print; return 1 when a limit is exceeded."""
    parser = argparse.ArgumentParser(prog="local_endpoint", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--requests", type=int, default=60, help="one after the other, in each round")
    options = parser.parse_args()
    engine_port, port = free_port(), free_port()
    engine = [sys.executable, "-m", "sglang.launch_server", "--port", str(engine_port), "--model-path", "tiny"]
    standin = {
        "PYTHONPATH": str(STANDIN),
        "STANDIN_TOKENS": str(TOKENS),
        "STANDIN_TOKEN_SECONDS": str(TOKEN_SECONDS),
    }
    here = Path(__file__).with_name("local_endpoint_server.py")
    status = f"http://127.0.0.1:{port}/_warmstack/status"
    with (
        running("the copy", engine, standin, f"http://127.0.0.1:{engine_port}/health"),
        running("the local endpoint", [sys.executable, str(here), str(port), str(engine_port)], {}, status),
    ):
        added = [compare(engine_port, port, options) for _ in range(options.rounds)]
    with running("the local endpoint", [sys.executable, str(here), str(port)], {}, status):
        uvloop.run(most(port, clients=8, requests=50))  # warm
        rates = [uvloop.run(most(port, clients=16, requests=200)) for _ in range(3)]
    return report(added, statistics.median(rates))


Round = dict[str, tuple[float, float]]
"""Of what was compared: what the endpoint added, and the round's noise, in milliseconds."""


def compare(engine_port: int, port: int, options: argparse.Namespace) -> Round:
    """Measure the copy alone, behind the endpoint, and alone again: plain, and streamed."""
    found: Round = {}
    stream = json.dumps(json.loads(BODY) | {"stream": True})
    for name, path, body in (("plain", PLAIN, BODY), ("stream", STREAM, stream)):
        first = uvloop.run(measure(engine_port, DIRECT, body, requests=options.requests))
        behind = uvloop.run(measure(port, path, body, requests=options.requests))
        last = uvloop.run(measure(engine_port, DIRECT, body, requests=options.requests))
        for at, kind in ((0, "answer"), (1, "between parts")):
            if name == "plain" and at:
                continue
            found[f"{name}, {kind}"] = (behind[at] - (first[at] + last[at]) / 2, abs(first[at] - last[at]))
    return found


def report(rounds: list[Round], rate: float) -> int:
    """Print the medians over the rounds and their verdict."""
    print(f"{len(rounds)} rounds, milliseconds")
    print(f"{'':24}{'added':>9}{'noise':>9}")
    medians = {}
    for name in rounds[0]:
        added = statistics.median(one[name][0] for one in rounds)
        noise = statistics.median(one[name][1] for one in rounds)
        medians[name] = added, noise
        print(f"{name:24}{added:9.2f}{noise:9.2f}")
    print(f"{COPIES} simulated copies: {rate:.0f} requests a second")
    good = medians["plain, answer"][0] <= MAX_ADDED_MS
    part, noise = medians["stream, between parts"]
    good = good and part <= MAX_ADDED_PART_MS + noise
    print(f"limits: {MAX_ADDED_MS} ms for a request, {MAX_ADDED_PART_MS} ms and the noise between parts")
    print("within the limits" if good else "OVER a limit")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
