"""The figures of a run: right answers, model calls, tokens of each arm, in all, by kind and by task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

__all__ = ["ArmFigures", "Line", "Report"]

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The figures of a run of tasks."""

    arms: tuple[ArmFigures, ...]
    """Those of each arm, the baseline first."""
    by_kind: Mapping[str, Mapping[str, ArmFigures]]
    """The kind of a task to the name of an arm to the figures."""
    by_task: Mapping[str, Mapping[str, ArmFigures]]
    """The name of a task to the name of an arm to the figures."""
    wrong: tuple[Line, ...]
    """The lines of the answers that are not right."""
    missing: int = 0
    """Tasks that were not begun, because the limit was reached; each counts once for each arm."""
    model: str = field(default="", compare=False)
    """The name of the model."""

    @classmethod
    def of(cls, lines: Sequence[Line], *, asked: int | None = None, model: str = "") -> Report:
        """Return the figures of the lines of a run file, whose first arm is the baseline."""
        arms = _by(lines, "arm")
        figures = [_figures(arm, each) for arm, each in arms.items()]
        return cls(
            arms=tuple(figures),
            by_kind={kind: _each_arm(each) for kind, each in _by(lines, "kind").items()},
            by_task={task: _each_arm(each) for task, each in _by(lines, "task").items()},
            wrong=tuple(line for line in lines if not line["right"]),
            missing=0 if asked is None else asked - len(lines),
            model=model,
        )

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON."""
        tasks = {task: {arm: asdict(each) for arm, each in arms.items()} for task, arms in self.by_task.items()}
        kinds = {kind: {arm: asdict(each) for arm, each in arms.items()} for kind, arms in self.by_kind.items()}
        arms = [asdict(arm) for arm in self.arms]
        return {"model": self.model, "missing": self.missing, "arms": arms, "kinds": kinds, "tasks": tasks}


def _by(lines: Sequence[Line], name: str) -> dict[str, list[Line]]:
    """Return the lines by their value of `name`; a line without one by its task."""
    groups: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        groups[line.get(name) or line["task"]].append(line)
    return groups


def _each_arm(lines: Sequence[Line]) -> dict[str, ArmFigures]:
    return {arm: _figures(arm, each) for arm, each in _by(lines, "arm").items()}


def _figures(arm: str, lines: Sequence[Line]) -> ArmFigures:
    return ArmFigures(
        arm=arm,
        right=sum(bool(line["right"]) for line in lines),
        tasks=len(lines),
        **{name: sum(line.get(name, 0) for line in lines) for name in _SUMMED},
    )
