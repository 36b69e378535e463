"""What is done to a tool result or another agent's message when it is born, and never again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from accp_adapters.replay.formats.json_layouts import compact_json
from accp_adapters.replay.recorded_run import Message
from accp_core.ports import TokenCounter

__all__ = ["AS_RECORDED", "Birth", "Rewrite", "Sent", "Strategy", "compact"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A message as its reader gets it."""

    text: str
    ref: str = ""
    """The reference under which the whole recorded text can be fetched, empty where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Birth:
    """A message that has just come into being."""

    message: Message
    request: str = ""
    """What its reader works on: the user's last words and the arguments of the call that it answers."""
    beside: int = 1
    """How many results the model turn that asked for it will have."""
    foreign: bool = True
    """Whether its reader got it from a tool or another agent."""


Rewrite: TypeAlias = Callable[[Birth], Sent]


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A named way to rewrite what tools and other agents say."""

    name: str
    rewrite: Rewrite | None = None
    """What becomes of a foreign message, whatever stands before it; None: `reader` says so."""
    reader: Callable[[str, str], Rewrite] | None = None
    """Returns, for an agent and its tool definitions, what rewrites its prompt: asked for each message in order, the
    agent's own and its user's, too, which must stay as they are. A prompt that is no continuation has a new one."""
    fetch_tool: str = ""
    """The definition of the tool that opens references, as compact JSON; empty: none is ever needed. A prompt
    with a reference pays for it; where it first appears, among the tools, it breaks the cached prefix once."""


AS_RECORDED: Final = Strategy(name="as recorded", rewrite=lambda birth: Sent(text=birth.message.text))


def compact(counter: TokenCounter) -> Strategy:
    """Return the baseline: a text that is JSON becomes compact JSON where that has fewer tokens."""
    return Strategy(name="compact JSON", rewrite=lambda birth: Sent(text=_compact(birth.message.text, counter)))


def _compact(text: str, counter: TokenCounter) -> str:
    try:
        shorter = compact_json(json.loads(text))
    except (ValueError, RecursionError):
        return text
    return shorter if counter(shorter) < counter(text) else text
