"""How far one subtask has come, and the table of what may happen to it next (ACI sections 4.1 and 5.3)."""

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
    """Where a subtask stands."""

    WAITING = "waiting"
    """For its dependencies, or for its turn; after a retry, for the next attempt."""
    DELIVERED = "delivered"
    """Its agent works on it."""
    RETURNED = "returned"
    """The reply is accepted and has to be verified."""
    COMPLETED = "completed"
    """Every item is verified."""
    FAILED = "failed"
    """The attempts are used up, or a dependency failed."""


class Move(StrEnum):
    """What happens to a subtask."""

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
"""State and move to the state after; there is no way from unfinished work to completed but verification."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far one subtask has come."""

    state: SubtaskState = SubtaskState.WAITING
    """Where it stands."""
    attempts: int = 0
    """How often it was delivered."""
    verified: Mapping[str, str] = field(default_factory=dict)
    """Item to abstract, of what is done; it is not asked for again."""
    open: tuple[OpenItem, ...] = ()
    """What the last attempt left undone, and why."""
    stored: tuple[str, ...] = ()
    """References to what the agent stored."""
    reply: AgentContext | None = None
    """What was accepted and has to be verified."""

    def advance(self, move: Move, **changes: Any) -> Progress:
        """Return the progress after that.

        Raises: LocalProtocolError E5001 when it is not allowed now.
        """
        after = TRANSITIONS.get((self.state, move))
        if after is None:
            raise LocalProtocolError(
                f"expected no {move.value!r} of a subtask that is {self.state.value}", code=ErrorCode.POLICY_DENIED
            )
        return replace(self, state=after, **changes)
