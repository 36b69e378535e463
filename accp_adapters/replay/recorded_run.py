"""A recorded run of agents: its messages in order, and which of them each model call was shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["GROUP", "Call", "Message", "Role", "Run", "calls_in_order", "is_foreign"]

GROUP = "group"
"""The recipient of a message that every agent of the run sees."""


class Role(StrEnum):
    """Who speaks; the words of the OpenAI chat format, and `wire` for a documented protocol message."""

    INSTRUCTIONS = "system"
    USER = "user"
    AGENT = "assistant"
    TOOL = "tool"
    WIRE = "wire"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One text of a run, exactly as a model was shown it."""

    sender: str
    recipient: str
    """The agent, tool or person it went to, or `GROUP`."""
    role: Role
    text: str
    value: object = None
    """The JSON object or array that `text` writes, None where the text is no such thing."""
    tool: str = ""
    """The tool that was called or that answered, empty for other messages."""
    call_id: str = ""
    turn: int = 0
    """Messages that one model call produced share it."""
    by_model: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request to a model: positions in `Run.messages`."""

    agent: str
    prompt: tuple[int, ...]
    """What the model was shown, in order."""
    output: tuple[int, ...]
    """What it said."""
    tools: str = ""
    """The tool definitions it was given, as compact JSON; empty when it had none or they are not recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One recorded run."""

    name: str
    source: str
    """The file it was read from."""
    messages: tuple[Message, ...]
    calls: tuple[Call, ...]


def is_foreign(message: Message, agent: str) -> bool:
    """Whether `message` reached `agent` from a tool or another agent, so that a middleware may rewrite it."""
    return message.role is Role.TOOL or (message.role is Role.AGENT and message.sender != agent)


def calls_in_order(messages: Sequence[Message], tools: str, *, shared: bool = False) -> tuple[Call, ...]:
    """Return the model calls of a run without recorded requests: each saw all that its agent had seen before.

    An agent sees the messages it sent or got and those to `GROUP`; with `shared` every agent sees everything.
    """
    calls = []
    for first, output in _outputs(messages):
        agent = messages[first].sender
        seen = (i for i in range(first) if shared or _reaches(messages[i], agent))
        calls.append(Call(agent=agent, prompt=tuple(seen), output=output, tools=tools))
    return tuple(calls)


def _outputs(messages: Sequence[Message]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the position of the first message of each model call, and the positions of all of them."""
    outputs: dict[tuple[str, int], list[int]] = {}
    for position, message in enumerate(messages):
        if message.by_model:
            outputs.setdefault((message.sender, message.turn), []).append(position)
    for positions in outputs.values():
        yield positions[0], tuple(positions)


def _reaches(message: Message, agent: str) -> bool:
    return agent in (message.sender, message.recipient) or message.recipient == GROUP
