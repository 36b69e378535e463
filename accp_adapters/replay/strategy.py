"""What a strategy is: a way to rewrite what a model is sent of tool results and other agents' messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from accp_adapters.replay.recorded_run import RecordedMessage

__all__ = ["IncomingMessage", "Rewriter", "SentMessage", "Strategy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMessage:
    """A message as a model is sent it."""

    text: str
    reference: str = ""
    """The reference that opens the whole recorded text; empty: there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingMessage:
    """A recorded message at the moment when it enters the prompt of an agent."""

    message: RecordedMessage
    """The message as recorded."""
    request: str = ""
    """What the agent works on: the user's last words and the arguments of the call that the message answers."""
    results_in_turn: int = 1
    """How many results the model turn that asked for it gets."""
    is_foreign: bool = True
    """Whether it comes from a tool or another agent."""


Rewriter: TypeAlias = Callable[[IncomingMessage], SentMessage]
"""Returns what a model is sent in place of a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A named way to rewrite prompts; a text that was sent never changes."""

    name: str
    """How reports call it."""
    rewrite: Rewriter | None = None
    """Rewrites one foreign message, whatever stands before it; None: `new_rewriter` does."""
    new_rewriter: Callable[[str, str], Rewriter] | None = None
    """Returns the rewriter of one agent, from the agent's name and its tool definitions. It is called for each message
    of the agent's prompt in order, the agent's own and the user's included, which must stay as they are. A prompt that
    does not continue the last one gets a new rewriter."""
    fetch_tool: str = ""
    """The definition of the tool that opens references, as compact JSON; empty: none is needed. Every prompt with a
    reference is charged for it; the first one also loses its cached prefix, because tools stand at the beginning."""
    fetch: Callable[[str, str], str] | None = None
    """Returns what that tool answers, from a whole text and the words to find in it; None: the whole text."""
