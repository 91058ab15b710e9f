"""`warmstack local up`: in this terminal, in the background, or only shown."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable
from typing import Any

from warmstack.assembly import DEFAULT_REGION, Assembly, read_assembly
from warmstack.cli.local_process import (
    BEHIND,
    INTERRUPTED,
    Reporter,
    fill_standard_streams,
    possible,
    run,
    start_behind,
)
from warmstack.local.defaults import DEFAULT_PORT
from warmstack.local.errors import LocalError, missing_package
from warmstack.local.instances import running_on, serves_already, state_folder
from warmstack.local.order import LOOPBACK, UpOrder
from warmstack.local.platform.start_plan import plan_start
from warmstack.local.sanity import check_start


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
        order = possible(order)
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
    fill_standard_streams()
    order = possible(order)
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
        elif not os.environ.get(BEHIND):  # whoever started this one in the background tells it
            _tell_ready(up.order, assembly)

    coroutine = serve(order, assembly, report=report, on_ready=on_ready, state=state_folder(os.environ))
    run(coroutine)
    report("stopped")
    return 0 if served else INTERRUPTED


def serve_in_background(order: UpOrder, *, as_json: bool) -> int:
    """Start a process that serves, and return when it does."""
    if os.environ.get(BEHIND):
        return serve_here(order, as_json=False)
    folder = state_folder(os.environ)
    running = running_on(folder, order.port)
    if running is not None:
        raise serves_already(running)
    read(possible(order))  # what is wrong with it is said here, and not in a log
    process, log = start_behind(order, folder)
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


def _server() -> Callable[..., Any]:
    try:
        from warmstack.local.up import run_up
    except ImportError as error:
        raise missing_package(error) from error
    return run_up


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
    print(f"  export AWS_DEFAULT_REGION={region}")
    print("  export AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local  # requests are signed, with any key\n")
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
