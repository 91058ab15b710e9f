"""`warmstack local up`: in this terminal, in the background, or only shown."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from warmstack.assembly import DEFAULT_REGION, Assembly, read_assembly
from warmstack.local.defaults import DEFAULT_PORT
from warmstack.local.errors import LocalError, missing_package
from warmstack.local.instances import running_on, serves_already, state_folder
from warmstack.local.order import LOOPBACK, EngineKind, UpOrder
from warmstack.local.platform.start_plan import plan_start
from warmstack.local.remote import STOP_SECONDS, ask
from warmstack.local.sanity import check_start

INTERRUPTED = 130
"""The exit status of one that was ended before it served."""
STARTED_SECONDS = 600.0
"""How long `--detach` waits: a first start makes a model and reads the engine from a cold disk."""
_BEHIND = "WARMSTACK_LOCAL_BEHIND"
"""Set for the process in the background, which gets the same arguments as the one that starts it."""


def read(order: UpOrder) -> Assembly:
    """Read what the order names.

    Raises:
        AssemblyError: It cannot be read.
        LocalError: It has no such adapters.
    """
    assembly = read_assembly(
        order.source,
        parameters=order.parameters,
        account=order.account,
        region=order.region,
        stack=order.stack,
        # Where the template names none, the Region is the one that clients take from the same environment.
        default_region=os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or DEFAULT_REGION,
    )
    known = {one.name for endpoint in assembly.endpoints for one in endpoint.components if one.base is not None}
    if absent := sorted(order.adapters.keys() - known):
        there = f"its adapters are {', '.join(sorted(known))}" if known else "it has none"
        raise LocalError("\n".join(f"--adapter {name}: {order.source} has no such adapter; {there}" for name in absent))
    return assembly


def show_plan(order: UpOrder, *, as_json: bool) -> int:
    """Show what would start."""
    from warmstack.local.explained import explained

    assembly = read(order)
    problems: list[str] = []
    try:
        order = _possible(order)
    except LocalError as error:
        problems.append(str(error))
    plan = plan_start(assembly.endpoints, order.room)
    try:
        check_start(order, assembly, plan)
    except LocalError as error:
        problems.append(str(error))
    document = explained(order, assembly, plan) | {"problems": problems}
    if as_json:
        print(json.dumps(document, indent=2, ensure_ascii=False))
        return 0
    for endpoint in document["endpoints"]:
        print(f"{endpoint['name']} (stack {endpoint['stack']})")
        for line in endpoint["lines"]:
            print(f"  {line}")
    _list("not served, or not known here", document["notices"])
    _list("smaller than asked for", document["reductions"])
    _list("otherwise than on SageMaker", document["replacements"])
    _list("it would not start", problems)
    return 0


def serve_here(order: UpOrder, *, as_json: bool) -> int:
    """Serve until Ctrl-C."""
    _fill_standard_streams()
    order = _possible(order)
    assembly = read(order)
    serve = _server()
    # A command disables it, because it lives for a moment; this one lives on.
    gc.enable()
    report = Reporter()
    if order.host not in LOOPBACK:
        report(f"warning: {order.host} can be reached by other machines, and nothing checks who asks")
    # The numbers of a first look at the files stay out of the collector's way.
    gc.freeze()

    served = False

    async def on_ready(up: Any) -> None:
        nonlocal served
        _write_outputs(order, assembly)
        served = True
        if as_json:
            print(json.dumps(_ready(up.order, assembly)), flush=True)
        elif not os.environ.get(_BEHIND):  # whoever started this one in the background tells it
            _tell_ready(up.order, assembly)

    coroutine = serve(order, assembly, report=report, on_ready=on_ready, state=state_folder(os.environ))
    _run(coroutine)
    report("stopped")
    return 0 if served else INTERRUPTED


def serve_in_background(order: UpOrder, *, as_json: bool) -> int:
    """Start a process that serves, and return when it does."""
    if os.environ.get(_BEHIND):
        return serve_here(order, as_json=False)
    folder = state_folder(os.environ)
    running = running_on(folder, order.port)
    if running is not None:
        raise serves_already(running)
    read(_possible(order))  # what is wrong with it is said here, and not in a log
    log = folder / f"local-{order.port}.log"
    signals = _noted_signals()
    with _opened(log) as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "warmstack", *sys.argv[1:]],
            env=os.environ | {_BEHIND: "1"},
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
    assembly = read(order)
    if as_json:
        print(json.dumps(_ready(order, assembly) | {"pid": process.pid, "log": str(log)}))
    else:
        _tell_ready(order, assembly)
        port = "" if order.port == DEFAULT_PORT else f" --port {order.port}"
        print(f"\nIn the background as process {process.pid}; log {log}; `warmstack local down{port}` ends it.")
    return 0


def _write_outputs(order: UpOrder, assembly: Assembly) -> None:
    if order.outputs_file is None:
        return
    text = json.dumps(assembly.outputs, indent=2, ensure_ascii=False)
    try:
        order.outputs_file.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise LocalError(f"--outputs-file {order.outputs_file} cannot be written: {error.strerror}") from error


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


def _possible(order: UpOrder) -> UpOrder:
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


def _server() -> Callable[..., Any]:
    try:
        from warmstack.local.up import run_up
    except ImportError as error:
        raise missing_package(error) from error
    return run_up


def _run(coroutine: Any) -> None:
    try:
        import uvloop
    except ImportError:
        asyncio.run(coroutine)
        return
    uvloop.run(coroutine)


def _fill_standard_streams() -> None:
    """Open what the caller closed: a socket would get its number, and take what is printed for an answer."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


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


def _ready(order: UpOrder, assembly: Assembly) -> dict[str, Any]:
    return {
        "url": order.url,
        "status_page": f"{order.url}/_warmstack/",
        "environment": _environment(order) | {"AWS_DEFAULT_REGION": assembly.endpoints[0].region},
        "endpoints": [
            {
                "name": endpoint.name,
                "region": endpoint.region,
                "openai_base_url": None if endpoint.components else _openai_url(order, endpoint.name),
                "components": [
                    {"name": one.name, "openai_base_url": _openai_url(order, endpoint.name, one.name)}
                    for one in endpoint.components
                ],
            }
            for endpoint in assembly.endpoints
        ],
    }


def _environment(order: UpOrder) -> dict[str, str]:
    return {"AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME": order.url, "AWS_ENDPOINT_URL_SAGEMAKER": order.url}


def _openai_url(order: UpOrder, endpoint: str, component: str | None = None) -> str:
    middle = f"/inference-components/{component}" if component else ""
    return f"{order.url}/endpoints/{endpoint}{middle}/openai/v1"


def _tell_ready(order: UpOrder, assembly: Assembly) -> None:
    print(f"\nServing at {order.url} (status page: {order.url}/_warmstack/)\n")
    for name, value in _environment(order).items():
        print(f"  export {name}={value}")
    region = assembly.endpoints[0].region
    print(f"  export AWS_DEFAULT_REGION={region}\n")
    for endpoint in assembly.endpoints:
        print(f"endpoint {endpoint.name}")
        if not endpoint.components:
            print(f"  OpenAI base URL: {_openai_url(order, endpoint.name)}")
        for component in endpoint.components:
            kind = f"adapter of {component.base}" if component.base else "component"
            print(f"  {kind} {component.name}")
    sys.stdout.flush()


def _list(title: str, lines: list[str]) -> None:
    if lines:
        print(f"\n{title}:")
        for line in lines:
            print(f"  - {line}")
