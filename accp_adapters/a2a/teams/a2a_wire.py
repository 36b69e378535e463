"""The wire of a `RemoteAgent` to an agent behind A2A (ACI section 5.3).

The context leaves in a `req:execute` frame and comes back in `done:execute`. An agent whose card does not declare the
extension gets words and data, and may answer in words.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final

from a2a.client import A2ACardResolver, Client, ClientCallContext, ClientConfig, create_client
from a2a.client.errors import A2AClientError, A2AClientTimeoutError
from a2a.types import AgentCard, Message, Part, Role, SendMessageRequest, Task, TaskState
from a2a.utils.errors import A2AError
from httpx import AsyncClient

from accp_adapters.a2a.client import AccpClientInterceptor
from accp_adapters.a2a.teams.contexts import (
    MASTER,
    completion_in,
    delivery_parts,
    failure_part,
    raise_failure_in,
    words_in,
)
from accp_adapters.a2a.teams.reference_messages import (
    answer_parts,
    has_queries,
    is_answered,
    request_in,
    request_part,
)
from accp_adapters.a2a.wire.errors import error_code
from accp_adapters.a2a.wire.extension import is_declared
from accp_adapters.a2a.wire.states import state_kind
from accp_adapters.remote import MAX_OPENED, PeerAnswer, ReferenceRequest, SharedTexts
from accp_core.accp import ErrorCode
from accp_core.aci import AgentContext, AgentReply
from accp_core.errors import ProtocolError

__all__ = ["A2aWire"]

_REFUSED: Final = frozenset({TaskState.TASK_STATE_REJECTED, TaskState.TASK_STATE_AUTH_REQUIRED})


class A2aWire:
    """The way to an A2A agent; it keeps the agent's card, and each delivery has an A2A context of its own."""

    def __init__(self, agent: str | AgentCard, *, config: ClientConfig | None = None) -> None:
        """Reach the agent at a URL, or the agent of a card.

        Args:
            agent: The URL below which the agent's card is, or the card.
            config: How to connect: transports, HTTP client, credentials. An HTTP client in it is not closed.
        """
        self._agent = agent
        self._interceptor: Final = AccpClientInterceptor()
        # Only the final state of the task answers a context.
        self._config = replace(config or ClientConfig(), streaming=False, polling=False)

    @asynccontextmanager
    async def connect(self, agent_id: str, seconds: float) -> AsyncIterator[_A2aConnection]:
        """Connect; errors of the SDK are raised with their codes."""
        try:
            card = await self._card(seconds)
            client = await create_client(card, self._config, interceptors=[self._interceptor])
            try:
                yield _A2aConnection(client=client, card=card, seconds=seconds)
            finally:
                # Closing the client would close the caller's own HTTP client.
                if self._config.httpx_client is None:
                    await client.close()
        except A2AClientTimeoutError as error:
            raise TimeoutError from error
        except (A2AError, A2AClientError) as error:
            raise ProtocolError(f"{agent_id!r}: {error}", code=error_code(error)) from error

    async def _card(self, seconds: float) -> AgentCard:
        if isinstance(self._agent, str):
            async with AsyncClient(timeout=seconds) as http:
                self._agent = await A2ACardResolver(http, self._agent).get_agent_card()
        return self._agent


@dataclass(frozen=True, slots=True, kw_only=True)
class _A2aConnection:
    """A client and the card of its agent."""

    client: Client
    card: AgentCard
    seconds: float
    """The limit of one call; the SDK's own HTTP client would give up after 5."""

    async def deliver(self, context: AgentContext, texts: SharedTexts) -> tuple[AgentReply, str]:
        """Deliver a context, answer requests for texts, and return the reply and the A2A context of it."""
        # An id of this form is the msg_id of the frame in the message, too.
        message_id = secrets.token_hex(6)
        parts = delivery_parts(context, message_id, frames=is_declared(self.card))
        answer = await self._send(Message(message_id=message_id, role=Role.ROLE_USER, parts=parts))
        for _ in range(MAX_OPENED):
            request = request_in(_parts_of(answer))
            if request is None:
                break
            answer = await self._send(await _answer(texts, answer, request))
        parts = _parts_of(answer)
        _check_end(answer, parts)
        return completion_in(parts, context, message_id), answer.context_id

    async def ask(self, request: ReferenceRequest, delivery: str) -> PeerAnswer:
        """Return the agent's answer about what it stored in an A2A context; a refusal is raised."""
        if request.query is not None and not has_queries(self.card):
            return PeerAnswer("", False)
        message_id = secrets.token_hex(6)
        part = request_part(request, sender=MASTER, message_id=message_id)
        message = Message(message_id=message_id, role=Role.ROLE_USER, context_id=delivery, parts=[part])
        parts = _parts_of(await self._send(message))
        raise_failure_in(parts)
        answered = request.query is not None and is_answered(request, parts)
        return PeerAnswer(words_in(parts) if answered or request.query is None else "", answered)

    async def _send(self, message: Message) -> Task | Message:
        """Return the task or the message that answers `message`."""
        answer: Task | Message = Task()
        context = ClientCallContext(timeout=self.seconds)
        async for response in self.client.send_message(SendMessageRequest(message=message), context=context):
            answer = response.task if response.HasField("task") else response.message
        return answer


def _parts_of(answer: Task | Message) -> list[Part]:
    """Return the parts of a message; of a task those of its status, then those of its artifacts."""
    if isinstance(answer, Message):
        return list(answer.parts)
    return [*answer.status.message.parts, *(part for artifact in answer.artifacts for part in artifact.parts)]


async def _answer(texts: SharedTexts, answer: Task | Message, request: ReferenceRequest) -> Message:
    """Return the message that gives the agent what it asks for, or refuses it."""
    message_id = secrets.token_hex(6)
    try:
        text = await texts.answer(request)
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
