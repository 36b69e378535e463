"""The sums of replays: totals by run, agent and tool, and a strategy compared with the runs as recorded."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final, TypeVar

from accp_adapters.replay.cache_pricing import CACHE_MINIMUM, Charge
from accp_adapters.replay.contents.largest_texts import ShownText, largest_of
from accp_adapters.replay.replay import CallFigures, MessageFigures, Replay

__all__ = ["COSTLIER", "Comparison", "LargestMessage", "Report", "RunComparison", "ToolTotals", "Totals", "totals"]

COSTLIER: Final = 1.01
"""A run counts as costlier when its cost rises by more than 1 %."""
_LARGEST: Final = 10
"""Messages that a report names as the largest."""
_MAX_NAMES: Final = 10_000
"""Agents, tools and files that a report tells apart; a log may name a new one in every record."""
_OTHERS: Final = "(others)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The sum over some model calls."""

    calls: int
    """Model calls."""
    prompt: int
    """Tokens of all prompts."""
    cost: float
    """The same, cache-weighted: one token at the list price is 1.0."""
    fetch_prompt: int
    """`prompt` with the calls and texts that fetching every hidden needed value would add, an estimate."""
    fetch_cost: float
    """The same for `cost`."""
    needed: int
    """Values that outputs needed from tools and other agents."""
    visible: int
    """Needed values that are visible in the prompt."""
    reachable: int
    """Those that are visible or one fetch away."""
    mentioned: int
    """Values that outputs mentioned, by the strict detector `mentions_of`."""
    mentioned_visible: int
    """Mentioned values that are visible in the prompt."""
    mentioned_reachable: int
    """Those that are visible or one fetch away."""
    cached: int
    """Tokens of `prompt` that are read from the provider's cache."""
    written: int
    """Tokens of `prompt` that are written to it; all others are too short to be cached."""
    output: int
    """Tokens that the models wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolTotals:
    """The sums of one tool's results, or of one agent's messages to others; in tokens."""

    name: str
    """The name of the tool, or "agent " and the name of the agent."""
    messages: int
    """The number of messages."""
    recorded: int
    """Tokens as recorded, each message counted once."""
    sent: int
    """The same under the strategy."""
    recorded_in_prompts: int
    """Tokens as recorded, each message counted in every prompt that holds it."""
    sent_in_prompts: int
    """The same under the strategy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LargestMessage:
    """One of the largest messages of all runs."""

    run: str
    """The name of its run."""
    message: MessageFigures
    """Its figures."""


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
    cheaper_runs: int
    """Runs whose cost falls by more than 1 %."""
    costlier_runs: int
    """Runs whose cost rises by more than 1 %."""
    larger_messages: int
    """Messages that take more tokens than as recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison:
    """One run, as recorded and under a strategy."""

    total: Comparison
    """The sum over its calls."""
    calls: tuple[tuple[CallFigures, CallFigures], ...]
    """Each model call, as recorded and under the strategy."""

    def to_json(self) -> dict[str, Any]:
        """Return the sum and the charge of each call as a JSON value."""
        rows = [{"agent": b.agent, "before": asdict(b.charge), "after": asdict(a.charge)} for b, a in self.calls]
        return asdict(self.total) | {"calls": rows}


class Report:
    """The sums of runs that were each replayed as recorded and under one strategy, in memory that many runs share."""

    def __init__(self, *, keep_runs: int | None = None) -> None:
        """Start without a run.

        Args:
            keep_runs: How many runs are kept one by one in `runs`; None: all of them.
        """
        self.strategy = ""
        """The name of the strategy."""
        self.runs: list[RunComparison] = []
        """The first runs, one by one."""
        self.costliest: list[RunComparison] = []
        """The ten runs whose cost rises most, of those that are costlier."""
        self.texts: list[ShownText] = []
        """The texts of the ten messages with the most tokens as recorded, where the replays have them."""
        self._keep_runs = keep_runs
        self._sources: dict[str, Comparison] = {}
        self._agents: dict[str, tuple[Totals, Totals]] = {}
        self._tools: dict[str, ToolTotals] = {}
        self._largest: tuple[list[LargestMessage], list[LargestMessage]] = ([], [])

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
        run = RunComparison(total=compared, calls=tuple(zip(before.calls, after.calls, strict=True)))
        if self._keep_runs is None or len(self.runs) < self._keep_runs:
            self.runs.append(run)
        if compared.costlier_runs:
            self.costliest = heapq.nsmallest(_LARGEST, (*self.costliest, run), key=lambda each: -_rise(each.total))
        self.texts = largest_of([*self.texts, *after.texts])
        source = _room_for(before.source, self._sources)
        self._sources[source] = _add(self._sources.get(source), replace(compared, name=source))
        self._add_agents(before, after)
        self._add_messages(after)
        return run

    def total(self, name: str = "total") -> Comparison:
        """Return the sum over all runs."""
        return _sum(name, self._sources.values())

    def calls(self) -> list[tuple[CallFigures, CallFigures]]:
        """Return the figures of each model call of the runs in `runs`, as recorded and under the strategy."""
        return [calls for run in self.runs for calls in run.calls]

    def by_source(self) -> list[Comparison]:
        """Return the sum for each file that runs were read from."""
        return list(self._sources.values())

    def without_each_source(self) -> list[Comparison]:
        """Return, for each file that runs were read from, the sum over all other files; each has that file's name."""
        rows = self._sources.items()
        return [_sum(left_out, (row for name, row in rows if name != left_out)) for left_out in self._sources]

    def by_agent(self) -> list[tuple[str, Totals, Totals]]:
        """Return each agent's name, its sums as recorded and those under the strategy; the largest agent first."""
        rows = [(agent, before, after) for agent, (before, after) in self._agents.items()]
        return sorted(rows, key=lambda row: -row[1].prompt)

    def by_tool(self) -> list[ToolTotals]:
        """Return the sums of each tool's results and each agent's messages to others, the largest first."""
        return sorted(self._tools.values(), key=lambda row: -row.recorded_in_prompts)

    def largest_recorded(self) -> list[LargestMessage]:
        """Return the ten messages with the most tokens as recorded."""
        return self._largest[0]

    def largest_sent(self) -> list[LargestMessage]:
        """Return the ten messages with the most tokens under the strategy."""
        return self._largest[1]

    def to_json(self) -> dict[str, Any]:
        """Return the whole report as a JSON value."""
        return {
            "strategy": self.strategy,
            "total": asdict(self.total()),
            "sources": [asdict(row) for row in self.by_source()],
            "runs": [run.to_json() for run in self.runs],
            "agents": [
                {"agent": agent, "before": asdict(before), "after": asdict(after)}
                for agent, before, after in self.by_agent()
            ],
            "tools": [asdict(row) for row in self.by_tool()],
            "largest_before": [asdict(row) for row in self.largest_recorded()],
            "largest_after": [asdict(row) for row in self.largest_sent()],
        }

    def _add_agents(self, before: Replay, after: Replay) -> None:
        for agent in dict.fromkeys(call.agent for call in before.calls):
            sides = (totals(call for call in side.calls if call.agent == agent) for side in (before, after))
            name = _room_for(agent, self._agents)
            old = self._agents.get(name, (None, None))
            self._agents[name] = (_add(old[0], next(sides)), _add(old[1], next(sides)))

    def _add_messages(self, after: Replay) -> None:
        for message in after.messages:
            name = _room_for(message.tool or f"agent {message.sender}", self._tools)
            self._tools[name] = _add(self._tools.get(name), _tool_totals(name, message))
        mine = [LargestMessage(run=after.run, message=message) for message in after.messages]
        self._largest = (
            heapq.nsmallest(_LARGEST, (*self._largest[0], *mine), key=lambda one: -one.message.recorded),
            heapq.nsmallest(_LARGEST, (*self._largest[1], *mine), key=lambda one: -one.message.sent),
        )


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


def _sum(name: str, rows: Iterable[Comparison]) -> Comparison:
    nothing = totals(())
    whole = Comparison(
        name=name, runs=0, before=nothing, after=nothing, cheaper_runs=0, costlier_runs=0, larger_messages=0
    )
    for row in rows:
        whole = _add(whole, replace(row, name=name))
    return whole


def _room_for(name: str, rows: dict[str, Any]) -> str:
    """Return the name of the row that `name` is added to."""
    return name if name in rows or len(rows) < _MAX_NAMES else _OTHERS


def totals(calls: Iterable[CallFigures]) -> Totals:
    """Return the sum over `calls`."""
    figures = list(calls)
    with_fetches = [charge for call in figures for charge in call.with_fetches]
    return Totals(
        calls=len(figures),
        prompt=sum(call.charge.tokens for call in figures),
        cost=sum(call.charge.cost for call in figures),
        fetch_prompt=sum(charge.tokens for charge in with_fetches),
        fetch_cost=sum(charge.cost for charge in with_fetches),
        needed=sum(call.needed for call in figures),
        visible=sum(call.visible for call in figures),
        reachable=sum(call.reachable for call in figures),
        mentioned=sum(call.mentioned for call in figures),
        mentioned_visible=sum(call.mentioned_visible for call in figures),
        mentioned_reachable=sum(call.mentioned_reachable for call in figures),
        cached=sum(call.charge.cached for call in figures),
        written=sum(_written(call.charge) for call in figures),
        output=sum(call.output for call in figures),
    )


def _compare(before: Replay, after: Replay) -> Comparison:
    old, new = totals(before.calls), totals(after.calls)
    return Comparison(
        name=before.run,
        runs=1,
        before=old,
        after=new,
        cheaper_runs=int(COSTLIER * new.cost < old.cost),
        costlier_runs=int(new.cost > COSTLIER * old.cost),
        larger_messages=sum(message.sent > message.recorded for message in after.messages),
    )


def _rise(run: Comparison) -> float:
    return run.after.cost / run.before.cost if run.before.cost else 0.0


def _written(charge: Charge) -> int:
    return charge.tokens - charge.cached if charge.tokens >= CACHE_MINIMUM else 0


def _tool_totals(name: str, message: MessageFigures) -> ToolTotals:
    return ToolTotals(
        name=name,
        messages=1,
        recorded=message.recorded,
        sent=message.sent,
        recorded_in_prompts=message.recorded * message.shown,
        sent_in_prompts=message.sent * message.shown,
    )
