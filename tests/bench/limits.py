"""How large a preview may be: recorded runs under many pairs of limits, each source left out in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from rich.console import Console

from accp_adapters.cli.output.terminal_tables import percent, plain_table
from accp_adapters.policy import Policy
from accp_adapters.replay import Comparison, Report, StrategyName, replay
from tests.bench.data import recorded_runs

__all__ = ["main"]

PAIRS: Final = (
    (3_000, 2_000), (3_000, 1_500), (3_000, 1_000), (2_500, 1_500), (2_500, 1_250), (2_500, 1_000), (2_000, 1_500),
    (2_000, 1_250), (2_000, 1_000), (1_500, 1_000), (1_000, 700), (800, 600), (700, 500), (600, 500), (600, 400),
    (500, 400), (400, 300),
)  # fmt: skip
"""Tokens from which a result becomes a preview, and those of the preview."""
_Share = tuple[float, float]
LEAST_VISIBLE: Final = {"the default policy": 0.99, "Policy.tight()": 0.95}
"""The share of needed values that a policy shows over all sources but the one that is left out."""


def main(data: Path | None, console: Console) -> None:
    """Print a line for each pair of limits, or that there is no data; it takes a quarter of a minute each."""
    if data is None:
        console.print("limits: skipped, no data folder (set ACCP_DATA)")
        return
    runs, _ = recorded_runs(data)
    recorded = [replay(run, StrategyName.AS_RECORDED) for run in runs]
    reports = {}
    for inline, preview in PAIRS:
        policy = Policy(inline_limit=inline, preview_limit=preview)
        pairs = ((before, replay(run, policy)) for before, run in zip(recorded, runs, strict=True))
        reports[f"{inline:,} : {preview:,}"] = Report.of(pairs, keep_runs=0)
    lines = [(name, *_line(report)) for name, report in reports.items()]
    columns = ("over : preview", "prompt %", "cost %", "visible %", "strictly %", "fetched", "reachable %")
    without = ("without one: prompt %", "cost %", "visible %", "strictly %")
    console.print(plain_table("3a. limits; the last four with the worst choice left out", (*columns, *without), lines))
    sources = sorted(_sources(next(iter(reports.values()))))
    shown = [(name, *_visible_by_source(report, sources)) for name, report in reports.items()]
    console.print(
        plain_table("3b. needed values visible by source, %", ("over : preview", *map(_stem, sources)), shown)
    )
    for name, least in LEAST_VISIBLE.items():
        chosen = [_chosen(reports, source, least) for source in sources]
        title = f"3c. limits for {name}, chosen by the cost with fetches on all sources but one, and shown on that one"
        console.print(plain_table(title, ("left out", "over : preview", "cost with fetches %", "visible %"), chosen))


def _sources(report: Report) -> dict[str, Comparison]:
    return {row.name: row for row in report.by_source()}


def _stem(source: str) -> str:
    return Path(source).stem


def _visible_by_source(report: Report, sources: Iterable[str]) -> list[str]:
    return [percent(*_visible(_sources(report)[source])) for source in sources]


def _chosen(reports: Mapping[str, Report], left_out: str, least: float) -> tuple[str, ...]:
    """Return the cheapest limits that show enough of what is needed on the other sources, and what they do on this."""
    others = {name: _without(report, left_out) for name, report in reports.items()}
    others = {name: row for name, row in others.items() if row.after.visible >= least * row.after.needed}
    if not others:
        return _stem(left_out), "none shows enough", "", ""
    name = min(others, key=lambda each: others[each].after.fetch_cost)
    row = _sources(reports[name])[left_out]
    return _stem(left_out), name, percent(row.after.fetch_cost, row.before.cost), percent(*_visible(row))


def _without(report: Report, source: str) -> Comparison:
    return next(row for row in report.without_each_source() if row.name == source)


def _line(report: Report) -> tuple[str, ...]:
    total, others = report.total(), report.without_each_source()
    before, after = total.before, total.after
    fetched = f"{percent(after.fetch_prompt, before.prompt)} / {percent(after.fetch_cost, before.cost)}"
    return (
        *map(percent, *zip(_prompt(total), _cost(total), _visible(total), _strict(total), strict=True)),
        fetched,
        percent(after.reachable, after.needed),
        _extreme(max, others, _prompt),
        _extreme(max, others, _cost),
        _extreme(min, others, _visible),
        _extreme(min, others, _strict),
    )


def _extreme(worst: Callable[..., _Share], rows: Iterable[Comparison], share: Callable[[Comparison], _Share]) -> str:
    part, whole = worst(map(share, rows), key=lambda each: each[0] / each[1] if each[1] else 1.0)
    return percent(part, whole)


def _prompt(row: Comparison) -> _Share:
    return row.after.prompt, row.before.prompt


def _cost(row: Comparison) -> _Share:
    return row.after.cost, row.before.cost


def _visible(row: Comparison) -> _Share:
    return row.after.visible, row.after.needed


def _strict(row: Comparison) -> _Share:
    return row.after.mentioned_visible, row.after.mentioned
