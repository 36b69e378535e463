"""Tokens of a prompt by what they hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from accp_adapters.replay.recorded_run import RecordedCall, RecordedMessage, Role, Run
from accp_adapters.replay.strategy import SentMessage

__all__ = ["Contents", "contents_of", "kind_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """Tokens of one prompt, or of several, by what they hold."""

    instructions: int = 0
    """System prompts."""
    tools: int = 0
    """Tool definitions, that of the fetch tool included."""
    user: int = 0
    """Messages of users, and documented protocol messages."""
    own: int = 0
    """What the agent itself said and called before."""
    results: int = 0
    """Results of tools."""
    others: int = 0
    """Messages of other agents."""


def contents_of(
    run: Run, call: RecordedCall, sent: Mapping[int, SentMessage], definitions: int, count: Callable[[str], int]
) -> Contents:
    """Return the tokens of a prompt by what they hold.

    Args:
        run: The run.
        call: The call whose prompt it is.
        sent: What the model was sent, by the position of each message.
        definitions: Tokens of all tool definitions.
        count: Counts the tokens of a text.
    """
    tokens: Counter[str] = Counter(tools=definitions)
    for position in call.prompt:
        tokens[kind_of(run.messages[position], call.agent)] += count(sent[position].text)
    return Contents(**tokens)


def kind_of(message: RecordedMessage, agent: str) -> str:
    """Return what a message is to the prompt of `agent`: the name of a field of `Contents`."""
    match message.role:
        case Role.INSTRUCTIONS:
            return "instructions"
        case Role.TOOL:
            return "results"
        case Role.AGENT:
            return "own" if message.sender == agent else "others"
    return "user"
