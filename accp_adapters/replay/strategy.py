"""What a strategy is: a way to rewrite what a model is sent of tool results and other agents' messages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from accp_adapters.policy import Policy
from accp_adapters.replay.recorded_run import RecordedMessage

__all__ = ["Rewriter", "SentMessage", "Strategy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMessage:
    """A message as a model is sent it."""

    text: str
    reference: str = ""
    """The reference that opens the whole recorded text; empty: there is none."""


Rewriter: TypeAlias = Callable[[RecordedMessage], SentMessage]
"""Returns what a model is sent in place of a message of a tool or of another agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A named way to rewrite prompts; a text that was sent never changes."""

    name: str
    """How reports call it."""
    policy: Policy | None = None
    """The policy whose middleware sends the messages; None: `rewrite` makes them."""
    rewrite: Rewriter | None = None
    """Rewrites one message of a tool or of another agent by itself, and only once, however many agents are sent it;
    None: each stays as it is."""
    fetch_tool: str = ""
    """The definition of the tool that opens references, as compact JSON; empty: none is needed. Every prompt of an
    agent is charged for it from its first reference on; that prompt also loses its cached prefix, because tools stand
    at the beginning."""
    fetch: Callable[[str, str], str] | None = None
    """Returns what that tool answers, from a whole text and the words to find in it ("": its beginning), "" where it
    finds nothing; None: the whole text."""
