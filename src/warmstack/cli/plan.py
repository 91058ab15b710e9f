"""`warmstack plan`: one page that says what the spec will hold, why, and what it costs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from warmstack.cli.console import console, print_json
from warmstack.cli.load import plan_file
from warmstack.plan import DOCUMENT_VERSION, Plan, ServedModel, plan_document
from warmstack.spec import printable, render
from warmstack.units import GIB, format_bytes, format_count, format_usd

_BAR = 48
_PIECES = (("#", "cyan"), ("+", "yellow"), ("=", "green"), ("~", "magenta"), (".", "dim"))


def show_plan(path: Path, *, as_json: bool, strict: bool) -> int:
    """Print the plan of a spec. Returns the exit code."""
    outcome = plan_file(path)
    if as_json:
        if outcome.plan is not None:
            print_json(plan_document(outcome.plan))
        else:
            messages = json.loads(render(outcome.diagnostics, outcome.lines, "json"))
            print_json({"version": DOCUMENT_VERSION, "diagnostics": messages})
        return int(outcome.failed(strict=strict))
    if outcome.plan is not None:
        _page(outcome.plan, console())
    sys.stdout.flush()
    if outcome.diagnostics:
        print("\nFindings" if outcome.plan is not None else f"{printable(path.as_posix())} cannot be planned:")
        sys.stdout.write(render(outcome.diagnostics, outcome.lines))
    if outcome.acknowledged:
        print(f"{outcome.acknowledged} acknowledged in the spec")
    return int(outcome.failed(strict=strict))


def _page(plan: Plan, out: Console) -> None:
    endpoint = plan.endpoint
    where = f"{plan.account} {plan.region}" if plan.region else "any account and Region"
    count = (
        str(endpoint.instances_min)
        if endpoint.instances_min == endpoint.instances_max
        else f"{endpoint.instances_min} to {endpoint.instances_max}"
    )
    out.print(
        f"[bold]{plan.stack_name}[/bold]  {count} x {endpoint.instance.name}, {endpoint.routing.strategy}, {where}"
    )
    for served in plan.models:
        _served(served, out)
    _derived(plan, out)
    _quotas(plan, out)
    _cost(plan, out)


def _served(served: ServedModel, out: Console) -> None:
    memory = served.memory
    title = f"component {served.component}: {served.model_id}" if served.component else served.model_id
    out.print(f"\n[bold]What fits where[/bold]  {escape(title)}")
    sizes = f"{format_count(memory.parameter_count)} parameters, {format_bytes(memory.weight_bytes)} of weights"
    out.print(f"  {sizes}; {format_bytes(memory.kv_bytes_per_token)} of KV a token")
    out.print(f"  {_placement(served)}")
    _bars(served, out)
    requests = f"{_counted(memory.max_full_sequences, 'request')} of {served.max_model_len:,} tokens at once"
    out.print(f"  One copy holds {format_count(memory.kv_tokens)} tokens of KV: {requests}.")
    out.print(
        f"    (tensor parallel degree {memory.tensor_parallel_degree}, "
        f"gpu_memory_utilization {memory.gpu_memory_utilization:.2f}; estimated, not measured)"
    )
    for tier in served.host.tiers:
        name = "CPU" if tier.kind == "cpu" else "disk"
        holds = f"{format_count(tier.tokens_per_copy)} tokens a copy, {format_bytes(tier.bytes_per_worker)} a worker"
        out.print(f"  The {name} tier holds {holds}.")
        out.print(f"    (it pays beyond a working set of {format_count(tier.pays_beyond_tokens)} tokens)")
    if not served.host.tiers:
        beyond = f"{format_count(memory.kv_tokens)} tokens a copy"
        out.print(f"  A tier below the GPU would pay beyond a working set of {beyond}.")


def _placement(served: ServedModel) -> str:
    gpus = f"{served.server} on {_counted(served.memory.tensor_parallel_degree, 'GPU')} a copy"
    if served.component is None:
        return gpus
    low, high = served.copies_min, served.copies_max
    copies = _counted(low, "copy", "copies") if low == high else f"{low} to {high} copies"
    return f"{gpus}, {copies}; an instance has room for {served.copies_per_instance}"


def _counted(count: int, one: str, many: str | None = None) -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def _bars(served: ServedModel, out: Console) -> None:
    memory, host = served.memory, served.host
    weights = memory.weight_bytes / memory.tensor_parallel_degree
    used = weights + memory.overhead_bytes_per_gpu + memory.kv_bytes_per_gpu
    _bar(
        out,
        f"each GPU  {memory.gpu_memory_bytes / GIB:6.0f} GiB",
        memory.gpu_memory_bytes,
        (
            ("weights", weights),
            ("overhead", memory.overhead_bytes_per_gpu),
            ("KV", memory.kv_bytes_per_gpu),
            ("", 0),
            ("not for the engine", max(0, memory.gpu_memory_bytes - used)),
        ),
    )
    tiers = {one.kind: one.bytes_per_instance for one in host.tiers}
    cpu, disk = tiers.get("cpu", 0), tiers.get("disk", 0)
    _bar(
        out,
        f"RAM       {host.memory_bytes / GIB:6.0f} GiB",
        host.memory_bytes,
        (
            ("weights staging", host.staging_bytes),
            ("system, processes", host.system_bytes + host.process_bytes),
            ("", 0),
            ("CPU tier", cpu),
            ("free", max(0, host.tier_pool_bytes - cpu)),
        ),
    )
    if host.nvme_bytes:
        free = max(0, host.nvme_bytes - host.nvme_weights_bytes - disk)
        _bar(
            out,
            f"NVMe      {host.nvme_bytes / GIB:6.0f} GiB",
            host.nvme_bytes,
            (("weights", host.nvme_weights_bytes), ("", 0), ("", 0), ("disk tier", disk), ("free", free)),
        )


def _bar(out: Console, label: str, whole: float, parts: tuple[tuple[str, float], ...]) -> None:
    bar, legend = Text(), Text()
    total = sum(size for _, size in parts)
    last = max(index for index, (_, size) in enumerate(parts) if size > 0)
    used = 0
    for index, ((name, size), (glyph, style)) in enumerate(zip(parts, _PIECES, strict=True)):
        cells = min(_BAR - used, max(1 if size > 0 else 0, round(size / whole * _BAR)))
        if index == last and total >= whole * 0.99:  # rounding must not leave a cell that belongs to no one
            cells = _BAR - used
        used += cells
        bar.append(glyph * cells, style=style)
        if name and size > 0:
            legend.append(f"  {glyph} ", style=style).append(f"{name} {format_bytes(size)}")
    bar.append(" " * (_BAR - used))
    if total > whole * 1.001:
        legend.append(f"  over by {format_bytes(total - whole)}", style="bold red")
    out.print(Text(f"  {label} [").append(bar).append("]"))
    out.print(Text("    ").append(legend))


def _derived(plan: Plan, out: Console) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 2))
    table.add_column("value", no_wrap=True)
    table.add_column("is", overflow="fold")
    table.add_column("because", overflow="fold")
    for one in plan.derived:
        table.add_row(escape(one.name), escape(one.value), escape(one.reason))
    out.print("\n[bold]Derived values[/bold]")
    out.print(table)
    for served in plan.models:
        who = f" of {served.component}" if served.component else ""
        out.print(f"\n[bold]Model environment[/bold]{who}")
        for key, value in served.environment.items():
            out.print(Text(f"  {key}={printable(value)}"))


def _quotas(plan: Plan, out: Console) -> None:
    out.print("\n[bold]Quotas[/bold] (Service Quotas, Amazon SageMaker)")
    for one in plan.quotas:
        counts = f"{one.steady} steady, {one.scaled_out} scaled out, {one.during_update} during an update"
        out.print(Text(f"  {one.name}: {counts}"))
        out.print(Text(f"    ({one.reason})"))


def _cost(plan: Plan, out: Console) -> None:
    cost = plan.cost
    out.print("\n[bold]Cost[/bold] (instances on demand; no storage, transfer or metrics)")
    rows = [("at the minimum", cost.min_usd_per_hour, cost.min_usd_per_month)]
    if plan.endpoint.instances_max > plan.endpoint.instances_min:
        rows.append(("at the maximum", cost.max_usd_per_hour, cost.max_usd_per_month))
    rows.append(("during an update", cost.update_usd_per_hour, None))
    for label, hour, month in rows:
        if hour is None:
            out.print("  not known: the catalog has no price for this instance type")
            return
        monthly = "" if month is None else f", {format_usd(month)} a month of 730 hours"
        out.print(Text(f"  {label:<17} {format_usd(hour)} an hour{monthly}"))
    price = Text(f"price: {cost.basis}" + (f", {cost.as_of}" if cost.as_of else ""))
    # The one line that is longer than many terminals are wide.
    for line in price.wrap(out, out.width - 2):
        line.rstrip()
        out.print(Text("  ") + line)
