"""One context on its way to a remote agent, and what the agent opens until its reply comes (ACI section 5.3)."""

from __future__ import annotations

import inspect
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

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
from accp_adapters.a2a.teams.granted_references import GrantedReferences
from accp_adapters.a2a.teams.reference_messages import ReferenceRequest, answer_parts, answer_request, request_in
from accp_adapters.a2a.wire.extension import is_declared
from accp_adapters.a2a.wire.states import state_kind
from accp_core.accp import ErrorCode
from accp_core.aci import AcceptedReply, AgentContext, AgentReply, check_context_grant
from accp_core.aci.checks import MAX_ABSTRACT_CHARS
from accp_core.errors import ProtocolError
from accp_core.references import checked_text, reference_to, uri_to_key

__all__ = ["FetchText", "SentDelivery"]

MAX_REFERENCES: Final = 100
"""Requests that an agent may make in one delivery, and long results that one reply may have."""
_REFUSED: Final = frozenset({TaskState.TASK_STATE_REJECTED, TaskState.TASK_STATE_AUTH_REQUIRED})

FetchText: TypeAlias = Callable[[str], str | Awaitable[str | None] | None]
"""Returns the text under a key of the master's store, such as "cold.…", None where there is none."""


class SentDelivery:
    """One context on its way to the agent, and the references that are opened until its reply comes."""

    def __init__(
        self, connection: Connection, context: AgentContext, fetch: FetchText | GrantedReferences | None
    ) -> None:
        """Deliver `context` over a connection; `fetch` reads what the agent opens."""
        self._connection = connection
        self._context = context
        self._fetch = fetch
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
        accepted = self._accepted(completion_in(parts, self._context, self._message_id))
        if not leave_results:
            accepted = await self._fetched(accepted, answer.context_id)
        return accepted, answer.context_id

    # "References in ContextURI are grants": the agent may open these and no others.
    async def _answer(self, answer: Task | Message, request: ReferenceRequest) -> Message:
        """Return the message that gives the agent what it asks for, or refuses it."""
        message_id = secrets.token_hex(6)
        try:
            text = await self._asked_text(request)
            parts = answer_parts(request, text, sender=MASTER, message_id=message_id)
        except ProtocolError as refusal:
            correlation_id = request.correlation_id
            parts = [failure_part(refusal, sender=MASTER, correlation_id=correlation_id, message_id=message_id)]
        task_id = answer.id if isinstance(answer, Task) else ""
        return Message(
            message_id=message_id, role=Role.ROLE_USER, task_id=task_id, context_id=answer.context_id, parts=parts
        )

    async def _asked_text(self, request: ReferenceRequest) -> str:
        """Return what the agent asks for; a master that is itself an agent lets its own master run the query."""
        if request.query is None or not isinstance(self._fetch, GrantedReferences):
            return await answer_request(request, self._granted_text)
        asked = request.to_fetch()
        for reference in asked.references:
            check_context_grant(self._context, reference)
        return await self._fetch.query(
            request.ref, request.query, offset=request.offset, limit=request.limit, tokens=request.tokens
        )

    async def _granted_text(self, reference: str) -> str:
        """Return the text of the master's store behind a reference.

        Raises:
            ProtocolError: E5002, the context does not grant it; E2001, there is none, or another text.
        """
        key = check_context_grant(self._context, reference)
        if isinstance(self._fetch, GrantedReferences):
            return await self._fetch.open(reference_to(key))
        text = self._fetch(key) if self._fetch is not None else None
        if inspect.isawaitable(text):
            text = await text
        return checked_text(key, text)

    def _accepted(self, reply: AgentReply) -> AcceptedReply:
        """Return the reply after its checks."""
        accepted = AcceptedReply.of(self._context, reply)
        if len(accepted.stored) > MAX_REFERENCES:
            reason = f"expected at most {MAX_REFERENCES} long results, found {len(accepted.stored)!r}"
            raise ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
        return accepted

    async def _fetched(self, accepted: AcceptedReply, context_id: str) -> AcceptedReply:
        """Return a reply with the texts that the agent stored in place of its references.

        Args:
            accepted: The reply.
            context_id: The A2A context of the delivery, in which the agent's references open.
        """
        full = {**accepted.full, **await self._stored_results(accepted, context_id)}
        short = {item_id: text for item_id, text in full.items() if len(text) <= MAX_ABSTRACT_CHARS}
        entries = (
            replace(entry, output_abstract=short.get(entry.item_id, entry.output_abstract))
            for entry in accepted.context.key_information
        )
        context = replace(accepted.context, key_information=tuple(entries), context_uri=self._context.context_uri)
        long = {item_id: text for item_id, text in full.items() if item_id not in short}
        return AcceptedReply(context=context, full=long)

    async def _stored_results(self, accepted: AcceptedReply, context_id: str) -> dict[str, str]:
        """Return itemId to the text that the agent stored for it, for each abstract that cites one."""
        texts: dict[str, str] = {}
        for key in filter(None, map(uri_to_key, accepted.stored)):
            reference = reference_to(key)
            entries = accepted.context.key_information
            citing = [entry.item_id for entry in entries if reference in entry.output_abstract]
            if citing:
                texts |= dict.fromkeys(citing, await self._connection.stored_text(key, context_id))
        return texts


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
