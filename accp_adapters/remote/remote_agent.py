"""An agent on another machine as a function from AgentContext to its reply (ACI sections 2.1 and 5.3).

    isolate(RemoteAgent(A2aWire("https://crm.example"), agent_id="crm"), agent_id="crm")
    isolate(RemoteAgent(AccpWire("wss://crm.example"), agent_id="crm"), agent_id="crm")

The context leaves and comes back, checked. What the agent opens or queries is read from the master's store if its
context grants it. The long results that the agent stored are fetched from it, or left there and queried by `query`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Final, Protocol

from accp_adapters.remote.granted_references import GrantedReferences
from accp_adapters.remote.reference_request import DEFAULT_TOKENS, PeerAnswer, ReferenceRequest, query_peer
from accp_adapters.remote.replies import accept, check_agent, with_stored_results
from accp_adapters.remote.shared_texts import FetchText, SharedTexts
from accp_core.aci import AcceptedReply, AgentContext, AgentReply
from accp_core.bounded import SizedCache
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.references import check_grant, checked_text, parse_reference, reference_to, uri_to_key

__all__ = ["AgentConnection", "RemoteAgent", "Wire"]

MAX_RESULT_BYTES: Final = 4 << 20
"""Bytes of the keys and deliveries of results that the agent stores; the oldest are forgotten."""


class AgentConnection(Protocol):
    """An open connection to the agent."""

    async def deliver(self, context: AgentContext, texts: SharedTexts) -> tuple[AgentReply, str]:
        """Return the agent's reply and the id of the delivery; the agent is given what it opens from `texts`.

        Raises:
            ProtocolError: E2003, the agent opens too much; the code of the agent's own refusal.
        """

    async def ask(self, request: ReferenceRequest, delivery: str) -> PeerAnswer:
        """Return the agent's answer about what it stored in a delivery; raises the code of its refusal."""


class Wire(Protocol):
    """The way to one agent: how contexts and references travel."""

    def connect(self, agent_id: str, seconds: float) -> AbstractAsyncContextManager[AgentConnection]:
        """Connect to the agent; no call takes longer than `seconds`.

        Raises:
            ProtocolError: The connection is refused or lost, with the code of that.
            TimeoutError: The agent does not answer.
        """


class RemoteAgent:
    """An agent that takes contexts: `await agent(context)`, or `agent.run(context)` in a thread.

    Each delivery and each query has a connection of its own. With `leave_results`, the agent remembers between two
    calls which delivery stored a result.
    """

    def __init__(
        self,
        wire: Wire,
        *,
        agent_id: str,
        fetch: FetchText | GrantedReferences | None = None,
        timeout: float = 300.0,
        leave_results: bool = False,
    ) -> None:
        """Call the agent at the end of a wire.

        Args:
            wire: `A2aWire` or `AccpWire`.
            agent_id: The AgentID whose contexts the agent takes.
            fetch: Reads the texts that a context grants from the master's store; None: the agent can open none. A
                master that is itself an agent passes the references that it was granted.
            timeout: Seconds that one delivery or query may take, with all reconnections; no other limit applies.
            leave_results: Leave the agent's long results where they are, for `query`; the reply holds their previews
                and references. A master that puts the reply into its own store, as `isolate` does, fetches them.
        """
        self.agent_id: Final = agent_id
        self._wire: Final = wire
        self._fetch = fetch
        self._timeout = timeout
        self._leave_results = leave_results
        self._deliveries: Final[SizedCache[str, str]] = SizedCache(MAX_RESULT_BYTES)

    async def __call__(self, context: AgentContext) -> AcceptedReply:
        """Return the agent's reply to `context`: its context, checked, and the whole of each long result.

        LangGraph's `isolate` and `Interaction.receive` take the reply as it is. A result in `reply.full` is a preview
        in `reply.context`.

        Raises:
            ProtocolError: E5001, the context is another agent's, or the reply breaks a rule of `accept_reply`; E2001,
                the agent returned another text for a reference; E2003, it opens or cites too much; E3001, the delivery
                took too long; the code of the agent's own refusal, or of the connection.
        """
        check_agent(context, self.agent_id)
        async with self._connected() as connection:
            reply, delivery = await connection.deliver(context, SharedTexts(context, self._fetch))
            accepted = accept(context, reply)
            if not self._leave_results:
                return await with_stored_results(context, accepted, partial(_stored_text, connection, delivery))
        for key in filter(None, map(uri_to_key, accepted.stored)):
            self._deliveries.put(key, delivery, len(key) + len(delivery))
        return accepted

    async def query(
        self, ref: str, query: str = "", *, offset: int = 0, limit: int | None = None, tokens: int = DEFAULT_TOKENS
    ) -> str:
        """Return what a query finds in results that the agent stores, as the tool `accp_fetch` answers it.

        An agent that knows no queries sends the whole texts, and the query runs here.

        Args:
            ref: References of one reply with `leave_results`, such as "$cold.…".
            query: A SELECT, a condition, a path or words; empty: everything. A SELECT may name references, too.
            offset: Rows or lines to skip.
            limit: Rows or lines to return at most; None: as many as fit.
            tokens: Tokens of the answer (o200k_base).

        Raises:
            ProtocolError: E5002, the agent does not store a reference, or stored it in another delivery; E1004, the
                query is not understood; E2003, it takes too much; E3001, it takes too long.
        """
        request = ReferenceRequest(ref=ref, query=query, offset=offset, limit=limit, tokens=tokens)
        stored = self._deliveries.keys()
        delivery = self._deliveries.get(check_grant(request.to_fetch().references[0], stored)) or ""
        granted = [key for key in stored if self._deliveries.get(key) == delivery]
        request = request.with_whole_keys(partial(check_grant, granted=granted))
        async with self._connected() as connection:

            async def text_of(reference: str) -> str:
                return await _stored_text(connection, delivery, parse_reference(reference))

            return await query_peer(request, partial(connection.ask, delivery=delivery), text_of)

    def run(self, context: AgentContext) -> AcceptedReply:
        """Return the same as `await agent(context)`, for callers without an event loop."""
        return asyncio.run(self(context))

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[AgentConnection]:
        """Connect, for at most the agent's time."""
        try:
            async with (
                asyncio.timeout(self._timeout),
                self._wire.connect(self.agent_id, self._timeout) as connection,
            ):
                yield connection
        except TimeoutError as error:
            reason = f"expected {self.agent_id!r} to answer within {self._timeout!r} seconds, it did not"
            raise ProtocolError(reason, code=ErrorCode.TIMEOUT) from error


async def _stored_text(connection: AgentConnection, delivery: str, key: str) -> str:
    """Return the text that the agent stored under a key of its own.

    Raises:
        ProtocolError: E2001, it is another text; the code of the agent's refusal.
    """
    return checked_text(key, (await connection.ask(ReferenceRequest(ref=reference_to(key)), delivery)).text)
