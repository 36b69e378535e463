"""Tables for a terminal of 80 columns: the report of a replay, and the plain table that all figures are printed in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from accp_adapters.cli.sources import printable
from accp_adapters.replay.prices import Prices
from accp_adapters.replay.report import Comparison, LargestMessage, Report, ToolTotals, Totals, totals

__all__ = ["cost_table", "percent", "plain_table", "print_policies", "print_report", "readable_table"]

_FETCHED: Final = "fetched: in % of as recorded if every needed value that is not visible were fetched, an estimate"
_MAX_PATH: Final = 24
_MAX_ROWS: Final = 12
"""Rows of the tables of agents and tools."""


def print_report(report: Report, console: Console) -> None:
    """Print a report: what was sent, what stayed readable, agents, tools and the largest messages."""
    total = report.total()
    sources = report.by_source()
    rows = [*sources, total] if len(sources) > 1 else [total]
    costs = [(_file_name(row.name), row.before, row.after) for row in rows]
    console.print(cost_table(f"prompts of all model calls, policy {report.strategy}", costs))
    console.print(readable_table("what stayed readable", rows))
    if total.runs == 1:
        # The calls of several runs would be a long list; `--json` has them.
        console.print(cost_table("model calls", _call_rows(report)))
    agents = report.by_agent()
    console.print(cost_table(_title("agents", len(agents)), agents[:_MAX_ROWS]))
    console.print(_tool_table(report.by_tool()))
    console.print(_largest_table("largest messages as recorded", report.largest_recorded()))
    console.print(_largest_table("largest messages as sent", report.largest_sent()))


def print_policies(reports: Sequence[Report], prices: Prices | None, console: Console) -> None:
    """Print the totals of several policies side by side, each compared with the runs as recorded."""
    totals_of = [(report.strategy, report.total()) for report in reports]
    rows = [(name, total.before, total.after) for name, total in totals_of]
    console.print(cost_table("prompts of all model calls", rows))
    if prices:
        columns = ("money", "as recorded", "with us", "%")
        console.print(plain_table("what the calls cost, output included", columns, _money_rows(rows, prices)))
    console.print(readable_table("what stayed readable", (replace(total, name=name) for name, total in totals_of)))


def _money_rows(rows: Sequence[tuple[str, Totals, Totals]], prices: Prices) -> Iterator[tuple[str, ...]]:
    for name, before, after in rows:
        old, new = prices.of(before), prices.of(after)
        yield name, f"{old:,.4f}", f"{new:,.4f}", percent(new, old)


def percent(part: float, whole: float) -> str:
    """Return `part` in percent of `whole` with one decimal, a dash where `whole` is 0."""
    return f"{100 * part / whole:.1f}" if whole else "-"


def plain_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = ""
) -> RenderableType:
    """Return a table of names and numbers.

    Args:
        title: The line above the table.
        columns: The heading of each column.
        rows: The cells of each row. The first is a name, which is cut where the terminal is narrow; the others are
            numbers, which never are.
        caption: The line below the table; empty: none.
    """
    cells = [tuple(map(printable, row)) for row in rows]
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column(columns[0], overflow="ellipsis", no_wrap=True)
    for index, name in enumerate(columns[1:], 1):
        width = max(len(name), *(len(row[index]) for row in cells), 0)
        table.add_column(name, justify="right", no_wrap=True, min_width=width)
    for row in cells:
        table.add_row(*map(Text, row))
    # Not rich's own title, which would wrap at the width of the table.
    return Group(Text(title, style="bold"), table, *([Text(f"{caption}\n")] if caption else []))


def cost_table(title: str, rows: Iterable[tuple[str, Totals, Totals]]) -> RenderableType:
    """Return the table of tokens and costs, as recorded, with the middleware and with all fetches, of each row."""
    columns = ("", "tokens", "with us", "%", "fetched", "cost", "with us", "%", "fetched")
    cells = [(name, *_cost_cells(before, after)) for name, before, after in rows]
    return plain_table(title, columns, cells, caption=_FETCHED)


def readable_table(title: str, rows: Iterable[Comparison]) -> RenderableType:
    """Return the table of what each comparison left readable and what it made worse."""
    shown = list(rows)
    columns = ("", "runs", "calls", "needed", "visible %", "reachable %", "strictly %", "costlier", "larger")
    caption = (
        "needed: values that a model went on to use; reachable: visible, or in the answer of one fetch that asks for "
        "the value; strictly: visible, names and short numbers counted, too; costlier: runs by over 1 %; larger: "
        f"messages{_lowest(shown)}"
    )
    cells = [(_file_name(row.name), *_readable_cells(row)) for row in shown]
    return plain_table(title, columns, cells, caption=caption)


def _cost_cells(before: Totals, after: Totals) -> tuple[str, ...]:
    return (
        f"{before.prompt:,}",
        f"{after.prompt:,}",
        percent(after.prompt, before.prompt),
        percent(after.fetch_prompt, before.prompt),
        f"{before.cost:,.0f}",
        f"{after.cost:,.0f}",
        percent(after.cost, before.cost),
        percent(after.fetch_cost, before.cost),
    )


def _readable_cells(row: Comparison) -> tuple[str, ...]:
    after = row.after
    return (
        f"{row.runs:,}",
        f"{after.calls:,}",
        f"{after.needed:,}",
        percent(after.visible, after.needed),
        percent(after.reachable, after.needed),
        percent(after.mentioned_visible, after.mentioned),
        f"{row.costlier_runs:,}",
        f"{row.larger_messages:,}",
    )


def _call_rows(report: Report) -> list[tuple[str, Totals, Totals]]:
    return [
        (f"{number} {before.agent}", totals([before]), totals([after]))
        for number, (before, after) in enumerate(report.calls(), 1)
    ]


def _lowest(rows: Sequence[Comparison]) -> str:
    """Return which of several rows has the lowest share of visible values, empty where each has all."""
    hiding = [row for row in rows if row.after.visible < row.after.needed]
    if len(rows) < 2 or not hiding:
        return ""
    lowest = min(hiding, key=lambda row: row.after.visible / row.after.needed)
    return f"; lowest visible: {percent(lowest.after.visible, lowest.after.needed)} in {_file_name(lowest.name)}"


def _tool_table(rows: Sequence[ToolTotals]) -> RenderableType:
    title = _title("results of tools, and messages of agents to others", len(rows))
    columns = ("", "messages", "tokens", "%", "in prompts", "with us", "%")
    return plain_table(title, columns, [(row.name, *_tool_cells(row)) for row in rows[:_MAX_ROWS]])


def _tool_cells(row: ToolTotals) -> tuple[str, ...]:
    return (
        f"{row.messages:,}",
        f"{row.recorded:,}",
        percent(row.sent, row.recorded),
        f"{row.recorded_in_prompts:,}",
        f"{row.sent_in_prompts:,}",
        percent(row.sent_in_prompts, row.recorded_in_prompts),
    )


def _largest_table(title: str, rows: Iterable[LargestMessage]) -> RenderableType:
    return plain_table(title, ("begins", "from", "run", "tokens", "with us", "%"), map(_largest_cells, rows))


def _largest_cells(row: LargestMessage) -> tuple[str, ...]:
    message = row.message
    return (
        message.preview[:34],
        (message.tool or message.sender)[:16],
        f"{_shortened(row.run)} #{message.position}",
        f"{message.recorded:,}",
        f"{message.sent:,}",
        percent(message.sent, message.recorded),
    )


def _shortened(path: str) -> str:
    """Return a path of at most 24 characters: its beginning, which says where, and its end, which says what."""
    return path if len(path) <= _MAX_PATH else f"{path[:7]}…{path[8 - _MAX_PATH :]}"


def _file_name(source: str) -> str:
    return PurePath(source).name


def _title(title: str, rows: int) -> str:
    return f"{title} ({_MAX_ROWS} of {rows})" if rows > _MAX_ROWS else title
