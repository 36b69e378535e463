"""Each run as a dot and as a list of its calls, within bounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from accp_adapters.inspector.page.bars import WIDTH, Bar, add_contents, make_bar
from accp_adapters.inspector.page.plain_text import shorten
from accp_adapters.replay.contents.kinds import Contents
from accp_adapters.replay.replay import CallFigures
from accp_adapters.replay.report import Report, RunComparison

__all__ = ["MAX_SHOWN_RUNS", "CallRow", "Dot", "Dots", "RunRow", "contents_of_runs", "dots_of", "run_name", "run_rows"]

MAX_SHOWN_RUNS: Final = 400
"""Runs that are shown one by one, besides the costliest ones."""
_MAX_CALLS: Final = 60
"""Calls of one run that are shown one by one."""
_MAX_ALL_CALLS: Final = 2_000
"""Calls of all runs that are."""
_MAX_NAME: Final = 60
_DOT: Final = 12
"""Units that a dot takes in each direction."""
_MAX_HEIGHT: Final = 260
_MARGIN: Final = 24
_SAME: Final = 100
"""Percent: a run that costs as much as before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRow:
    """One model call."""

    number: int
    """Its place in the run, from 1."""
    agent: str
    """Who made it."""
    before: CallFigures
    """As recorded."""
    after: CallFigures
    """Under the policy."""
    bars: tuple[Bar, Bar]
    """Its prompt as recorded and under the policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One run."""

    anchor: str
    """Its id in the page."""
    name: str
    """Its name, shortened."""
    run: RunComparison
    """Its figures."""
    percent: float
    """What it costs under the policy, in percent of what it cost."""
    mood: str
    """"costlier", "cheaper" or "same"."""
    calls: tuple[CallRow, ...]
    """Its first calls."""
    hidden_calls: int
    """Calls that are not shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """One run in the chart of runs."""

    row: RunRow
    """The run."""
    x: float
    """Its cost under the policy; see `Dots`."""
    y: float
    """Only so that no dot hides another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dots:
    """The chart of runs: to the left cheaper, to the right costlier."""

    dots: tuple[Dot, ...]
    """A dot for each run."""
    height: float
    """Units of the chart."""
    ticks: tuple[tuple[int, float], ...]
    """Percent of the cost as recorded, and where it is."""
    same: float
    """Where a run is that costs as much as before."""


def run_rows(report: Report) -> list[RunRow]:
    """Return the runs that the report kept, the costliest first, with as many of their calls as there is room for."""
    first = report.runs[:MAX_SHOWN_RUNS]
    known = {id(run) for run in first}
    runs = [*first, *(run for run in report.costliest if id(run) not in known)]
    rows = []
    room = _MAX_ALL_CALLS
    for number, run in enumerate(sorted(runs, key=lambda run: -_percent(run)), 1):
        row = _row(number, run, min(room, _MAX_CALLS))
        room -= len(row.calls)
        rows.append(row)
    return rows


def dots_of(rows: Sequence[RunRow]) -> Dots:
    """Return the chart of `rows`."""
    low = min([row.percent for row in rows] + [_SAME]) // 10 * 10
    high = max(min(max([row.percent for row in rows], default=0), 2 * _SAME), _SAME) + 5
    scale = (WIDTH - 2 * _MARGIN) / (high - low)
    columns: Counter[int] = Counter()
    places = []
    for row in rows:
        x = _MARGIN + (min(row.percent, high) - low) * scale
        places.append((row, x, columns[int(x // _DOT)]))
        columns[int(x // _DOT)] += 1
    tallest = max(columns.values(), default=1)
    step = min(_DOT, _MAX_HEIGHT / tallest)
    height = step * tallest + 2 * _MARGIN
    ticks = range(int(low), int(high) + 1, 10 if high - low <= _SAME else 20)
    return Dots(
        dots=tuple(Dot(row=row, x=round(x, 1), y=round(height - _MARGIN - y * step, 1)) for row, x, y in places),
        height=round(height, 1),
        ticks=tuple((tick, round(_MARGIN + (tick - low) * scale, 1)) for tick in ticks),
        same=round(_MARGIN + (_SAME - low) * scale, 1),
    )


def contents_of_runs(rows: Iterable[RunComparison], side: int) -> tuple[Contents, int]:
    """Return the tokens of the kept runs by what they hold, and the cached ones; `side` 0: as recorded, 1: after."""
    whole, cached = Contents(), 0
    for call in (pair[side] for run in rows for pair in run.calls):
        whole = add_contents(whole, call.contents)
        cached += call.charge.cached
    return whole, cached


def _row(number: int, run: RunComparison, max_calls: int) -> RunRow:
    shown = run.calls[:max_calls]
    longest = max((call.charge.tokens for pair in shown for call in pair), default=0)
    percent = _percent(run)
    return RunRow(
        anchor=f"run-{number}",
        name=shorten(run_name(run.total.name), _MAX_NAME),
        run=run,
        percent=percent,
        mood="costlier" if run.total.costlier_runs else "cheaper" if run.total.cheaper_runs else "same",
        calls=tuple(_call(at, pair, longest) for at, pair in enumerate(shown, 1)),
        hidden_calls=len(run.calls) - len(shown),
    )


def _call(number: int, pair: tuple[CallFigures, CallFigures], longest: int) -> CallRow:
    before, after = (make_bar(call.contents, call.charge.cached, longest) for call in pair)
    agent = shorten(pair[0].agent, _MAX_NAME // 2)
    return CallRow(number=number, agent=agent, before=pair[0], after=pair[1], bars=(before, after))


def run_name(name: str) -> str:
    """Return the name of a run without the folders of its file."""
    return name.rpartition("/")[2] or name


def _percent(run: RunComparison) -> float:
    before = run.total.before.cost
    return 100 * run.total.after.cost / before if before else float(_SAME)
