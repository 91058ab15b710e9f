"""The lint's report as people read it: shares, reasons with their fixes, prefix lengths, groups."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from warmstack.cli.console import console
from warmstack.prompts import Candidate, Example, GroupReport, LintReport, Quantiles
from warmstack.spec import printable
from warmstack.units import format_bytes

_MOST_GROUPS = 10
_BAR = 16
_GOOD, _FAIR = 0.9, 0.6


def show_report(report: LintReport) -> None:
    """Print a report."""
    out = console()
    out.print(_head(report))
    if not report.requests:
        return
    out.print()
    out.print(_shares(report))
    _show_kinds(out, report)
    out.print()
    out.print(_candidates(report))
    out.print(_fit(report), style="dim")
    out.print()
    out.print(_groups(report))
    left = report.groups - min(_MOST_GROUPS, len(report.worst_groups))
    if left > 0:
        out.print(f"and {left:,} more groups, with fewer pairs that part", style="dim")


def _head(report: LintReport) -> Text:
    groups = f"{report.groups:,} {'group' if report.groups == 1 else 'groups'}"
    if report.conversations:
        groups += f" ({report.conversations:,} named as conversations)"
    head = f"{report.requests:,} requests, {format_bytes(report.request_bytes)}, in {groups}"
    if report.without_prompt:
        head += f"; {report.without_prompt:,} without a prompt left out"
    return Text(f"{head}; prefix_length {report.prefix_length}")


def _shares(report: LintReport) -> Table:
    table = Table(box=None, pad_edge=False, show_edge=False)
    for name in ("", "as sent", "canonical", ""):
        table.add_column(name, justify="right" if name else "left", no_wrap=bool(name))
    table.add_row(
        "stable share",
        _share(report.sent.stable_share),
        _share(report.canonical.stable_share),
        f"of {report.pairs:,} pairs of neighbours in a group: the first {report.prefix_length:,} bytes agree",
    )
    table.add_row(
        "between turns (D)",
        *(_quantile(one.between_turns, "p1") for one in (report.sent, report.canonical)),
        "bytes that turns of a conversation share, in 99 % of the pairs",
    )
    table.add_row(
        "between groups (S)",
        *(_quantile(one.between_groups, "p90") for one in (report.sent, report.canonical)),
        "bytes that the first requests of two groups share, at most in 90 %",
    )
    table.add_row(
        "under 1,024 bytes", f"{report.short_requests:,}", "", "requests that no prefix_length can keep together"
    )
    if report.not_json:
        table.add_row("not JSON", f"{report.not_json:,}", "", "requests without a canonical form")
    return table


def _show_kinds(out: Console, report: LintReport) -> None:
    if not report.kinds:
        return
    table = Table(box=None, pad_edge=False, show_edge=False, title="Why they part", title_justify="left")
    for name in ("as sent", "canonical"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("first at byte", justify="right", no_wrap=True)
    table.add_column("reason, example and fix", overflow="fold")
    for kind in report.kinds:
        worst = kind.worst
        text = Text(kind.kind.value, style="bold")
        if worst is not None:
            text.append(f" in {printable(worst.difference.path)}", style="not bold")
            text.append("\n").append_text(_example(worst)).append("\n")
            text.append(worst.fix, style="not bold green")
        offset = "" if worst is None else f"{worst.difference.offset:,}"
        table.add_row(f"{kind.pairs:,}", f"{kind.canonical_pairs:,}", offset, text)
    out.print()
    out.print(table)


def _example(example: Example) -> Text:
    difference = example.difference
    text = Text(style="not bold")
    for place, rest in ((example.first, difference.left), (example.second, difference.right)):
        text.append("\n" if text else "").append(f"{printable(place)}  ", style="dim")
        more = "…" if difference.lead_is_cut else ""
        text.append(f"{more}{printable(difference.lead)}").append(printable(rest), style="red")
    return text


def _candidates(report: LintReport) -> Table:
    table = Table(box=None, pad_edge=False, show_edge=False, title="Prefix lengths", title_justify="left")
    for name in ("bytes", "sticky", "prefixes", "largest", "canonical: sticky", "prefixes", "largest"):
        table.add_column(name, justify="right", no_wrap=True)
    for sent, ideal in zip(report.sent.candidates, report.canonical.candidates, strict=True):
        used = sent.length == report.prefix_length
        table.add_row(
            f"{'→ ' if used else ''}{sent.length:,}", *_cells(sent), *_cells(ideal), style="bold" if used else ""
        )
    return table


def _cells(one: Candidate) -> tuple[Text, str, Text]:
    return _share(one.sticky_share), f"{one.prefixes:,}{'+' if one.more_prefixes else ''}", _share(one.largest_share)


def _fit(report: LintReport) -> str:
    """Say whether the prefix length lies between S and D."""
    length, measure = report.prefix_length, report.sent
    turns, groups = measure.between_turns, measure.between_groups
    if turns is not None and turns.p1 < length:
        return f"prefix_length {length} is longer than what turns share (D): they part before it ends"
    if groups is not None and groups.p90 >= length:
        return f"prefix_length {length} does not tell groups apart (S): they go to the same instance"
    told = [] if groups is None else ["longer than what groups share (S)"]
    told += [] if turns is None else ["no longer than what turns share (D)"]
    if not told:
        return "sticky: adjacent requests that agree; largest: the share of the most frequent prefix, on one instance"
    return f"prefix_length {length} is {' and '.join(told)}"


def _groups(report: LintReport) -> Table:
    title = "Groups: the fewest bytes that two requests share, of prefix_length"
    table = Table(box=None, pad_edge=False, show_edge=False, title=title, title_justify="left")
    table.add_column("requests", justify="right", no_wrap=True)
    table.add_column("stable", justify="right", no_wrap=True)
    table.add_column("as sent", no_wrap=True)
    table.add_column("canonical", no_wrap=True)
    table.add_column("group", no_wrap=True, overflow="ellipsis")
    for group in report.worst_groups[:_MOST_GROUPS]:
        table.add_row(
            f"{group.requests:,}",
            _share(group.stable_pairs / group.pairs if group.pairs else None),
            _bar(group, group.least_shared_bytes, report.prefix_length),
            _bar(group, group.canonical_least_shared_bytes, report.prefix_length),
            escape(printable(group.name)),
        )
    return table


def _bar(group: GroupReport, shared: int | None, length: int) -> Text:
    if not group.pairs:
        return Text("–", style="dim")
    part = 1.0 if shared is None else min(1.0, shared / length)
    cells = round(part * _BAR) if part in (0, 1) else min(_BAR - 1, max(1, round(part * _BAR)))
    style = "green" if part == 1 else "yellow" if part >= _FAIR else "red"
    text = Text("█" * cells, style=style).append("░" * (_BAR - cells), style="dim")
    return text.append(" all" if shared is None else f" {shared:,}", style="default")


def _quantile(quantiles: Quantiles | None, name: str) -> str:
    if quantiles is None:
        return "–"
    value = int(getattr(quantiles, name))
    return f"{value:,}"


def _share(share: float | None) -> Text:
    if share is None:
        return Text("–", style="dim")
    # Guard: rounding must not make 100 % of less.
    percent = min(share * 100, 99.9) if share < 1 else 100.0
    return Text(f"{percent:.1f} %")
