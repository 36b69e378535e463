"""One context on its way to a remote agent, and what the agent opens until its reply comes (ACI section 5.3)."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from functools import partial
from typing import Final

from a2a.types import Message, Part, Role, Task, TaskState

from accp_adapters.a2a.teams.connection import Connection, parts_of
from accp_adapters.a2a.teams.contexts import (
    MASTER,
    completion_in,
    delivery_parts,
    failure_part,
    raise_failure_in,
    words_in,
)
from accp_adapters.a2a.teams.reference_messages import answer_parts, request_in
from accp_adapters.a2a.wire.extension import is_declared
from accp_adapters.a2a.wire.states import state_kind
from accp_adapters.remote import (
    MAX_REFERENCES,
    FetchText,
    GrantedReferences,
    ReferenceRequest,
    SharedTexts,
    accept,
    with_stored_results,
)
from accp_core.accp import ErrorCode
from accp_core.aci import AcceptedReply, AgentContext
from accp_core.errors import ProtocolError

__all__ = ["SentDelivery"]

_REFUSED: Final = frozenset({TaskState.TASK_STATE_REJECTED, TaskState.TASK_STATE_AUTH_REQUIRED})


class SentDelivery:
    """One context on its way to the agent, and the references that are opened until its reply comes."""

    def __init__(
        self, connection: Connection, context: AgentContext, fetch: FetchText | GrantedReferences | None
    ) -> None:
        """Deliver `context` over a connection; `fetch` reads what the agent opens."""
        self._connection = connection
        self._context = context
        self._texts = SharedTexts(context, fetch)
        # An id of this form is the msg_id of the frame in the message, too.
        self._message_id = secrets.token_hex(6)

    async def run(self, *, leave_results: bool = False) -> tuple[AcceptedReply, str]:
        """Deliver the context, answer requests for texts, and return the checked reply and the A2A context of it.

        Args:
            leave_results: Leave the long results with the agent, and their references in the reply.
        """
        parts = delivery_parts(self._context, self._message_id, frames=is_declared(self._connection.card))
        answer = await self._connection.send(Message(message_id=self._message_id, role=Role.ROLE_USER, parts=parts))
        for _ in range(MAX_REFERENCES):
            request = request_in(parts_of(answer))
            if request is None:
                break
            answer = await self._connection.send(await self._answer(answer, request))
        parts = parts_of(answer)
        _check_end(answer, parts)
        accepted = accept(self._context, completion_in(parts, self._context, self._message_id))
        if not leave_results:
            stored_text = partial(self._connection.stored_text, context_id=answer.context_id)
            accepted = await with_stored_results(self._context, accepted, stored_text)
        return accepted, answer.context_id

    async def _answer(self, answer: Task | Message, request: ReferenceRequest) -> Message:
        """Return the message that gives the agent what it asks for, or refuses it."""
        message_id = secrets.token_hex(6)
        try:
            text = await self._texts.answer(request)
            parts = answer_parts(request, text, sender=MASTER, message_id=message_id)
        except ProtocolError as refusal:
            correlation_id = request.correlation_id
            parts = [failure_part(refusal, sender=MASTER, correlation_id=correlation_id, message_id=message_id)]
        task_id = answer.id if isinstance(answer, Task) else ""
        return Message(
            message_id=message_id, role=Role.ROLE_USER, task_id=task_id, context_id=answer.context_id, parts=parts
        )


def _check_end(answer: Task | Message, parts: Sequence[Part]) -> None:
    """Refuse a task that is in any state but completed.

    Raises:
        ProtocolError: The code in its frame; without a frame E5001 for a task that was rejected or needs a log-in,
            E9999 for any other.
    """
    raise_failure_in(parts)
    if isinstance(answer, Message) or answer.status.state == TaskState.TASK_STATE_COMPLETED:
        return
    code = ErrorCode.POLICY_DENIED if answer.status.state in _REFUSED else ErrorCode.INTERNAL_ERROR
    words = f": {words_in(parts)}" if words_in(parts) else ""
    name = state_kind(answer.status.state).state_name
    raise ProtocolError(f"expected a completed task, found one {name}{words}", code=code)
