"""What a task is: the words of the user, the agents that work on it, and the one right answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from integrations.agent_tasks.world import World

__all__ = ["ExpectedAnswer", "Layout", "Maker", "Task", "fitting"]

ExpectedAnswer: TypeAlias = str | int | float | tuple[str, ...]
"""What is right: a value, or the values of a list in any order."""

Layout: TypeAlias = Literal["agent", "supervisor", "handoff", "summary"]
"""Who works: one agent; a supervisor with two agents as tools; an agent that hands over to another; one agent over
several turns whose older messages are summarized."""
Maker: TypeAlias = Callable[[World], "Task"]
"""Makes a task from a world."""

_ANSWER: Final = " End with one line that begins with `Answer:` and holds the answer alone."
_LISTED: Final = " Separate several ids by commas."


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task with its answer."""

    name: str
    """Its name in reports and run files."""
    kind: str
    """What it takes: filter, maximum, count, sum, join, chain, edit, needle, agents, handoff, summary."""
    turns: tuple[str, ...]
    """What the user says, one text a turn; the answer to the last one counts."""
    answer: ExpectedAnswer
    """What is right."""
    asks: Mapping[str, Any] = field(default_factory=dict)
    """The values in the user's words, by name."""
    layout: Layout = "agent"
    """Who works."""
    areas: tuple[str, ...] = ("sales", "support", "operations", "sources")
    """The tools that one agent has."""
    expected_sources: Mapping[str, str] = field(default_factory=dict)
    """The path of a file to a line that it holds afterwards."""
    results: Mapping[str, str] = field(default_factory=dict)
    """The name of a tool to the text that it returns: tools that the world does not have."""
    wrong: tuple[str, ...] = ()
    """Of a task with `results`: what its answer must not hold."""

    @classmethod
    def of(cls, name: str, kind: str, words: str, answer: ExpectedAnswer, /, *earlier: str, **fields: Any) -> Task:
        """Return a task whose words hold `asks` in braces; `earlier` are the turns before the last."""
        asks = fields.pop("asks", {})
        listed = _LISTED if isinstance(answer, tuple) else ""
        turns = tuple(text.format(**asks) + _ANSWER for text in (*earlier, words + listed))
        return cls(name=name, kind=kind, turns=turns, answer=answer, asks=asks, **fields)


def fitting(candidates: list[Any], count: Callable[[Any], int], least: int = 2, most: int = 6) -> Any:
    """Return the first candidate whose count is within bounds, else the one that comes nearest."""
    return min(candidates, key=lambda each: max(least - count(each), count(each) - most, 0))
