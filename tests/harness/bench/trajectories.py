"""Table 3: recorded runs replayed, in percent of the runs as recorded."""

from pathlib import Path, PurePath
from typing import Final

from rich.console import Console, RenderableType

from accp_adapters.cli.tables import percent, plain_table
from accp_adapters.replay import Comparison, Report, Run, StrategyName, replay_all
from tests.harness.bench.data import committed_runs, recorded_runs

__all__ = ["main"]

STRATEGIES: Final = {
    StrategyName.COMPACT: "baseline: JSON results as compact JSON",
    StrategyName.LOSSLESS: "Policy.lossless(): views, and markers for repeated lines; nothing left out",
    StrategyName.DEFAULT: "default policy: results of over 2,500 tokens as previews of 1,000",
}


def main(data: Path | None, console: Console) -> None:
    """Print a table for each strategy; without the data folder, of the sessions that the repository holds only."""
    sessions = committed_runs("swe_agent")
    _print(f"3c. {len(sessions)} sessions of coding agents (tests/harness/bench/corpora)", sessions, console)
    if data is None:
        console.print("recorded runs: skipped, no data folder (set ACCP_DATA)")
        return
    runs, documented = recorded_runs(data)
    title = f"3. recorded runs: {len(runs)} with model calls (the other {documented} are documented messages)"
    _print(title, runs, console)


def _print(title: str, runs: list[Run], console: Console) -> None:
    replays = list(replay_all(runs, (StrategyName.AS_RECORDED, *STRATEGIES)))
    console.print(f"{title}, in % of the text as recorded\n")
    for column, title in enumerate(STRATEGIES.values(), 1):
        report = Report.of((replay[0], replay[column]) for replay in replays)
        console.print(_table(title, [*report.by_source(), report.total()]))
        console.print(f"   lowest visible: {_lowest(report.by_source())}\n", highlight=False)


def _table(title: str, rows: list[Comparison]) -> RenderableType:
    columns = ("", "calls", "prompt", "cost", "visible", "reachable", "costlier")
    return plain_table(f"   {title}", (*columns, "larger"), map(_line, rows))


def _lowest(rows: list[Comparison]) -> str:
    """Return the source with the lowest share of visible values."""
    lowest = min(rows, key=lambda row: row.after.visible / row.after.needed if row.after.needed else 1.0)
    return f"{percent(lowest.after.visible, lowest.after.needed)} in {PurePath(lowest.name).stem}"


def _line(row: Comparison) -> tuple[str, ...]:
    before, after = row.before, row.after
    return (
        PurePath(row.name).stem,
        f"{after.calls:,}",
        percent(after.prompt, before.prompt),
        percent(after.cost, before.cost),
        percent(after.visible, after.needed),
        percent(after.reachable, after.needed),
        percent(row.costlier_runs, row.runs),
        f"{row.larger_messages:,}",
    )
