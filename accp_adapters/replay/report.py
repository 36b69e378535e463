"""The sums of replays: a strategy compared with the runs as recorded, by file, tool and run, and in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final, TypeVar

from accp_adapters.replay.replay import CallFigures, MessageFigures, Replay

__all__ = ["COSTLIER", "Comparison", "Report", "RunComparison", "ToolTotals", "Totals", "totals"]

COSTLIER: Final = 1.01
"""A run counts as costlier when its cost rises by more than 1 %."""
_MAX_NAMES: Final = 10_000
"""Tools and files that a report tells apart; a log may name a new one in every record."""
_OTHERS: Final = "(others)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The sum over some model calls."""

    calls: int
    """Model calls."""
    prompt: int
    """Tokens of all prompts."""
    cost: float
    """The same as a provider with a prompt cache charges them: 1.0 is one token at the list price."""
    needed: int
    """Values that outputs needed from tools and other agents."""
    visible: int
    """Needed values that are visible in the prompt."""
    reachable: int
    """Those that are visible or one fetch away."""
    unasked: int
    """Those that no fetch was made for, see `CallFigures`."""
    queries: float
    """What fetching the others would cost, see `CallFigures`; it is not in `cost`."""
    unanswered: int
    """Calls whose answers are not recorded, so that what they needed is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTotals:
    """The sums of one tool's results, or of one agent's messages to others; in tokens."""

    name: str
    """The name of the tool, or "agent " and the name of the agent."""
    messages: int
    """The number of messages."""
    unchanged: int
    """Those that are sent as recorded."""
    recorded: int
    """Tokens as recorded, each message counted once."""
    sent: int
    """The same under the strategy."""
    recorded_in_prompts: int
    """Tokens as recorded, each message counted in every prompt that holds it."""
    sent_in_prompts: int
    """The same under the strategy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The same calls as recorded and under a strategy."""

    name: str
    """What was summed: a file, a run, or "total"."""
    runs: int
    """The number of runs."""
    before: Totals
    """As recorded."""
    after: Totals
    """Under the strategy."""
    costlier_runs: int
    """Runs whose cost rises by more than 1 %."""
    larger_messages: int
    """Messages that take more tokens than as recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison:
    """One run, as recorded and under a strategy."""

    total: Comparison
    """The sum over its calls."""
    before: Replay
    """As recorded."""
    after: Replay
    """Under the strategy."""

    @property
    def calls(self) -> list[tuple[CallFigures, CallFigures]]:
        """Each model call, as recorded and under the strategy."""
        return list(zip(self.before.calls, self.after.calls, strict=True))

    def to_json(self) -> dict[str, Any]:
        """Return the sum and the charge of each call as a JSON value."""
        rows = [{"agent": b.agent, "before": asdict(b.charge), "after": asdict(a.charge)} for b, a in self.calls]
        return asdict(self.total) | {"calls": rows}


class Report:
    """The sums of runs that were each replayed as recorded and under one strategy."""

    def __init__(self, *, keep_runs: int | None = None) -> None:
        """Start without a run.

        Args:
            keep_runs: How many runs are kept one by one in `runs`; None: all of them.
        """
        self.strategy = ""
        """The name of the strategy."""
        self.runs: list[RunComparison] = []
        """The first runs, one by one."""
        self._keep_runs = keep_runs
        self._sources: dict[str, Comparison] = {}
        self._tools: dict[str, ToolTotals] = {}
        self._kept = Counter[str]()

    @classmethod
    def of(cls, pairs: Iterable[tuple[Replay, Replay]], *, keep_runs: int | None = None) -> Report:
        """Return the report of runs that were each replayed as recorded and under one strategy."""
        report = cls(keep_runs=keep_runs)
        for before, after in pairs:
            report.add(before, after)
        return report

    def add(self, before: Replay, after: Replay) -> RunComparison:
        """Add one run, as recorded and under the strategy, and return it compared."""
        self.strategy = after.strategy
        compared = _compare(before, after)
        run = RunComparison(total=compared, before=before, after=after)
        if self._keep_runs is None or len(self.runs) < self._keep_runs:
            self.runs.append(run)
        source = _room_for(before.source, self._sources)
        self._sources[source] = _add(self._sources.get(source), replace(compared, name=source))
        for message in after.messages:
            name = _room_for(message.tool or f"agent {message.sender}", self._tools)
            self._kept.update([message.kept or f"of {name}"] if message.unchanged and message.tool else [])
            self._tools[name] = _add(self._tools.get(name), _tool_totals(name, message))
        return run

    def total(self, name: str = "total") -> Comparison:
        """Return the sum over all runs, under a name."""
        nothing = totals(())
        whole = Comparison(name=name, runs=0, before=nothing, after=nothing, costlier_runs=0, larger_messages=0)
        for row in self._sources.values():
            whole = _add(whole, replace(row, name=name))
        return whole

    def by_source(self) -> list[Comparison]:
        """Return the sum for each file that runs were read from."""
        return list(self._sources.values())

    def by_tool(self) -> list[ToolTotals]:
        """Return the sums of each tool's results and each agent's messages to others, the largest first."""
        return sorted(self._tools.values(), key=lambda row: -row.recorded_in_prompts)

    def verdict(self) -> str:
        """Return one sentence that says whether the strategy is worth it, and how much it saves."""
        total = self.total()
        if not self._tools:
            return "No: the runs hold no tool result and no message of another agent, so nothing can be shortened."
        before, after = total.before, total.after
        which, s = ("this run", "s") if total.runs == 1 else (f"these {total.runs:,} runs", "")
        cost = _change(before.cost, after.cost, "less")
        tokens = f"send{s} {_change(before.prompt, after.prompt, 'fewer')} prompt tokens"
        queried = _change(before.cost, after.cost + after.queries, "less") if after.queries else ""
        word = "Yes" if (after.cost + after.queries) * COSTLIER < before.cost else "No"
        if queried and word == "No":
            cost, queried = f"{queried} if each value that is one query away takes one more call ({cost} if none)", ""
        costs = f"{which} cost{s} {cost} and {tokens}"
        return f"{word}: with the policy {self.strategy!r}, {costs}; {_visible(after, queried)}."

    def kept(self) -> str:
        """Return one line that says why results are sent as recorded: "as recorded because: 12 prose, 3 small"."""
        counted = ", ".join(f"{count:,} {reason}" for reason, count in self._kept.most_common())
        return counted and f"as recorded because: {counted}\n"

    def to_json(self) -> dict[str, Any]:
        """Return the whole report as a JSON value."""
        return {
            "strategy": self.strategy,
            "verdict": self.verdict(),
            "kept": dict(self._kept),
            "total": asdict(self.total()),
            "sources": [asdict(row) for row in self.by_source()],
            "runs": [run.to_json() for run in self.runs],
            "tools": [asdict(row) for row in self.by_tool()],
        }


_Sum = TypeVar("_Sum", Totals, ToolTotals, Comparison)


def _add(old: _Sum | None, new: _Sum) -> _Sum:
    """Return the sum of two rows of the same name."""
    return new if old is None else replace(new, **dict(_sums(old, new)))


def _sums(old: _Sum, new: _Sum) -> Iterator[tuple[str, Any]]:
    for each in fields(new):
        mine, theirs = getattr(old, each.name), getattr(new, each.name)
        if isinstance(theirs, Totals):
            yield each.name, _add(mine, theirs)
        elif not isinstance(theirs, str):
            yield each.name, mine + theirs


def _room_for(name: str, rows: dict[str, Any]) -> str:
    """Return the name of the row that `name` is added to."""
    return name if name in rows or len(rows) < _MAX_NAMES else _OTHERS


def totals(calls: Iterable[CallFigures]) -> Totals:
    """Return the sum over `calls`."""
    figures = list(calls)
    counted = ("needed", "visible", "reachable", "unasked", "queries", "unanswered")
    return Totals(
        calls=len(figures),
        prompt=sum(call.charge.tokens for call in figures),
        cost=sum(call.charge.cost for call in figures),
        **{name: sum(getattr(call, name) for call in figures) for name in counted},
    )


def _compare(before: Replay, after: Replay) -> Comparison:
    old, new = totals(before.calls), totals(after.calls)
    return Comparison(
        name=before.run,
        runs=1,
        before=old,
        after=new,
        costlier_runs=int(new.cost > COSTLIER * old.cost),
        larger_messages=sum(message.sent > message.recorded for message in after.messages),
    )


def _tool_totals(name: str, message: MessageFigures) -> ToolTotals:
    return ToolTotals(
        name=name,
        messages=1,
        unchanged=int(message.unchanged),
        recorded=message.recorded,
        sent=message.sent,
        recorded_in_prompts=message.recorded * message.shown,
        sent_in_prompts=message.sent * message.shown,
    )


def _change(before: float, after: float, less: str) -> str:
    change = 100 * (after - before) / before if before else 0.0
    return f"{abs(change):.0f} % {'more' if change > 0 else less}" if abs(change) >= 0.5 else f"no {less}"


def _visible(after: Totals, queried: str) -> str:
    if not after.needed:
        unknown = f" ({after.unanswered:,} of {after.calls:,} answers are not recorded)" if after.unanswered else ""
        return f"no {'recorded answer' if unknown else 'call'} needed a value of a result{unknown}"
    if after.visible == after.needed:
        return (
            f"all {after.needed:,} needed values stay visible" if after.needed > 1 else "the needed value stays visible"
        )
    away, lost = after.reachable - after.visible, after.needed - after.reachable - after.unasked
    words = f"{after.visible:,} of {after.needed:,} needed values stay visible, {away:,} one query away"
    words += f" (if each takes one more call, the cost is {queried})" if queried else ""
    words += f", {lost:,} out of reach of one query" if lost else ""
    return f"{words}, {after.unasked:,} hidden and too many to query" if after.unasked else words
