"""Asking a local endpoint that runs: its status, a fault, the end."""

from __future__ import annotations

import http.client
import json
import os
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from warmstack.local.errors import LocalError
from warmstack.local.instances import running_on

TIMEOUT_SECONDS = 10.0
STOP_SECONDS = 45.0
# Guard: HTTP_PROXY in the environment would send these to another machine.
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def ask(
    url: str, path: str, order: Mapping[str, Any] | None = None, *, seconds: float = TIMEOUT_SECONDS
) -> dict[str, Any]:
    """Ask a local endpoint.

    Args:
        url: Where it listens.
        path: What to ask, under ``/_warmstack``.
        order: What to send; None to only look.
        seconds: How long to wait for an answer.

    Raises:
        LocalError: Nobody is there, somebody else is, or the answer is no.
    """
    data = None if order is None else json.dumps(order).encode()
    request = urllib.request.Request(f"{url}/_warmstack/{path}", data=data, headers={"X-Warmstack": "1"})
    try:
        with _DIRECT.open(request, timeout=seconds) as response:
            answer: Any = json.loads(response.read())
    except urllib.error.HTTPError as error:
        raise LocalError(_said(error, url)) from error
    except (OSError, ValueError, http.client.HTTPException, RecursionError) as error:
        reason = getattr(error, "reason", error)
        raise LocalError(
            f"no local endpoint answers at {url}: {reason}; `warmstack local up` starts one, --port names another port"
        ) from error
    if not isinstance(answer, dict) or ("source" if order is None else "done") not in answer:
        raise LocalError(f"what answers at {url} is no local endpoint")
    return answer


def stop(url: str, port: int, folder: Path, *, sleep: Callable[[float], None] = time.sleep) -> str | None:
    """Stop the local endpoint on a port, and wait for its end.

    Args:
        url: Where it listens.
        port: The same.
        folder: Where running ones are written down.
        sleep: Waits some seconds.

    Returns:
        What was stopped; None if nothing ran there.

    Raises:
        LocalError: It does not stop.
    """
    running = running_on(folder, port)
    try:
        pid = int(ask(url, "stop", {})["pid"])
    except (LocalError, KeyError, ValueError, TypeError):
        if running is None:
            return None
        # It does not answer, and is the process that was written down: a signal reaches what HTTP does not.
        pid = running.pid
        _signal(pid)
    waited = 0.0
    while waited < STOP_SECONDS:
        if running is None:
            if not _answers(url):
                return f"the local endpoint on port {port} (process {pid})"
        elif not running.is_alive:
            return f"the local endpoint on port {port} (process {pid})"
        sleep(0.1)
        waited += 0.1
    raise LocalError(f"process {pid} does not stop; kill -9 {pid} ends it, and its copies end with it")


def _signal(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGTERM)
        # One that was suspended, as Ctrl-Z does, has to go on to end.
        os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        return
    except OSError as error:
        raise LocalError(f"process {pid} cannot be stopped: {error.strerror}") from error


def _answers(url: str) -> bool:
    try:
        ask(url, "status")
    except LocalError:
        return False
    return True


def _said(error: urllib.error.HTTPError, url: str) -> str:
    try:
        value = json.loads(error.read())
        return str(value["error"])
    except (OSError, ValueError, KeyError, TypeError, http.client.HTTPException, RecursionError):
        return f"what answers at {url} is no local endpoint (HTTP {error.code})"
