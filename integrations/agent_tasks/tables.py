"""The tables of a run of tasks for a terminal."""

from __future__ import annotations

from rich.console import Console

from accp_adapters.cli.output.terminal_tables import percent, plain_table
from accp_adapters.replay.prices import Prices
from integrations.agent_tasks.report import ArmFigures, TaskReport

__all__ = ["print_tasks"]


def print_tasks(report: TaskReport, console: Console, prices: Prices | None = None) -> None:
    """Print what came out in each arm, and of each task in each arm.

    Args:
        report: The figures.
        console: Where to print.
        prices: Prices of a million tokens; None: no column of money.
    """
    columns = ["arm", "right", "points", "95 % from", "to", "calls", "%", "fetches", "prompt tokens", "%", "cost", "%"]
    rows = [_arm_row(arm, report.arms[0]) for arm in report.arms]
    if prices:
        columns.append("money")
        rows = [[*row, f"{arm.money(prices):.2f}"] for row, arm in zip(rows, report.arms, strict=True)]
    missing = f" {report.missing} were not begun, because the limit was reached." if report.missing else ""
    caption = f"Percent of the first arm. Cost: tokens of prompts weighted by a prompt cache.{missing}"
    console.print(plain_table("tasks", columns, rows, caption=caption))
    names = [arm.arm for arm in report.arms]
    by_task = [[task, *(_cell(arms.get(name)) for name in names)] for task, arms in report.by_task.items()]
    console.print(plain_table("model calls and prompt tokens by task, ✗ where wrong", ["task", *names], by_task))


def _arm_row(arm: ArmFigures, first: ArmFigures) -> list[str]:
    gap = arm.difference
    points = [f"{gap.points:+.1f}", f"{gap.low:+.1f}", f"{gap.high:+.1f}"] if gap else ["-"] * 3
    calls = [f"{arm.calls:,}", percent(arm.calls, first.calls), f"{arm.fetches:,}"]
    tokens = [f"{arm.tokens:,}", percent(arm.tokens, first.tokens), f"{arm.cost:,.0f}", percent(arm.cost, first.cost)]
    return [arm.arm, f"{arm.right}/{arm.tasks}", *points, *calls, *tokens]


def _cell(figures: ArmFigures | None) -> str:
    if figures is None:
        return "-"
    return f"{figures.calls} {figures.tokens:,}{'' if figures.right else ' ✗'}"
