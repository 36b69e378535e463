"""Which messages of a conversation other agents wrote, seen from the agent whose model reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from accp_core.projection.record import MessageRecord, Role

__all__ = ["attribute"]

# The tools of langgraph-supervisor, langgraph-swarm, the OpenAI Agents SDK and `handoff_tool` have these names.
_HANDOFF: Final = re.compile(r"transfer_(?:back_)?to_(.+)")
_NOT_IN_TOOL_NAMES: Final = re.compile(r"[^a-zA-Z0-9_-]+")


def attribute(
    records: Iterable[MessageRecord], *, names: Iterable[str] | None, agent: str | None = None
) -> Iterator[MessageRecord]:
    """Yield each record with the role that it has for the model of `agent`.

    Another agent's words are those of a name in `names`, of a name that an earlier call of `transfer_to_…` named, and,
    after the first user's message, those of any other name than that of a reader that has one: before it, named
    messages may be examples. The calls of the first two kinds
    are surely another agent's.

    Args:
        records: The conversation from its first message on. What is yielded for one depends on those up to it alone.
        names: The names of other agents; None: no message is taken for another agent's.
        agent: The name of the agent whose model reads; None: it has none.
    """
    if names is None:
        yield from records
        return
    others = _OtherAgents(names, agent)
    for record in records:
        yield others.attribute(record)


class _OtherAgents:
    """The names of other agents: those that are given, and those that handoffs name from then on."""

    def __init__(self, names: Iterable[str], agent: str | None) -> None:
        self._given: Final = frozenset(names)
        self._known: Final = set(self._given)
        self._agent: Final = agent
        self._user_spoke = False

    def attribute(self, record: MessageRecord) -> MessageRecord:
        """Return the next record with its role; its calls are another agent's where that is sure."""
        is_sure = self._is_known(record)
        is_other = is_sure or self._has_another_name(record)
        for match in filter(None, (_HANDOFF.fullmatch(call.name) for call in record.calls)):
            self._known.add(match[1])
        self._user_spoke |= record.role is Role.USER and not is_other
        if not is_other:
            return record
        calls = tuple(replace(call, by_other=True) for call in record.calls) if is_sure else record.calls
        # Parts, such as thoughts and images, belong together and stay.
        role = Role.OTHER_AGENT if record.is_plain and record.text else record.role
        return replace(record, role=role, calls=calls)

    def _is_known(self, record: MessageRecord) -> bool:
        """Return whether a message has the name of an agent; in the place of a user's only those given are agents'."""
        name = record.name
        if not name or name == self._agent:
            return False
        match record.role:
            case Role.USER:
                return name in self._given
            case Role.MODEL:
                return not {name, _NOT_IN_TOOL_NAMES.sub("_", name).lower()}.isdisjoint(self._known)
        return False

    def _has_another_name(self, record: MessageRecord) -> bool:
        is_named = record.role is Role.MODEL and bool(record.name) and bool(self._agent)
        return is_named and self._user_spoke and record.name != self._agent
