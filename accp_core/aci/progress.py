"""The progress of one subtask, and the table of its transitions (ACI sections 4.1 and 5.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from accp_core.aci.checks import MAX_ABSTRACT_CHARS
from accp_core.aci.contexts import AgentContext
from accp_core.aci.evaluation import OpenItem
from accp_core.aci.items import DONE, OPEN, ItemState, KeyInformation, Outcome
from accp_core.aci.replies import Usage
from accp_core.error_codes import ErrorCode
from accp_core.errors import LocalProtocolError

__all__ = ["ENDED", "TRANSITIONS", "ItemMove", "Progress", "SubtaskState", "known_context", "verified_context"]


class SubtaskState(StrEnum):
    """The state of a subtask."""

    WAITING = "waiting"
    """It waits for its dependencies or its turn, or for its next attempt."""
    DELIVERED = "delivered"
    """Its agent works on it."""
    RETURNED = "returned"
    """The reply is accepted and has to be verified."""
    COMPLETED = "completed"
    """Every item is verified."""
    FAILED = "failed"
    """An item is not done after all attempts, or a dependency did not complete."""
    UNVERIFIED = "unverified"
    """Nobody knows whether an item is done; the agent's answer is kept."""


class ItemMove(StrEnum):
    """An event in the course of a subtask."""

    DELIVER = "deliver"
    ACCEPT = "accept"
    COMPLETE = "complete"
    RETRY = "retry"
    FAIL = "fail"
    DOUBT = "doubt"


TRANSITIONS: Final[Mapping[tuple[SubtaskState, ItemMove], SubtaskState]] = MappingProxyType(
    {
        (SubtaskState.WAITING, ItemMove.DELIVER): SubtaskState.DELIVERED,
        (SubtaskState.WAITING, ItemMove.FAIL): SubtaskState.FAILED,
        (SubtaskState.DELIVERED, ItemMove.ACCEPT): SubtaskState.RETURNED,
        (SubtaskState.DELIVERED, ItemMove.RETRY): SubtaskState.WAITING,
        (SubtaskState.DELIVERED, ItemMove.FAIL): SubtaskState.FAILED,
        (SubtaskState.RETURNED, ItemMove.COMPLETE): SubtaskState.COMPLETED,
        (SubtaskState.RETURNED, ItemMove.RETRY): SubtaskState.WAITING,
        (SubtaskState.RETURNED, ItemMove.FAIL): SubtaskState.FAILED,
        (SubtaskState.DELIVERED, ItemMove.DOUBT): SubtaskState.UNVERIFIED,
        (SubtaskState.RETURNED, ItemMove.DOUBT): SubtaskState.UNVERIFIED,
    }
)
"""State and move to the next state; only verification leads to completed."""


ENDED: Final = frozenset({SubtaskState.COMPLETED, SubtaskState.FAILED, SubtaskState.UNVERIFIED})
"""The states in which nothing more happens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of one subtask."""

    state: SubtaskState = SubtaskState.WAITING
    """Its state."""
    attempts: int = 0
    """The number of deliveries so far."""
    verified: Mapping[str, str] = field(default_factory=dict)
    """itemId to abstract of the items that are done; they are not delivered again."""
    open: tuple[OpenItem, ...] = ()
    """The items that the last attempt left undone, with the reasons."""
    stopped_by: str = ""
    """The SubTaskID of the failure that stopped this subtask before it began; empty: none did."""
    stored: tuple[str, ...] = ()
    """URIs of the texts that the agent stored."""
    reply: AgentContext | None = None
    """The accepted reply that has to be verified, or None."""
    unread: Mapping[str, str] = field(default_factory=dict)
    """itemId to what was not understood in that reply."""
    reported: tuple[str, ...] = ()
    """The items of that reply whose answers a reporter gave."""
    usage: Usage = field(default_factory=Usage)
    """What all attempts cost."""
    started: str | None = None
    """The time of the first delivery in ISO 8601, or None."""
    updated: str | None = None
    """The time of the last change, or None."""
    ended: str | None = None
    """The time when it was completed, failed or left unverified, or None."""

    @property
    def reason(self) -> str:
        """Why it is not complete: the reasons of its open items, each once; empty where there is none."""
        return "; ".join(dict.fromkeys(item.reason for item in self.open))

    def are_undone(self, items: Iterable[OpenItem]) -> bool:
        """Return whether it is known that the open `items` of the reply are not done.

        That the verifier rejects what a reporter found says nothing of the work.
        """
        return all(item.outcome is Outcome.FAILED and item.item_id not in self.reported for item in items)

    def at(self, time: str) -> Progress:
        """Return the progress with `time` as the time of its last change, and of its beginning and end."""
        started = self.started or (time if self.attempts else None)
        ended = (self.ended or time) if self.state in ENDED else None
        return replace(self, started=started, updated=time, ended=ended)

    def advance(self, move: ItemMove, **changes: Any) -> Progress:
        """Return the progress after `move`, with the attributes in `changes` set.

        Raises:
            LocalProtocolError: E5001, the move is not allowed in this state.
        """
        after = TRANSITIONS.get((self.state, move))
        if after is None:
            raise LocalProtocolError(
                f"expected no {move.value!r} for a subtask that is {self.state.value}", code=ErrorCode.POLICY_DENIED
            )
        return replace(self, state=after, **changes)


def verified_context(planned: AgentContext, progress: Progress) -> AgentContext:
    """Return the planned context of a subtask with its verified results."""
    done = [item.item_id for item in planned.todo_items if item.item_id in progress.verified]
    return replace(
        planned,
        item_state_updates=tuple(ItemState(item, DONE) for item in done),
        key_information=tuple(KeyInformation(item, progress.verified[item]) for item in done),
        context_uri=(*planned.context_uri, *progress.stored),
        last_updated=progress.updated or planned.last_updated,
    )


def known_context(planned: AgentContext, progress: Progress) -> AgentContext:
    """Return the context with the verified results, and where the subtask has ended, with what is known of the rest."""
    context = verified_context(planned, progress)
    if progress.state not in ENDED:
        return context
    failed = [item.item_id for item in progress.open if item.outcome is Outcome.FAILED]
    said = [KeyInformation(item.item_id, item.words[:MAX_ABSTRACT_CHARS]) for item in progress.open]
    return replace(
        context,
        item_state_updates=(*context.item_state_updates, *(ItemState(item, OPEN) for item in failed)),
        key_information=(*context.key_information, *said),
    )
