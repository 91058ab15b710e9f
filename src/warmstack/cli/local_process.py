"""The process that serves: what it is told and tells, in this terminal or in the background."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from warmstack.local.errors import LocalError, missing_package
from warmstack.local.order import EngineKind, UpOrder
from warmstack.local.remote import STOP_SECONDS, ask

INTERRUPTED = 130
"""The exit status of one that was ended before it served."""
STARTED_SECONDS = 600.0
"""How long `--detach` waits: a first start makes a model and reads the engine from a cold disk."""
BEHIND = "WARMSTACK_LOCAL_BEHIND"
"""Set for the process in the background, which gets the same arguments as the one that starts it."""


class Reporter:
    """Tells what is going on, with the time since the start, on standard error.

    Args:
        timer: Seconds.
    """

    def __init__(self, timer: Callable[[], float] = time.monotonic) -> None:
        self._timer = timer
        self._began = timer()

    def __call__(self, line: str) -> None:
        """Tell one line."""
        # Guard: whoever read it may be gone, and what is told must not end what tells it.
        with suppress(OSError, ValueError):
            print(f"[{self._timer() - self._began:6.1f} s] {line}", file=sys.stderr, flush=True)


def possible(order: UpOrder) -> UpOrder:
    """Return the order, with simulated copies where no real engine fits this machine; say so.

    Raises:
        LocalError: The engine would fit, and is not installed.
    """
    if order.engine is not EngineKind.VLLM:
        return order
    from dataclasses import replace

    try:
        from warmstack.local.engines import find_engine, platform_problem
    except ImportError as error:
        raise missing_package(error) from error
    if find_engine() is not None:
        return order
    problem = platform_problem()
    if problem is None:
        raise LocalError(
            "vLLM is not installed for the local endpoint: `warmstack local install` does that once (2.3 GB, one to "
            "three minutes); --engine simulated needs nothing"
        )
    print(f"warmstack: {problem}: going on with simulated copies", file=sys.stderr)
    return replace(order, engine=EngineKind.SIMULATED)


def run(coroutine: Any) -> None:
    """Run what serves, to its end."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(coroutine)
        return
    uvloop.run(coroutine)


def fill_standard_streams() -> None:
    """Open what the caller closed: a socket would get its number, and take what is printed for an answer."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def start_behind(order: UpOrder, folder: Path) -> tuple[subprocess.Popen[bytes], Path]:
    """Start this command in the background, and return when it serves: the process, and its log.

    Args:
        order: Where it will serve.
        folder: Where its log goes.

    Raises:
        LocalError: It ended before it served.
    """
    log = folder / f"local-{order.port}.log"
    signals = _noted_signals()
    with _opened(log) as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "warmstack", *sys.argv[1:]],
            env=os.environ | {BEHIND: "1"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        _await_ready(process, order, log, signals)
    except BaseException:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
        raise
    return process, log


def _noted_signals() -> list[int]:
    """Return where the signals that ask for the end are noted from now on: Ctrl-C, a closed terminal, a polite kill.

    They must not interrupt what starts the process in the background: nobody would know then which one to end.
    """
    noted: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, _frame: noted.append(number))
    return noted


def _opened(log: Path) -> BinaryIO:
    try:
        log.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        log.write_bytes(b"")
        # Guard: two that start at one instant would write over each other's lines.
        return log.open("ab")
    except OSError as error:
        raise LocalError(f"{log} cannot be written: {error.strerror}; XDG_STATE_HOME names another folder") from error


def _await_ready(process: subprocess.Popen[bytes], order: UpOrder, log: Path, signals: list[int]) -> None:
    deadline = time.monotonic() + STARTED_SECONDS
    told = 0
    while time.monotonic() < deadline:
        if signals:
            raise KeyboardInterrupt
        text = log.read_text(encoding="utf-8", errors="replace")
        # Whole lines only; the rest comes the next time.
        end = text.rfind("\n") + 1
        sys.stderr.write(text[told:end])
        sys.stderr.flush()
        told = max(told, end)
        if process.poll() is not None:
            raise LocalError(f"it ended with status {process.returncode} before it served; its log is {log}")
        try:
            status = ask(order.url, "status")
        except LocalError:
            time.sleep(0.2)
            continue
        if status["pid"] == process.pid and status["ready"]:
            return
        time.sleep(0.2)
    raise LocalError(f"it did not serve in {STARTED_SECONDS:.0f} s; its log is {log}")
