"""Table 3: recorded runs replayed, in percent of the runs as recorded."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Final

from rich.console import Console, RenderableType

from accp_adapters.inspector.tables import percent, plain_table
from accp_adapters.replay import Comparison, Report, StrategyName, read_runs, replay_all

__all__ = ["main"]

STRATEGIES: Final = {
    StrategyName.COMPACT: "baseline: JSON results as compact JSON",
    StrategyName.LOSSLESS: "Policy.lossless(): views, and markers for repeated lines; nothing left out",
    StrategyName.DEFAULT: "default policy: results of over 3,000 tokens as previews of 2,000",
    StrategyName.TIGHT: "Policy.tight(): results of over 600 tokens as previews of 400",
}


def main(data: Path | None, console: Console) -> None:
    """Print a table for each strategy, or that there is no data."""
    if data is None:
        console.print("recorded runs: skipped, no data folder (set ACCP_DATA)")
        return
    paths = sorted((data / "trajectories").glob("*.jsonl"))
    runs = [run for path in paths for run in read_runs(path)]
    with_calls = [run for run in runs if run.calls]
    replays = list(replay_all(with_calls, (StrategyName.AS_RECORDED, *STRATEGIES)))
    console.print(
        f"3. recorded runs: {len(with_calls)} with model calls (the other {len(runs) - len(with_calls)} are documented "
        "messages), in % of the text as recorded\n"
    )
    for column, title in enumerate(STRATEGIES.values(), 1):
        report = Report.of((replay[0], replay[column]) for replay in replays)
        console.print(_table(title, [*report.by_source(), report.total()]))


def _table(title: str, rows: list[Comparison]) -> RenderableType:
    columns = ("", "calls", "prompt %", "cost %", "visible %", "reachable %", "costlier %", "larger", "fetched")
    return plain_table(f"   {title}", columns, map(_line, rows))


def _line(row: Comparison) -> tuple[str, ...]:
    before, after = row.before, row.after
    fetched = f"{percent(after.fetch_prompt, before.prompt)} / {percent(after.fetch_cost, before.cost)}"
    return (
        PurePath(row.name).stem,
        f"{after.calls:,}",
        percent(after.prompt, before.prompt),
        percent(after.cost, before.cost),
        percent(after.visible, after.needed),
        percent(after.reachable, after.needed),
        percent(row.costlier_runs, row.runs),
        f"{row.larger_messages:,}",
        fetched,
    )
