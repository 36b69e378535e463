"""The tables of a run of tasks for a terminal."""

from __future__ import annotations

from typing import Final

from rich.console import Console

from accp_adapters.cli.output.terminal_tables import percent, plain_table
from accp_adapters.evaluation.report import ArmFigures, Report
from accp_adapters.replay.prices import Prices
from accp_adapters.statistics import Difference

__all__ = ["print_tasks"]

_MAX_TASKS: Final = 60
"""Tasks up to which each has a row of its own."""
_MAX_NAME: Final = 60
_COLUMNS: Final = (
    *("arm", "right", "points", "95 % from", "to", "chance", "calls", "%", "fetches"),
    *("prompt tokens", "%", "cost", "%", "from", "to", "output"),
)


def print_tasks(report: Report, console: Console, prices: Prices | None = None) -> None:
    """Print what came out in each arm, by kind and, of few tasks, of each one.

    Args:
        report: The figures.
        console: Where to print.
        prices: Prices of a million tokens; None: no column of money.
    """
    rows = [_arm_row(arm, report.arms[0]) for arm in report.arms]
    if prices:
        rows = [[*row, f"{arm.money(prices):.2f}"] for row, arm in zip(rows, report.arms, strict=True)]
    missing = f" {report.missing} were not begun, because the limit was reached." if report.missing else ""
    caption = f"Percent of the first arm. Cost: tokens of prompts weighted by a prompt cache.{missing}"
    title = f"tasks: {report.model}" + (" (not run with a model)" if report.model in ("solver", "scripted") else "")
    columns = [*_COLUMNS, *(["money"] if prices else [])]
    console.print(plain_table(title, columns, rows, caption=caption))
    names = [arm.arm for arm in report.arms]
    by_kind = [[kind, *(_share(arms.get(name)) for name in names)] for kind, arms in report.by_kind.items()]
    console.print(plain_table("right by kind", ["kind", *names], by_kind))
    if len(report.by_task) <= _MAX_TASKS:
        by_task = [
            [_shortened(task), *(_cell(arms.get(name)) for name in names)] for task, arms in report.by_task.items()
        ]
        console.print(plain_table("model calls and prompt tokens by task, ✗ where wrong", ["task", *names], by_task))


def _arm_row(arm: ArmFigures, first: ArmFigures) -> list[str]:
    chance = "-" if arm.chance is None else f"{arm.chance:.2f}"
    calls = [f"{arm.calls:,}", percent(arm.calls, first.calls), f"{arm.fetches:,}"]
    tokens = [f"{arm.tokens:,}", percent(arm.tokens, first.tokens)]
    cost = [f"{arm.cost:,.0f}", percent(arm.cost, first.cost), *_interval(arm.cost_difference)[1:], f"{arm.output:,}"]
    return [arm.arm, f"{arm.right}/{arm.tasks}", *_interval(arm.difference), chance, *calls, *tokens, *cost]


def _interval(found: Difference | None) -> list[str]:
    return [f"{each:+.1f}" for each in (found.points, found.low, found.high)] if found else ["-"] * 3


def _shortened(name: str) -> str:
    return name if len(name) <= _MAX_NAME else f"{name[: _MAX_NAME - 1]}…"


def _share(figures: ArmFigures | None) -> str:
    return f"{figures.right}/{figures.tasks}" if figures else "-"


def _cell(figures: ArmFigures | None) -> str:
    if figures is None:
        return "-"
    return f"{figures.calls} {figures.tokens:,}{'' if figures.right else ' ✗'}"
