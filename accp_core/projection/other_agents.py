"""Which messages of a conversation other agents wrote, as far as their names say it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["OtherAgents"]

# The tools of langgraph-supervisor, langgraph-swarm, the OpenAI Agents SDK and `handoff_tool` have these names.
_HANDOFF: Final = re.compile(r"transfer_(?:back_)?to_(.+)")
_NOT_IN_TOOL_NAMES: Final = re.compile(r"[^a-zA-Z0-9_-]+")


class OtherAgents:
    """The names of other agents: those that are given, and those that handoffs name from then on.

    A name alone says nothing: examples have one, and so has what an agent wrote before it was renamed.
    """

    def __init__(self, names: Iterable[str] | None, *, agent: str | None = None) -> None:
        """Begin with `names`, None where nobody is taken for another agent; `agent` is the one whose model reads."""
        self._is_used: Final = names is not None
        self._given: Final = frozenset(names or ())
        self._known: Final = set(self._given)
        self._agent: Final = agent

    def add_call(self, tool: str) -> None:
        """Add the agent to which a call of `tool` hands over; of any other tool nothing."""
        if match := _HANDOFF.fullmatch(tool):
            self._known.add(match[1])

    def wrote(self, name: str | None, *, as_user: bool = False) -> bool:
        """Return whether another agent wrote a message of this name; `as_user`: in the place of a user's message.

        Only the names that are given are taken for agents there.
        """
        if not self._is_used or not name or name == self._agent:
            return False
        if as_user:
            return name in self._given
        return not {name, _NOT_IN_TOOL_NAMES.sub("_", name).lower()}.isdisjoint(self._known)
