"""The report of a replay as comma-separated values: a line for each run and policy."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Final

from accp_adapters.replay.prices import Prices
from accp_adapters.replay.report import Comparison, Report

__all__ = ["csv_text"]

_COLUMNS: Final = (
    "run policy calls tokens_before tokens_after cost_before cost_after needed visible reachable mentioned"
    " mentioned_visible fetch_tokens fetch_cost"
)
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def csv_text(reports: Sequence[Report], prices: Prices | None = None) -> str:
    """Return a header and a line for each run that the reports kept, under each policy.

    Args:
        reports: One for each policy.
        prices: Adds what the calls cost in money; None: nothing is added.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_COLUMNS.split(" "), *(("money_before", "money_after") if prices else ())])
    for report in reports:
        writer.writerows(_row(run.total, report.strategy, prices) for run in report.runs)
    return text.getvalue()


def _row(run: Comparison, policy: str, prices: Prices | None) -> list[object]:
    return list(_cells(run, policy, prices))


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
