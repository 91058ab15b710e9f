"""What the session server costs, against the engine alone: first token and the time between tokens.

Three processes on this machine: the stand-in engine, the session server in front of it, and this one, which opens 64
streams at a time. The engine alone and the engine behind the server take turns, so that both meet the same machine; the
engine alone goes twice in each round, and what these two differ by is the noise of that round.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import uvloop

ROOT = Path(__file__).resolve().parent.parent
STANDIN = ROOT / "tests" / "fakes" / "sglang_engine"
TOKENS = 24
PATIENCE_SECONDS = 30
TOKEN_SECONDS = 0.030
PROMPT = "The quick brown fox jumps over the lazy dog. " * 90  # 4 KB, as long as a system prompt
MAX_ADDED_TTFT_MS = 2.0
MAX_ADDED_GAP = 0.02
"""What a stream may be slower by, as a part of the time between tokens, beyond the round's own noise."""


@dataclass(slots=True, kw_only=True)
class Times:
    """Milliseconds: from sending to the first token, and from token to token."""

    first: list[float] = field(default_factory=list)
    gaps: list[float] = field(default_factory=list)


class StreamClient(asyncio.Protocol):
    """Sends one request on a connection that is open, and notes when each token comes."""

    def __init__(self, request: bytes, times: Times) -> None:
        self._request = request
        self._times = times
        self._last = 0.0
        self._seen = False
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the request."""
        self._last = time.perf_counter()
        cast(asyncio.WriteTransport, transport).write(self._request)

    def data_received(self, data: bytes) -> None:
        """Note the time of what came."""
        now = time.perf_counter()
        if b'"content":' in data:
            (self._times.gaps if self._seen else self._times.first).append((now - self._last) * 1000)
            self._seen, self._last = True, now
        # The end of the answer and not of its text: a client that leaves earlier has its request aborted.
        if data.endswith(b"0\r\n\r\n") and not self.done.done():
            self.done.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Note a stream that ended early."""
        if not self.done.done():
            self.done.set_exception(exc or ConnectionError("the stream ended early"))


async def measure(port: int, path: str, *, streams: int, requests: int) -> Times:
    """Keep so many streams open until each has made its requests.

    Args:
        port: Where to.
        path: The path of the chat endpoint.
        streams: How many at a time.
        requests: How many one after the other in each.
    """
    times = Times()
    body = json.dumps({"messages": [{"role": "user", "content": PROMPT}], "stream": True}).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    request = f"{head}content-length: {len(body)}\r\n\r\n".encode() + body
    loop = asyncio.get_running_loop()
    chance = random.Random(7)

    async def one(delay: float) -> None:
        await asyncio.sleep(delay)
        for _ in range(requests):
            transport, client = await loop.create_connection(lambda: StreamClient(request, times), "127.0.0.1", port)
            await asyncio.wait_for(client.done, PATIENCE_SECONDS)
            transport.abort()

    await asyncio.gather(*(one(chance.random() * TOKENS * TOKEN_SECONDS) for _ in range(streams)))
    return times


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
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=40)


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def percentile(values: list[float], part: float) -> float:
    """Return the value that this part of the values does not exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def main() -> int:
    """Measure and print; return 1 when a limit is exceeded."""
    parser = argparse.ArgumentParser(prog="session_server", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--requests", type=int, default=4, help="one after the other, in each stream")
    options = parser.parse_args()
    engine_port, port = free_port(), free_port()
    environment = {
        "PYTHONPATH": f"{STANDIN}{os.pathsep}{ROOT / 'container'}",
        "STANDIN_TOKENS": str(TOKENS),
        "STANDIN_TOKEN_SECONDS": str(TOKEN_SECONDS),
        "WARMSTACK_HOST": "127.0.0.1",
        "WARMSTACK_PORT": str(port),
        "WARMSTACK_ENGINE_PORT": str(engine_port),
        "WARMSTACK_ENGINE_PYTHON": sys.executable,
    }
    server = [sys.executable, "-m", "session_server"]
    with running("the session server", server, environment, f"http://127.0.0.1:{port}/ping"):
        rounds = [measure_round(engine_port, port, options) for _ in range(options.rounds)]
    return report(rounds, options.streams)


Round = tuple[Times, Times, Times]


def measure_round(engine_port: int, port: int, options: argparse.Namespace) -> Round:
    """Measure the engine alone, behind the server, and alone again."""
    targets = ((engine_port, "/v1/chat/completions"), (port, "/invocations"), (engine_port, "/v1/chat/completions"))
    first, behind, last = (
        uvloop.run(measure(target, path, streams=options.streams, requests=options.requests))
        for target, path in targets
    )
    return first, behind, last


def report(rounds: list[Round], streams: int) -> int:
    """Print the medians over the rounds and their verdict."""
    rows = (
        ("first token, median", lambda times: statistics.median(times.first)),
        ("first token, 95 %", lambda times: percentile(times.first, 0.95)),
        ("between tokens, median", lambda times: statistics.median(times.gaps)),
        ("between tokens, 95 %", lambda times: percentile(times.gaps, 0.95)),
    )
    print(f"{streams} streams, {len(rounds)} rounds, milliseconds")
    print(f"{'':24}{'alone':>9}{'behind':>9}{'added':>9}{'noise':>9}")
    added: dict[str, tuple[float, float, float]] = {}
    for name, read in rows:
        alone = statistics.median(read(times) for first, _, last in rounds for times in (first, last))
        behind = statistics.median(read(times) for _, times, _ in rounds)
        extra = statistics.median(read(mid) - (read(first) + read(last)) / 2 for first, mid, last in rounds)
        noise = statistics.median(abs(read(first) - read(last)) for first, _, last in rounds)
        added[name] = extra, noise, alone
        print(f"{name:24}{alone:9.2f}{behind:9.2f}{extra:9.2f}{noise:9.2f}")
    ttft = added["first token, median"][0]
    gap, noise, alone = added["between tokens, median"]
    good = ttft <= MAX_ADDED_TTFT_MS and gap <= noise + MAX_ADDED_GAP * alone
    print(f"limits: {MAX_ADDED_TTFT_MS} ms to the first token; {MAX_ADDED_GAP:.0%} and the noise between tokens")
    print("within the limits" if good else "OVER a limit")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
