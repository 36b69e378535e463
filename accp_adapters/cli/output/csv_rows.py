"""The report of a replay as comma-separated values: a line for each run and policy."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from accp_adapters.cli.output.run_rows import RunRows
from accp_adapters.replay.prices import Prices
from accp_adapters.replay.report import Comparison, Report

__all__ = ["csv_pieces", "csv_rows"]

_COLUMNS: Final = (
    "run policy calls tokens_before tokens_after cost_before cost_after needed visible reachable mentioned"
    " mentioned_visible fetch_tokens fetch_cost"
)
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def csv_rows(prices: Prices | None = None) -> RunRows:
    """Return a place for the lines of runs; with `prices`, they say what the calls cost in money."""
    return RunRows(lambda run, policy: _line(_cells(run.total, policy, prices)))


def csv_pieces(reports: Sequence[Report], rows: RunRows, prices: Prices | None = None) -> Iterator[str]:
    """Yield a header and the lines of the runs under each policy, which `rows` holds."""
    yield _line([*_COLUMNS.split(" "), *(("money_before", "money_after") if prices else ())])
    for report in reports:
        yield from rows.of(report.strategy)


def _line(cells: Iterable[object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _cells(run: Comparison, policy: str, prices: Prices | None) -> Iterator[object]:
    before, after = run.before, run.after
    yield from (_name(run.name), policy, after.calls, before.prompt, after.prompt)
    yield from (round(before.cost, 2), round(after.cost, 2), after.needed, after.visible, after.reachable)
    yield from (after.mentioned, after.mentioned_visible, after.fetch_prompt, round(after.fetch_cost, 2))
    if prices:
        yield from (round(prices.of(before), 6), round(prices.of(after), 6))


def _name(name: str) -> str:
    """Return a name that a spreadsheet does not take for a formula."""
    return f"'{name}" if name.startswith(_FORMULA) else name
