"""The progress of one subtask, and the table of its transitions (ACI sections 4.1 and 5.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from accp_core.aci.contexts import AgentContext
from accp_core.aci.evaluation import OpenItem
from accp_core.error_codes import ErrorCode
from accp_core.errors import LocalProtocolError

__all__ = ["TRANSITIONS", "Move", "Progress", "SubtaskState"]


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
    """The attempts are used up, or a dependency failed."""


class Move(StrEnum):
    """An event in the course of a subtask."""

    DELIVER = "deliver"
    ACCEPT = "accept"
    COMPLETE = "complete"
    RETRY = "retry"
    FAIL = "fail"


TRANSITIONS: Final[Mapping[tuple[SubtaskState, Move], SubtaskState]] = MappingProxyType(
    {
        (SubtaskState.WAITING, Move.DELIVER): SubtaskState.DELIVERED,
        (SubtaskState.WAITING, Move.FAIL): SubtaskState.FAILED,
        (SubtaskState.DELIVERED, Move.ACCEPT): SubtaskState.RETURNED,
        (SubtaskState.DELIVERED, Move.RETRY): SubtaskState.WAITING,
        (SubtaskState.DELIVERED, Move.FAIL): SubtaskState.FAILED,
        (SubtaskState.RETURNED, Move.COMPLETE): SubtaskState.COMPLETED,
        (SubtaskState.RETURNED, Move.RETRY): SubtaskState.WAITING,
        (SubtaskState.RETURNED, Move.FAIL): SubtaskState.FAILED,
    }
)
"""State and move to the next state; only verification leads to completed."""


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
    stored: tuple[str, ...] = ()
    """URIs of the texts that the agent stored."""
    reply: AgentContext | None = None
    """The accepted reply that has to be verified, or None."""

    def advance(self, move: Move, **changes: Any) -> Progress:
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
