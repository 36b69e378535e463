"""The sums of replays: totals by run, agent and tool, and a strategy compared with the runs as recorded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from accp_adapters.replay.replay import CallFigures, MessageFigures, Replay

__all__ = ["COSTLIER", "Comparison", "LargestMessage", "Report", "ToolTotals", "Totals", "totals"]

COSTLIER: Final = 1.01
"""A run counts as costlier when its cost rises by more than 1 %."""


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
    costlier_runs: int
    """Runs whose cost rises by more than 1 %."""
    larger_messages: int
    """Messages that take more tokens than as recorded."""


@dataclass(frozen=True, slots=True)
class Report:
    """The replays of some runs, run by run, as recorded and under one strategy."""

    before: Sequence[Replay]
    """As recorded."""
    after: Sequence[Replay]
    """Under the strategy."""

    @classmethod
    def of(cls, pairs: Iterable[tuple[Replay, Replay]]) -> Report:
        """Return the report of runs that were each replayed as recorded and under one strategy."""
        before, after = [], []
        for recorded, rewritten in pairs:
            before.append(recorded)
            after.append(rewritten)
        return cls(before, after)

    def total(self, name: str = "total") -> Comparison:
        """Return the sum over all runs."""
        return _compare(name, list(zip(self.before, self.after, strict=True)))

    def calls(self) -> list[tuple[CallFigures, CallFigures]]:
        """Return the figures of each model call of all runs, as recorded and under the strategy."""
        pairs = zip(self.before, self.after, strict=True)
        return [calls for before, after in pairs for calls in zip(before.calls, after.calls, strict=True)]

    def by_source(self) -> list[Comparison]:
        """Return the sum for each file that runs were read from."""
        groups = defaultdict(list)
        for pair in zip(self.before, self.after, strict=True):
            groups[pair[0].source].append(pair)
        return [_compare(source, pairs) for source, pairs in groups.items()]

    def by_agent(self) -> list[tuple[str, Totals, Totals]]:
        """Return each agent's name, its sums as recorded and those under the strategy; the largest agent first."""
        before, after = _calls_by_agent(self.before), _calls_by_agent(self.after)
        rows = [(agent, totals(calls), totals(after[agent])) for agent, calls in before.items()]
        return sorted(rows, key=lambda row: -row[1].prompt)

    def by_tool(self) -> list[ToolTotals]:
        """Return the sums of each tool's results and each agent's messages to others, the largest first."""
        groups = defaultdict(list)
        for run in self.after:
            for message in run.messages:
                groups[message.tool or f"agent {message.sender}"].append(message)
        rows = [_tool_totals(name, messages) for name, messages in groups.items()]
        return sorted(rows, key=lambda row: -row.recorded_in_prompts)

    def largest_recorded(self, count: int = 10) -> list[LargestMessage]:
        """Return the messages with the most tokens as recorded."""
        return self._largest(lambda message: message.recorded, count)

    def largest_sent(self, count: int = 10) -> list[LargestMessage]:
        """Return the messages with the most tokens under the strategy."""
        return self._largest(lambda message: message.sent, count)

    def to_json(self) -> dict[str, Any]:
        """Return the whole report as a JSON value."""
        return {
            "strategy": self.after[0].strategy if self.after else "",
            "total": asdict(self.total()),
            "sources": [asdict(row) for row in self.by_source()],
            "runs": [_run_to_json(b, a) for b, a in zip(self.before, self.after, strict=True)],
            "agents": [
                {"agent": agent, "before": asdict(before), "after": asdict(after)}
                for agent, before, after in self.by_agent()
            ],
            "tools": [asdict(row) for row in self.by_tool()],
            "largest_before": [asdict(row) for row in self.largest_recorded()],
            "largest_after": [asdict(row) for row in self.largest_sent()],
        }

    def _largest(self, size: Callable[[MessageFigures], int], count: int) -> list[LargestMessage]:
        messages = (LargestMessage(run=run.run, message=m) for run in self.after for m in run.messages)
        return sorted(messages, key=lambda one: -size(one.message))[:count]


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
    )


def _compare(name: str, pairs: Sequence[tuple[Replay, Replay]]) -> Comparison:
    return Comparison(
        name=name,
        runs=len(pairs),
        before=totals(call for before, _ in pairs for call in before.calls),
        after=totals(call for _, after in pairs for call in after.calls),
        costlier_runs=sum(_cost(after) > COSTLIER * _cost(before) for before, after in pairs),
        larger_messages=sum(m.sent > m.recorded for _, after in pairs for m in after.messages),
    )


def _run_to_json(before: Replay, after: Replay) -> dict[str, Any]:
    calls = zip(before.calls, after.calls, strict=True)
    rows = [{"agent": b.agent, "before": asdict(b.charge), "after": asdict(a.charge)} for b, a in calls]
    return asdict(_compare(before.run, [(before, after)])) | {"calls": rows}


def _cost(run: Replay) -> float:
    return sum(call.charge.cost for call in run.calls)


def _calls_by_agent(runs: Sequence[Replay]) -> dict[str, list[CallFigures]]:
    groups: dict[str, list[CallFigures]] = defaultdict(list)
    for run in runs:
        for call in run.calls:
            groups[call.agent].append(call)
    return groups


def _tool_totals(name: str, messages: Sequence[MessageFigures]) -> ToolTotals:
    return ToolTotals(
        name=name,
        messages=len(messages),
        recorded=sum(m.recorded for m in messages),
        sent=sum(m.sent for m in messages),
        recorded_in_prompts=sum(m.recorded * m.shown for m in messages),
        sent_in_prompts=sum(m.sent * m.shown for m in messages),
    )
