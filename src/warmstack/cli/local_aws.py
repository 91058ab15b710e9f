"""`warmstack local aws up|status|env`."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from warmstack.assembly import DEFAULT_REGION
from warmstack.cli.console import console, print_json
from warmstack.cli.local import stop_local
from warmstack.cli.local_environment import environment, lines_back, shell_lines
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
from warmstack.local.order import UpOrder
from warmstack.local.remote import ask


def serve_aws_here(order: UpOrder, *, as_json: bool) -> int:
    """Serve until Ctrl-C."""
    fill_standard_streams()
    order = possible(order)
    serve = _server()
    # A command disables it, because it lives for a moment; this one lives on.
    gc.enable()
    gc.freeze()
    report = Reporter()
    region = _region(order)
    served = False

    async def on_ready() -> None:
        nonlocal served
        served = True
        if not os.environ.get(BEHIND):  # whoever started this one in the background tells it
            _tell(order, region, as_json=as_json)

    run(serve(order, region=region, report=report, on_ready=on_ready, state=state_folder(os.environ)))
    report("stopped; its stacks are gone with it")
    return 0 if served else INTERRUPTED


def serve_aws_in_background(order: UpOrder, *, as_json: bool) -> int:
    """Start a process that serves, and return when it does."""
    if os.environ.get(BEHIND):
        return serve_aws_here(order, as_json=False)
    folder = state_folder(os.environ)
    running = running_on(folder, order.port)
    if running is not None:
        raise serves_already(running)
    _server()
    process, log = start_behind(possible(order), folder)
    _tell(order, _region(order), as_json=as_json, more={"pid": process.pid, "log": str(log)})
    if not as_json:
        port = "" if order.port == DEFAULT_PORT else f" --port {order.port}"
        print(f"\nIn the background as process {process.pid}; log {log}; `warmstack local aws down{port}` ends it.")
    return 0


def print_environment(port: int, *, as_json: bool) -> int:
    """Print the variables of one that runs, as a shell takes them.

    Raises:
        LocalError: None runs there.
    """
    try:
        variables = environment(port, str(_stacks(port)["region"]), os.environ)
    except LocalError:
        if not as_json:
            # Guard: a shell takes an evaluation of nothing for a success, and what follows would go to AWS.
            print("false")
        raise
    if as_json:
        print_json(variables)
        return 0
    for line in shell_lines(variables, os.environ):
        print(line)
    return 0


def print_way_back(*, as_json: bool) -> int:
    """Print what takes the variables of a local AWS out of a shell again; none has to run for it."""
    lines = lines_back(os.environ)
    if as_json:
        print_json({"unset": [name for line in lines for name in line.split()[1:]]})
        return 0
    for line in lines:
        print(line)
    return 0


def stop_aws(port: int) -> int:
    """Stop what serves a port, and say how a shell that was led to it is led there no more."""
    code = stop_local(port, "local AWS")
    print('`eval "$(warmstack local aws env --unset)"` takes its variables out of the shell; set your own anew')
    return code


def show_stacks(port: int, *, as_json: bool) -> int:
    """Show the stacks of one that runs."""
    document = _stacks(port)
    if as_json:
        print_json(document)
        return 0
    from rich.table import Table
    from rich.text import Text

    out = console()
    out.print(f"account {document['account']}, SageMaker in {document['region']}", markup=False)
    if not document["stacks"]:
        out.print("there are no stacks; `cdk bootstrap` and `cdk deploy` make some")
        return 0
    table = Table("stack", "Region", "status", "resources", "the last that happened, or what failed first")
    for stack in document["stacks"]:
        # What failed first is why; what came after it is cleaning up.
        last = stack["failure"] or stack["last_events"][0]
        why = f": {last['reason']}" if last["reason"] else ""
        event = f"{last['logical_id']} {last['status']}{why}"
        row = (stack["name"], stack["region"], stack["status"], str(stack["resources"]), event)
        # Guard: a reason may hold brackets, which a table takes for markup.
        table.add_row(*map(Text, row))
    out.print(table)
    return 0


def _stacks(port: int) -> dict[str, Any]:
    url = f"http://127.0.0.1:{port}"
    try:
        return ask(url, "stacks")
    except LocalError as error:
        if running_on(state_folder(os.environ), port) is None:
            raise LocalError(f"no local AWS runs on port {port}; {_elsewhere(port)}") from error
        raise LocalError(f"what runs on port {port} is a local endpoint, and no local AWS: it has no stacks") from error


def _elsewhere(port: int) -> str:
    """Return where one is to be looked for, as the end of a sentence."""
    try:
        given = urlsplit(os.environ.get("AWS_ENDPOINT_URL", ""))
        there = given.port if given.hostname in ("localhost", "127.0.0.1", "::1") else None
    except ValueError:
        there = None
    if there is None or there == port:
        return "`warmstack local aws up` starts one, --port names another port"
    return f"AWS_ENDPOINT_URL names another one: --port {there}"


def _tell(order: UpOrder, region: str, *, as_json: bool, more: dict[str, Any] | None = None) -> None:
    variables = environment(order.port, region, os.environ)
    account = _account(order)
    if as_json:
        document = {
            "url": variables["AWS_ENDPOINT_URL"],
            "status_page": f"{order.url}/_warmstack/",
            "account": account,
            "region": region,
            "environment": variables,
            **(more or {}),
        }
        print(json.dumps(document), flush=True)
        return
    print(f"\nA local AWS serves at {variables['AWS_ENDPOINT_URL']} (status page: {order.url}/_warmstack/)\n")
    for line in shell_lines(variables, os.environ):
        print(f"  {line}")
    print(f"\n  cdk bootstrap aws://{account}/{region}\n  cdk deploy --require-approval never")
    sys.stdout.flush()


def _account(order: UpOrder) -> str:
    from warmstack.local.aws.up import ACCOUNT

    return order.account or ACCOUNT


def _region(order: UpOrder) -> str:
    return order.region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or DEFAULT_REGION


def _server() -> Callable[..., Any]:
    try:
        from warmstack.local.aws.moto_app import load_moto
        from warmstack.local.aws.up import run_aws
    except ImportError as error:
        raise missing_package(error) from error
    load_moto()  # what is missing is said here, and not in a log
    return run_aws
