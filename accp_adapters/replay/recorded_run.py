"""A recorded run of agents: its messages in order, and which of them each model call was sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

__all__ = ["GROUP", "RecordedCall", "RecordedMessage", "Role", "Run", "calls_in_order", "is_foreign"]

GROUP: Final = "group"
"""The recipient of a message that every agent of the run receives."""


class Role(StrEnum):
    """The role of a sender: the words of the OpenAI chat format, and `wire` for a documented protocol message."""

    INSTRUCTIONS = "system"
    USER = "user"
    AGENT = "assistant"
    TOOL = "tool"
    WIRE = "wire"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedMessage:
    """One text of a run, exactly as a model was sent it."""

    sender: str
    """The agent, tool or person that it comes from."""
    recipient: str
    """The agent, tool or person that it went to, or `GROUP`."""
    role: Role
    """The role of the sender."""
    text: str
    """The whole text."""
    value: object = None
    """The JSON object or array that the text is; None for any other text."""
    tool: str = ""
    """The tool that was called or that answered; empty for other messages."""
    call_id: str = ""
    """The id of the tool call that it makes or answers; empty: not recorded."""
    turn: int = 0
    """The messages that one model call produced have the same turn."""
    by_model: bool = False
    """Whether a model wrote it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """One request to a model; its messages are given by their positions in `Run.messages`."""

    agent: str
    """The agent that made the request."""
    prompt: tuple[int, ...]
    """What the model was sent, in order."""
    output: tuple[int, ...]
    """What it answered."""
    tools: str = ""
    """The tool definitions of the request, as compact JSON; empty: none, or not recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One recorded run."""

    name: str
    """How reports call it, such as "runs.jsonl:3"."""
    source: str
    """The file that it was read from."""
    messages: tuple[RecordedMessage, ...]
    """All messages, in order."""
    calls: tuple[RecordedCall, ...]
    """All model calls, in order."""
    agent_names: frozenset[str] = frozenset()
    """Names of agents that the reader of the file was given, see `Policy.agent_names`."""


def is_foreign(message: RecordedMessage, agent: str) -> bool:
    """Return whether `agent` received `message` from a tool or another agent, so that a middleware may rewrite it."""
    return message.role is Role.TOOL or (message.role is Role.AGENT and message.sender != agent)


def calls_in_order(
    messages: Sequence[RecordedMessage], tools: str, *, shared: bool = False
) -> tuple[RecordedCall, ...]:
    """Return the model calls of a run whose requests are not recorded: each one was sent all earlier messages.

    Args:
        messages: The messages of the run.
        tools: The tool definitions of every request, as compact JSON.
        shared: Every agent receives every message; otherwise those that it sent, those to it and those to `GROUP`.
    """
    calls = []
    for first, output in _outputs(messages):
        agent = messages[first].sender
        prompt = (i for i in range(first) if shared or _reaches(messages[i], agent))
        calls.append(RecordedCall(agent=agent, prompt=tuple(prompt), output=output, tools=tools))
    return tuple(calls)


def _outputs(messages: Sequence[RecordedMessage]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the position of the first message of each model call, and the positions of all of them."""
    outputs: dict[tuple[str, int], list[int]] = {}
    for position, message in enumerate(messages):
        if message.by_model:
            outputs.setdefault((message.sender, message.turn), []).append(position)
    for positions in outputs.values():
        yield positions[0], tuple(positions)


def _reaches(message: RecordedMessage, agent: str) -> bool:
    return agent in (message.sender, message.recipient) or message.recipient == GROUP
