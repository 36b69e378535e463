"""An agent somewhere else, as a function from AgentContext to AgentContext (ACI sections 2.1 and 5.3).

    isolate(RemoteAgent("https://crm.example", agent_id="crm", reply=Reply), agent_id="crm")

The context leaves in a `req:execute` frame and comes back in `done:execute`, checked. An agent whose card does not
declare the extension gets words and data, and is understood in words. References stay references: what the agent asks
for is opened here, if its context grants it; what it kept of long results is fetched from it.
"""

from __future__ import annotations

import asyncio
import inspect
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final, TypeAlias

from a2a.client import A2ACardResolver, Client, ClientConfig, create_client
from a2a.client.errors import A2AClientError, A2AClientTimeoutError
from a2a.types import AgentCard, Message, Part, Role, SendMessageRequest, Task, TaskState
from a2a.utils.errors import A2AError
from httpx import AsyncClient

from accp_adapters.a2a.client import AccpClientInterceptor
from accp_adapters.a2a.teams.contexts import (
    MASTER,
    ContextReply,
    check_failure,
    completed,
    delivery_parts,
    failure_part,
    found_parts,
    question_part,
    text_in,
    wanted,
)
from accp_adapters.a2a.wire.errors import error_code
from accp_adapters.a2a.wire.extension import is_declared
from accp_adapters.a2a.wire.states import state_kind
from accp_core.accp import ErrorCode
from accp_core.aci import AgentContext, accept_reply, check_grant
from accp_core.aci.checks import MAX_ABSTRACT_CHARS
from accp_core.errors import ProtocolError
from accp_core.references import uri_to_key

__all__ = ["Fetch", "RemoteAgent"]

_MOST: Final = 100
"""References that an agent may ask for in one delivery, and long results that one reply may have."""
_REFUSED: Final = frozenset({TaskState.TASK_STATE_REJECTED, TaskState.TASK_STATE_AUTH_REQUIRED})

Fetch: TypeAlias = Callable[[str], str | Awaitable[str | None] | None]
"""Returns the text under a key of the master's store, such as "cold.c9523506b4bd", None where there is none."""


class RemoteAgent:
    """An A2A agent that takes contexts, wherever it runs; `await agent(context)`, or `agent.run(context)` in a thread.

    It keeps nothing between two calls but the agent's card: each delivery is an A2A context of its own.
    """

    def __init__(
        self,
        agent: str | AgentCard,
        *,
        agent_id: str,
        fetch: Fetch | None = None,
        reply: Callable[..., Any] | None = None,
        config: ClientConfig | None = None,
        timeout: float = 300.0,
    ) -> None:
        """Call the agent at a URL, or of a card.

        Args:
            agent: Where its card is, or the card.
            agent_id: The AgentID whose contexts it takes.
            fetch: Opens what a context grants, for the agent that asks for it; None: nothing can be opened.
            reply: Makes the result from `context=` and `full=` (item to the whole of a long result), such as `Reply`
                of the LangGraph adapter, which keeps long results in the graph's store. None: the context alone, in
                which a long result is its preview; `deliver` gives both.
            config: How to connect: transports, HTTP client, credentials. An HTTP client of yours stays open.
            timeout: Seconds that one delivery may take.
        """
        self.agent_id: Final = agent_id
        self._agent = agent
        self._fetch = fetch
        self._reply = reply
        # A context is answered by what the task is in the end.
        self._config = replace(config or ClientConfig(), streaming=False, polling=False)
        self._timeout = timeout

    async def __call__(self, context: AgentContext) -> Any:
        """Return what came of `context`: the context with states and abstracts, or what `reply` makes of it.

        Raises:
            ProtocolError: as `deliver`.
        """
        found = await self.deliver(context)
        return found.context if self._reply is None else self._reply(context=found.context, full=dict(found.full))

    def run(self, context: AgentContext) -> Any:
        """Return the same, for callers without an event loop."""
        return asyncio.run(self(context))

    async def deliver(self, context: AgentContext) -> ContextReply:
        """Return the context as the agent returned it, checked, and the whole of each long result.

        Raises:
            ProtocolError: E5001, the context is another agent's, or the reply breaks what `accept_reply` holds;
                E3001, it took too long; the code of the agent's own refusal, or of the A2A error.
        """
        if context.agent_id != self.agent_id:
            reason = f"expected a context of agent {self.agent_id!r}, found one of {context.agent_id!r}"
            raise ProtocolError(reason, code=ErrorCode.POLICY_DENIED)
        try:
            async with asyncio.timeout(self._timeout), self._connected() as (client, frames):
                return await _Delivery(client, context, self._fetch, frames=frames).run()
        except (TimeoutError, A2AClientTimeoutError) as error:
            reason = f"expected {self.agent_id!r} to answer within {self._timeout!r} seconds, it did not"
            raise ProtocolError(reason, code=ErrorCode.TIMEOUT) from error
        except (A2AError, A2AClientError) as error:
            raise ProtocolError(f"{self.agent_id!r}: {error}", code=error_code(error)) from error

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[tuple[Client, bool]]:
        """Connect, and tell whether the agent takes frames."""
        card = await self._card()
        client = await create_client(card, self._config, interceptors=[AccpClientInterceptor()])
        try:
            yield client, is_declared(card)
        finally:
            # Closing it would close the caller's own HTTP client.
            if self._config.httpx_client is None:
                await client.close()

    async def _card(self) -> AgentCard:
        if isinstance(self._agent, str):
            async with AsyncClient() as http:
                self._agent = await A2ACardResolver(http, self._agent).get_agent_card()
        return self._agent


class _Delivery:
    """One context on its way, and the references that are opened meanwhile."""

    def __init__(self, client: Client, context: AgentContext, fetch: Fetch | None, *, frames: bool) -> None:
        self._client = client
        self._context = context
        self._fetch = fetch
        self._frames = frames
        # A message id of this form is the msg_id of the frame in it, too.
        self._owner = secrets.token_hex(6)

    async def run(self) -> ContextReply:
        """Deliver, answer questions, and return what came back."""
        parts = delivery_parts(self._context, self._owner, frames=self._frames)
        answer = await self._send(Message(message_id=self._owner, role=Role.ROLE_USER, parts=parts))
        for _ in range(_MOST):
            asked = wanted(_parts_of(answer))
            if asked is None:
                break
            answer = await self._send(await self._opened(answer, *asked))
        parts = _parts_of(answer)
        _check_end(answer, parts)
        return await self._accepted(completed(self._context, parts, self._owner), answer.context_id)

    async def _send(self, message: Message) -> Task | Message:
        """Return the task or the message that answers."""
        answer: Task | Message = Task()
        async for response in self._client.send_message(SendMessageRequest(message=message)):
            answer = response.task if response.HasField("task") else response.message
        return answer

    # "References in ContextURI are grants": the agent may open these and no others.
    async def _opened(self, answer: Task | Message, ref: str, correlation_id: str) -> Message:
        """Return the message that answers the agent's question with a text, or refuses it."""
        owner = secrets.token_hex(6)
        named = {"sender": MASTER, "correlation_id": correlation_id, "owner": owner}
        try:
            parts = found_parts(ref, await self._text(check_grant(self._context, ref)), **named)
        except ProtocolError as refusal:
            parts = [failure_part(refusal, **named)]
        task_id = answer.id if isinstance(answer, Task) else ""
        return Message(
            message_id=owner, role=Role.ROLE_USER, task_id=task_id, context_id=answer.context_id, parts=parts
        )

    async def _text(self, key: str) -> str:
        text = self._fetch(key) if self._fetch is not None else None
        if inspect.isawaitable(text):
            text = await text
        if text is None:
            reason = f"expected a text under {f'${key}'!r}, found none"
            raise ProtocolError(reason, code=ErrorCode.REF_NOT_FOUND)
        return text

    async def _accepted(self, reply: ContextReply, context_id: str) -> ContextReply:
        """Return the reply after its checks, with the texts that the agent kept in the place of its references."""
        kept = [uri for uri in reply.context.context_uri if uri not in self._context.context_uri]
        accepted = accept_reply(self._context, reply.context, stored=kept)
        if len(kept) > _MOST:
            reason = f"expected at most {_MOST} long results, found {len(kept)!r}"
            raise ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
        full = dict(reply.full)
        for key in filter(None, map(uri_to_key, kept)):
            ref = f"${key}"
            cited = [entry.item_id for entry in accepted.key_information if ref in entry.output_abstract]
            full |= dict.fromkeys(cited, await self._kept(ref, context_id)) if cited else {}
        whole = {item: text for item, text in full.items() if len(text) <= MAX_ABSTRACT_CHARS}
        entries = (
            replace(entry, output_abstract=whole.get(entry.item_id, entry.output_abstract))
            for entry in accepted.key_information
        )
        context = replace(accepted, key_information=tuple(entries), context_uri=self._context.context_uri)
        return ContextReply(context=context, full={item: text for item, text in full.items() if item not in whole})

    async def _kept(self, ref: str, context_id: str) -> str:
        """Return the text that the agent kept under a reference of its own."""
        owner = secrets.token_hex(6)
        asked = [question_part(ref, sender=MASTER, owner=owner)]
        message = Message(message_id=owner, role=Role.ROLE_USER, context_id=context_id, parts=asked)
        parts = _parts_of(await self._send(message))
        check_failure(parts)
        return text_in(parts)


def _parts_of(answer: Task | Message) -> list[Part]:
    """Return what was said last, and then what was made."""
    if isinstance(answer, Message):
        return list(answer.parts)
    return [*answer.status.message.parts, *(part for artifact in answer.artifacts for part in artifact.parts)]


def _check_end(answer: Task | Message, parts: Sequence[Part]) -> None:
    """Refuse a task that ended, or stands, otherwise than complete.

    Raises:
        ProtocolError: the code that its frame names; E5001 for one that was rejected or wants a log-in, E9999 for any
            other.
    """
    check_failure(parts)
    if isinstance(answer, Message) or answer.status.state == TaskState.TASK_STATE_COMPLETED:
        return
    code = ErrorCode.POLICY_DENIED if answer.status.state in _REFUSED else ErrorCode.INTERNAL_ERROR
    said = f": {text_in(parts)}" if text_in(parts) else ""
    raise ProtocolError(
        f"expected a completed task, found one {state_kind(answer.status.state).state_name}{said}", code=code
    )
