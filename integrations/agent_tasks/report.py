"""The figures of a run of tasks: right answers, model calls and tokens of each arm, in all and by task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from accp_adapters.evaluation.statistics import Difference, difference, mcnemar
from accp_adapters.replay.prices import Prices

__all__ = ["ArmFigures", "Line", "TaskReport"]

Line = Mapping[str, Any]
"""What a run file keeps of one task in one arm."""

_SUMMED: Final = ("calls", "fetches", "tokens", "cached", "written", "cost", "output", "usage_in", "usage_out")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmFigures:
    """What came out in one arm, or for one task in one arm."""

    arm: str
    """Its name."""
    right: int
    """Right answers."""
    tasks: int
    """Tasks that were done."""
    calls: int
    """Model calls of all agents, summaries included."""
    fetches: int
    """Calls of tools that only read what the arm has hidden: `accp_fetch`, the files of deepagents."""
    tokens: int
    """Tokens of all prompts with their tool definitions, in o200k_base."""
    cached: int
    """Of these, tokens that are read from a provider's cache."""
    written: int
    """Of these, tokens that are written to it."""
    cost: float
    """Tokens of prompts weighted by the prices of a cache: one at the list price is 1.0."""
    output: int
    """Tokens of all answers and calls."""
    usage_in: int
    """Tokens of prompts as the provider counts them; 0 where it says nothing."""
    usage_out: int
    """Tokens of answers as the provider counts them."""
    difference: Difference | None = None
    """Right answers against the baseline, over the tasks done in both; None for the baseline."""
    chance: float | None = None
    """The probability that chance alone gives such a split (McNemar's exact test)."""

    def money(self, prices: Prices) -> float:
        """Return what the model calls cost, by what a provider's cache would hold of each prompt."""
        return prices.cost(prompt=self.tokens, cached=self.cached, written=self.written, output=self.output)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReport:
    """The figures of a run of tasks."""

    arms: tuple[ArmFigures, ...]
    """Those of each arm, the baseline first."""
    by_task: Mapping[str, Mapping[str, ArmFigures]]
    """The name of a task to the name of an arm to the figures."""
    wrong: tuple[Line, ...]
    """The lines of the answers that are not right."""
    missing: int = 0
    """Tasks that were not begun, because the limit was reached; each counts once for each arm."""

    @classmethod
    def of(cls, lines: Sequence[Line], *, asked: int | None = None) -> TaskReport:
        """Return the figures of the lines of a run file, whose first arm is the baseline."""
        by_arm: dict[str, list[Line]] = defaultdict(list)
        by_task: dict[str, dict[str, ArmFigures]] = defaultdict(dict)
        for line in lines:
            by_arm[line["arm"]].append(line)
            by_task[line["task"]][line["arm"]] = _figures(line["arm"], [line])
        baseline = next(iter(by_arm.values()), [])
        return cls(
            arms=tuple(
                _figures(arm, each, baseline if number else None) for number, (arm, each) in enumerate(by_arm.items())
            ),
            by_task=by_task,
            wrong=tuple(line for line in lines if not line["right"]),
            missing=0 if asked is None else asked - len(lines),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON."""
        tasks = {task: {arm: asdict(each) for arm, each in arms.items()} for task, arms in self.by_task.items()}
        return {"missing": self.missing, "arms": [asdict(arm) for arm in self.arms], "tasks": tasks}


def _figures(arm: str, lines: Sequence[Line], baseline: Sequence[Line] | None = None) -> ArmFigures:
    before = {line["task"]: bool(line["right"]) for line in baseline or ()}
    pairs = {line["task"]: [(before[line["task"]], bool(line["right"]))] for line in lines if line["task"] in before}
    return ArmFigures(
        arm=arm,
        right=sum(bool(line["right"]) for line in lines),
        tasks=len(lines),
        difference=difference(pairs) if pairs else None,
        chance=mcnemar([pair for each in pairs.values() for pair in each]) if pairs else None,
        **{name: sum(line[name] for line in lines) for name in _SUMMED},
    )
