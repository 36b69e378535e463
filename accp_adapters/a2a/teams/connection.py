"""A connection to a remote agent: messages sent, and what it stored opened or queried."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from a2a.client import Client, ClientCallContext
from a2a.types import AgentCard, Message, Part, Role, SendMessageRequest, Task

from accp_adapters.a2a.teams.contexts import MASTER, raise_failure_in, words_in
from accp_adapters.a2a.teams.reference_messages import has_queries, is_answered, request_part
from accp_adapters.remote import ReferenceRequest, answer_request
from accp_core.references import checked_text, parse_reference, reference_to

__all__ = ["Connection", "parts_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A client, the card of its agent, and how long a call may take."""

    client: Client
    card: AgentCard
    timeout: float
    """Seconds; the SDK's own HTTP client would give up after 5."""

    async def send(self, message: Message) -> Task | Message:
        """Return the task or the message that answers `message`."""
        answer: Task | Message = Task()
        context = ClientCallContext(timeout=self.timeout)
        async for response in self.client.send_message(SendMessageRequest(message=message), context=context):
            answer = response.task if response.HasField("task") else response.message
        return answer

    async def query(self, request: ReferenceRequest, context_id: str) -> str:
        """Return what a query finds in what the agent stored in an A2A context.

        An agent whose card has no such skill sends the whole texts, and the query runs here.

        Raises:
            ProtocolError: E2001, it is another text; E1004, E2003, the query is refused; the agent refuses.
        """
        if has_queries(self.card):
            parts = await self._ask(request, context_id)
            if is_answered(request, parts):
                return words_in(parts)

        async def text_of(reference: str) -> str:
            return await self.stored_text(parse_reference(reference), context_id)

        return await answer_request(request, text_of)

    async def stored_text(self, key: str, context_id: str) -> str:
        """Return the text that the agent stored under a key of its own.

        Raises:
            ProtocolError: E2001, it is another text; the code of the agent's refusal.
        """
        return checked_text(key, words_in(await self._ask(ReferenceRequest(ref=reference_to(key)), context_id)))

    async def _ask(self, request: ReferenceRequest, context_id: str) -> list[Part]:
        """Return the parts that answer a request; a refusal is raised."""
        message_id = secrets.token_hex(6)
        part = request_part(request, sender=MASTER, message_id=message_id)
        message = Message(message_id=message_id, role=Role.ROLE_USER, context_id=context_id, parts=[part])
        parts = parts_of(await self.send(message))
        raise_failure_in(parts)
        return parts


def parts_of(answer: Task | Message) -> list[Part]:
    """Return the parts of a message; of a task those of its status, then those of its artifacts."""
    if isinstance(answer, Message):
        return list(answer.parts)
    return [*answer.status.message.parts, *(part for artifact in answer.artifacts for part in artifact.parts)]
