"""What every format is read into: turns of text, tool calls and results, and what a record says of them.

A record is a conversation so far (`Snapshot`), one model call (`Request`), one more turn (`Step`) or a whole `Run`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from accp_adapters.replay.recorded_run import Role, Run
from accp_core.strict_json import compact_json

__all__ = [
    "Item",
    "Kind",
    "Part",
    "Request",
    "Snapshot",
    "Step",
    "Turn",
    "call",
    "definitions",
    "result",
    "text",
    "written",
]


class Kind(StrEnum):
    """What a part of a turn is."""

    TEXT = "text"
    CALL = "call"
    RESULT = "result"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One text of a turn."""

    kind: Kind
    """What it is."""
    text: str
    """The words, the arguments of the call, or the result."""
    tool: str = ""
    """The tool that is called or answers; empty: found by the call's id."""
    call_id: str = ""
    """The id of the call that it makes or answers; empty: not recorded."""

    def __post_init__(self) -> None:
        """Refuse a record that has something else where a text belongs (TypeError)."""
        _require_texts(self.text, self.tool)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What one participant of a conversation says at a time."""

    role: Role
    """Who says it."""
    parts: tuple[Part, ...]
    """What is said, in order."""
    agent: str = ""
    """The name of the participant; empty: not recorded."""
    by_model: bool = True
    """Whether a model wrote the words of an agent."""

    def __post_init__(self) -> None:
        """Refuse a record that has something else where a name belongs (TypeError)."""
        _require_texts(self.agent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A conversation so far; each turn of a model is a call that was sent all earlier turns."""

    turns: tuple[Turn, ...]
    """All turns, in order."""
    tools: str = ""
    """The definitions that every call was sent, see `definitions`."""
    awaits_answer: bool = False
    """Whether it is a request, so that a last turn that is not the model's is a call without its answer."""
    identity: str = ""
    """What only records of the same request have in common: all that it says, with its id; empty: it has no id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One model call as it was recorded."""

    prompt: tuple[Turn, ...]
    """What the model was sent."""
    output: tuple[Turn, ...]
    """What it answered; empty: not recorded."""
    tools: str = ""
    """The definitions that it was sent, see `definitions`."""
    group: str = ""
    """What the calls of one run have in common, such as a trace id; empty: found from their prompts."""
    agent: str = ""
    """The name of the agent; empty: not recorded."""
    started: str = ""
    """When the call began, by which the calls of a group are put in order; empty: they are in order."""
    identity: str = ""
    """See `Snapshot`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What comes next in a conversation that is recorded turn by turn."""

    turn: Turn | None = None
    """The turn; None: the record says something else."""
    group: str = ""
    """What the turns of one conversation have in common; empty: they are in one file."""
    response: str = ""
    """The id of the model call that produced the turn; empty: not recorded."""
    joined: bool = False
    """Whether turns of one model that follow each other are one call."""
    tools: str = ""
    """The definitions that calls were sent from here on; empty: as before."""
    once: bool = False
    """Whether a turn that the conversation has already is not said again, such as instructions kept with each turn."""
    restarts: bool = False
    """Whether later calls are sent nothing of what was said before."""
    awaits_answer: bool = False
    """Whether a result at the end is sent to the model, though its answer is not recorded."""


Item: TypeAlias = Snapshot | Request | Step | Run
"""What a record says."""


def _require_texts(*values: object) -> None:
    wrong = next((value for value in values if not isinstance(value, str)), None)
    if wrong is not None or None in values:
        raise TypeError(f"expected a text, found {wrong!r:.60}")


def text(words: str) -> Part:
    """Return the part that is words."""
    return Part(kind=Kind.TEXT, text=words)


def call(tool: str, arguments: object, call_id: object = "") -> Part:
    """Return the part that calls a tool; arguments that are no text are written as compact JSON."""
    return Part(kind=Kind.CALL, text=written(arguments), tool=tool, call_id=str(call_id or ""))


def result(content: object, call_id: object = "", tool: object = "") -> Part:
    """Return the part that answers a call; content that is no text is written as compact JSON."""
    return Part(kind=Kind.RESULT, text=written(content), tool=str(tool or ""), call_id=str(call_id or ""))


def written(value: object) -> str:
    """Return a value as a model is sent it: a text as it is, nothing as nothing, any other value as compact JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        return compact_json(value)
    except (TypeError, ValueError):
        # What Python's own writer lets through, such as NaN.
        return json.dumps(value, ensure_ascii=False)


def definitions(*values: object) -> str:
    """Return tool definitions and output schemas as compact JSON, one a line; empty ones are left out."""
    return "\n".join(written(value) for value in values if value)
