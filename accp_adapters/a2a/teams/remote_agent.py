"""An agent behind A2A as a function from AgentContext to its reply (ACI sections 2.1 and 5.3).

    isolate(RemoteAgent("https://crm.example", agent_id="crm"), agent_id="crm")

The context leaves in a `req:execute` frame and comes back in `done:execute`, checked. An agent whose card does not
declare the extension gets words and data, and may answer in words. What the agent opens is read from the master's store
if its context grants it; the long results that the agent stored are fetched from it.
"""

from __future__ import annotations

import asyncio
import inspect
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final, TypeAlias

from a2a.client import A2ACardResolver, Client, ClientConfig, create_client
from a2a.client.errors import A2AClientError, A2AClientTimeoutError
from a2a.types import AgentCard, Message, Part, Role, SendMessageRequest, Task, TaskState
from a2a.utils.errors import A2AError
from httpx import AsyncClient

from accp_adapters.a2a.client import AccpClientInterceptor
from accp_adapters.a2a.teams.contexts import (
    MASTER,
    FetchRequest,
    completion_in,
    delivery_parts,
    failure_part,
    fetch_answer_parts,
    fetch_request_in,
    fetch_request_part,
    raise_failure_in,
    words_in,
)
from accp_adapters.a2a.wire.errors import error_code
from accp_adapters.a2a.wire.extension import is_declared
from accp_adapters.a2a.wire.states import state_kind
from accp_core.accp import ErrorCode
from accp_core.aci import AcceptedReply, AgentContext, AgentReply, check_context_grant
from accp_core.aci.checks import MAX_ABSTRACT_CHARS
from accp_core.errors import ProtocolError
from accp_core.references import checked_text, reference_to, uri_to_key

__all__ = ["FetchText", "RemoteAgent"]

MAX_REFERENCES: Final = 100
"""References that an agent may open in one delivery, and long results that one reply may have."""
_REFUSED: Final = frozenset({TaskState.TASK_STATE_REJECTED, TaskState.TASK_STATE_AUTH_REQUIRED})

FetchText: TypeAlias = Callable[[str], str | Awaitable[str | None] | None]
"""Returns the text under a key of the master's store, such as "cold.…", None where there is none."""


class RemoteAgent:
    """An A2A agent that takes contexts: `await agent(context)`, or `agent.run(context)` in a thread.

    Between two calls it keeps nothing but the agent's card: each delivery has an A2A context of its own.
    """

    def __init__(
        self,
        agent: str | AgentCard,
        *,
        agent_id: str,
        fetch: FetchText | None = None,
        config: ClientConfig | None = None,
        timeout: float = 300.0,
    ) -> None:
        """Call the agent at a URL, or the agent of a card.

        Args:
            agent: The URL below which the agent's card is, or the card.
            agent_id: The AgentID whose contexts the agent takes.
            fetch: Reads the texts that a context grants from the master's store; None: the agent can open none.
            config: How to connect: transports, HTTP client, credentials. An HTTP client in it is not closed.
            timeout: Seconds that one delivery may take.
        """
        self.agent_id: Final = agent_id
        self._agent = agent
        self._fetch = fetch
        # Only the final state of the task answers a context.
        self._config = replace(config or ClientConfig(), streaming=False, polling=False)
        self._timeout = timeout

    async def __call__(self, context: AgentContext) -> AcceptedReply:
        """Return the agent's reply to `context`: its context, checked, and the whole of each long result.

        LangGraph's `isolate` and `Interaction.receive` take the reply as it is. A result in `reply.full` is a preview
        in `reply.context`.

        Raises:
            ProtocolError: E5001, the context is another agent's, or the reply breaks a rule of `accept_reply`; E2001,
                the agent returned another text for a reference; E2003, it cites too many long results; E3001, the
                delivery took too long; the code of the agent's own refusal, or of the A2A error.
        """
        if context.agent_id != self.agent_id:
            reason = f"expected a context of agent {self.agent_id!r}, found one of {context.agent_id!r}"
            raise ProtocolError(reason, code=ErrorCode.POLICY_DENIED)
        try:
            async with asyncio.timeout(self._timeout), self._connected() as (client, frames):
                return await _SentDelivery(client, context, self._fetch, frames=frames).run()
        except (TimeoutError, A2AClientTimeoutError) as error:
            reason = f"expected {self.agent_id!r} to answer within {self._timeout!r} seconds, it did not"
            raise ProtocolError(reason, code=ErrorCode.TIMEOUT) from error
        except (A2AError, A2AClientError) as error:
            raise ProtocolError(f"{self.agent_id!r}: {error}", code=error_code(error)) from error

    def run(self, context: AgentContext) -> AcceptedReply:
        """Return the same as `await agent(context)`, for callers without an event loop."""
        return asyncio.run(self(context))

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[tuple[Client, bool]]:
        """Connect; yield the client, and whether the agent accepts frames."""
        card = await self._card()
        client = await create_client(card, self._config, interceptors=[AccpClientInterceptor()])
        try:
            yield client, is_declared(card)
        finally:
            # Closing the client would close the caller's own HTTP client.
            if self._config.httpx_client is None:
                await client.close()

    async def _card(self) -> AgentCard:
        if isinstance(self._agent, str):
            async with AsyncClient() as http:
                self._agent = await A2ACardResolver(http, self._agent).get_agent_card()
        return self._agent


class _SentDelivery:
    """One context on its way to the agent, and the references that are opened until its reply comes."""

    def __init__(self, client: Client, context: AgentContext, fetch: FetchText | None, *, frames: bool) -> None:
        self._client = client
        self._context = context
        self._fetch = fetch
        self._frames = frames
        # An id of this form is the msg_id of the frame in the message, too.
        self._message_id = secrets.token_hex(6)

    async def run(self) -> AcceptedReply:
        """Deliver the context, answer requests for texts, and return the checked reply."""
        parts = delivery_parts(self._context, self._message_id, frames=self._frames)
        answer = await self._send(Message(message_id=self._message_id, role=Role.ROLE_USER, parts=parts))
        for _ in range(MAX_REFERENCES):
            request = fetch_request_in(_parts_of(answer))
            if request is None:
                break
            answer = await self._send(await self._fetch_answer(answer, request))
        parts = _parts_of(answer)
        _check_end(answer, parts)
        return await self._accepted(completion_in(parts, self._context, self._message_id), answer.context_id)

    async def _send(self, message: Message) -> Task | Message:
        """Return the task or the message that answers `message`."""
        answer: Task | Message = Task()
        async for response in self._client.send_message(SendMessageRequest(message=message)):
            answer = response.task if response.HasField("task") else response.message
        return answer

    # "References in ContextURI are grants": the agent may open these and no others.
    async def _fetch_answer(self, answer: Task | Message, request: FetchRequest) -> Message:
        """Return the message that gives the agent the text which it asks for, or refuses it."""
        message_id = secrets.token_hex(6)
        try:
            text = await self._text(check_context_grant(self._context, request.reference))
            parts = fetch_answer_parts(request, text, sender=MASTER, message_id=message_id)
        except ProtocolError as refusal:
            correlation_id = request.correlation_id
            parts = [failure_part(refusal, sender=MASTER, correlation_id=correlation_id, message_id=message_id)]
        task_id = answer.id if isinstance(answer, Task) else ""
        return Message(
            message_id=message_id, role=Role.ROLE_USER, task_id=task_id, context_id=answer.context_id, parts=parts
        )

    async def _text(self, key: str) -> str:
        """Return the text under a key of the master's store.

        Raises:
            ProtocolError: E2001, there is none, or another text.
        """
        text = self._fetch(key) if self._fetch is not None else None
        if inspect.isawaitable(text):
            text = await text
        return checked_text(key, text)

    async def _accepted(self, reply: AgentReply, context_id: str) -> AcceptedReply:
        """Return the reply after its checks, with the texts that the agent stored in place of its references.

        Args:
            reply: What the agent returned.
            context_id: The A2A context of the delivery, in which the agent's references open.
        """
        accepted = AcceptedReply.of(self._context, reply)
        if len(accepted.stored) > MAX_REFERENCES:
            reason = f"expected at most {MAX_REFERENCES} long results, found {len(accepted.stored)!r}"
            raise ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
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
                texts |= dict.fromkeys(citing, await self._stored_text(key, context_id))
        return texts

    async def _stored_text(self, key: str, context_id: str) -> str:
        """Return the text that the agent stored under a key of its own.

        Raises:
            ProtocolError: E2001, it is another text; the code of the agent's refusal.
        """
        message_id = secrets.token_hex(6)
        request = fetch_request_part(reference_to(key), sender=MASTER, message_id=message_id)
        message = Message(message_id=message_id, role=Role.ROLE_USER, context_id=context_id, parts=[request])
        parts = _parts_of(await self._send(message))
        raise_failure_in(parts)
        return checked_text(key, words_in(parts))


def _parts_of(answer: Task | Message) -> list[Part]:
    """Return the parts of a message; of a task those of its status, then those of its artifacts."""
    if isinstance(answer, Message):
        return list(answer.parts)
    return [*answer.status.message.parts, *(part for artifact in answer.artifacts for part in artifact.parts)]


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
