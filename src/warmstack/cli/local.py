"""`warmstack local status|down|fault|options`."""

from __future__ import annotations

import os
from dataclasses import fields
from typing import Any

from warmstack.cli.console import console, print_json
from warmstack.local.dialects.defects import describe_defects
from warmstack.local.instances import running_on, state_folder
from warmstack.local.platform.faults_catalog import FAULTS
from warmstack.local.remote import ask, stop
from warmstack.local.wire.limits import Limits
from warmstack.routing import describe_choices


def stop_local(port: int, what: str = "local endpoint") -> int:
    """Stop what serves a port, and say so; ``what`` is what it is called where there is none."""
    stopped = stop(_url(port), port, state_folder(os.environ))
    print(f"stopped {stopped}" if stopped else f"no {what} runs on port {port}")
    return 0


def put_fault(port: int, name: str, target: str, *, seconds: float, pieces: int, times: int | None) -> int:
    """Put a fault on something."""
    order = {"fault": name, "target": target, "seconds": seconds, "pieces": pieces, "times": times}
    print(ask(_url(port), "faults", order)["done"])
    return 0


def show_status(port: int, *, as_json: bool) -> int:
    """Show what there is to see."""
    status = ask(_url(port), "status")
    if as_json:
        print_json(status)
        return 0
    from rich.table import Table
    from rich.text import Text

    out = console()
    about = f"{status['source']} at {status['url']}, {status['engine']} engine, {status['requests']} requests"
    out.print(about, markup=False)
    if not status["ready"]:
        out.print("its copies are starting")
    for endpoint in status["endpoints"]:
        out.print()
        out.print(
            f"{endpoint['name']}: {endpoint['status']}, {endpoint['sessions']} sessions, "
            f"hit rate {_rate(endpoint['cache'])}",
            markup=False,
        )
        table = Table("instance", "copy", "state", "in flight", "served", "hit rate", "with tiers", "faults")
        for variant in endpoint["variants"]:
            for instance in variant["instances"]:
                for copy in instance["copies"]:
                    row = (
                        instance["name"],
                        copy["name"].removeprefix(f"{instance['name']}/"),
                        copy["state"],
                        str(copy["in_flight"]),
                        str(copy["served"]),
                        _rate(copy["cache"]),
                        _rate(copy["cache"], "warm_rate"),
                        ", ".join(copy["faults"]) or copy["failure"],
                    )
                    # Guard: a failure's text may hold brackets, which a table takes for markup.
                    table.add_row(*map(Text, row))
        out.print(table)
    _show_requests(out, status["last_requests"][:10])
    for notice in status["notices"]:
        out.print(f"note: {notice}", markup=False)
    return 0


def list_options(*, as_json: bool) -> int:
    """List limits, choices, defects and faults."""
    limits = [{"name": one.name, "default": one.default} for one in fields(Limits)]
    choices: list[dict[str, Any]] = [
        {"name": one.name, "values": list(one.values), "default": one.default, "meaning": one.meaning}
        for one in describe_choices()
    ]
    if as_json:
        print_json({"limits": limits, "choices": choices, "defects": describe_defects(), "faults": dict(FAULTS)})
        return 0
    print("limits (--limit NAME=VALUE):")
    for limit in limits:
        print(f"  {limit['name']} = {limit['default']}")
    print("\nchoices, where SageMaker's behaviour is not documented (--choice NAME=VALUE; the default comes first):")
    for choice in choices:
        values = [choice["default"], *(value for value in choice["values"] if value != choice["default"])]
        print(f"  {choice['name']} = {' | '.join(values)}\n      {choice['meaning']}")
    print("\ndefects of servers that are reproduced (--without-defect NAME leaves one out):")
    for name, meaning in describe_defects().items():
        print(f"  {name}: {meaning}")
    print("\nfaults (warmstack local fault NAME TARGET):")
    for name, meaning in FAULTS.items():
        print(f"  {name}: {meaning}")
    return 0


def _show_requests(out: Any, entries: list[dict[str, Any]]) -> None:
    if not entries:
        return
    from rich.table import Table
    from rich.text import Text

    table = Table("#", "operation", "went to", "status", "first byte", "why")
    for entry in entries:
        first = entry["first_byte_seconds"]
        row = (
            str(entry["number"]),
            entry["operation"].removeprefix("InvokeEndpoint") or "plain",
            entry["copy"] or "-",
            str(entry["status"] or "runs"),
            "-" if first is None else f"{first * 1000:.1f} ms",
            " – ".join(one for one in (entry["detail"], entry["problem"]) if one),
        )
        table.add_row(*map(Text, row))
    out.print(table)


def _rate(cache: dict[str, Any] | None, name: str = "hit_rate") -> str:
    rate = cache[name] if cache else None
    return "-" if rate is None else f"{rate:.0%}"


def _url(port: int) -> str:
    running = running_on(state_folder(os.environ), port)
    host = running.host if running and running.host not in ("0.0.0.0", "::") else "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
