"""An agent behind A2A as a function from AgentContext to its reply (ACI sections 2.1 and 5.3).

    isolate(RemoteAgent("https://crm.example", agent_id="crm"), agent_id="crm")

The context leaves in a `req:execute` frame and comes back in `done:execute`, checked. An agent whose card does not
declare the extension gets words and data, and may answer in words. What the agent opens or queries is read from the
master's store if its context grants it. The long results that the agent stored are fetched from it, or left there and
queried by `query`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

from a2a.client import A2ACardResolver, ClientConfig, create_client
from a2a.client.errors import A2AClientError, A2AClientTimeoutError
from a2a.types import AgentCard
from a2a.utils.errors import A2AError
from httpx import AsyncClient

from accp_adapters.a2a.client import AccpClientInterceptor
from accp_adapters.a2a.teams.connection import Connection
from accp_adapters.a2a.teams.sent_delivery import SentDelivery
from accp_adapters.a2a.wire.errors import error_code
from accp_adapters.remote import DEFAULT_TOKENS, FetchText, GrantedReferences, ReferenceRequest
from accp_core.accp import ErrorCode
from accp_core.aci import AcceptedReply, AgentContext
from accp_core.bounded import SizedCache
from accp_core.errors import ProtocolError
from accp_core.references import check_grant, parse_reference, uri_to_key

__all__ = ["FetchText", "RemoteAgent"]

MAX_HELD_BYTES: Final = 4 << 20
"""Bytes of the keys and A2A contexts of results that agents hold; the oldest are forgotten."""


class RemoteAgent:
    """An A2A agent that takes contexts: `await agent(context)`, or `agent.run(context)` in a thread.

    Between two calls it keeps the agent's card and, with `leave_results`, which results the agent holds: each delivery
    has an A2A context of its own.
    """

    def __init__(
        self,
        agent: str | AgentCard,
        *,
        agent_id: str,
        fetch: FetchText | GrantedReferences | None = None,
        config: ClientConfig | None = None,
        timeout: float = 300.0,
        leave_results: bool = False,
    ) -> None:
        """Call the agent at a URL, or the agent of a card.

        Args:
            agent: The URL below which the agent's card is, or the card.
            agent_id: The AgentID whose contexts the agent takes.
            fetch: Reads the texts that a context grants from the master's store; None: the agent can open none. A
                master that is itself an agent passes the references that it was granted.
            config: How to connect: transports, HTTP client, credentials. An HTTP client in it is not closed.
            timeout: Seconds that one delivery or query may take; no other limit of the SDK or of HTTP applies.
            leave_results: Leave the agent's long results where they are, for `query`; the reply holds their previews
                and references. A master that puts the reply into its own store, as `isolate` does, fetches them.
        """
        self.agent_id: Final = agent_id
        self._agent = agent
        self._fetch = fetch
        self._interceptor: Final = AccpClientInterceptor()
        # Only the final state of the task answers a context.
        self._config = replace(config or ClientConfig(), streaming=False, polling=False)
        self._timeout = timeout
        self._leave_results = leave_results
        self._held: Final[SizedCache[str, str]] = SizedCache(MAX_HELD_BYTES)

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
        async with self._connected() as connection:
            delivery = SentDelivery(connection, context, self._fetch)
            accepted, context_id = await delivery.run(leave_results=self._leave_results)
        if self._leave_results:
            for key in filter(None, map(uri_to_key, accepted.stored)):
                self._held.put(key, context_id, len(key) + len(context_id))
        return accepted

    async def query(
        self, ref: str, query: str = "", *, offset: int = 0, limit: int | None = None, tokens: int = DEFAULT_TOKENS
    ) -> str:
        """Return what a query finds in results that the agent holds, as the tool `accp_fetch` answers it.

        The agent runs the query where its card has the skill `accp_fetch`; otherwise it sends the whole texts, and the
        query runs here.

        Args:
            ref: References of one reply with `leave_results`, such as "$cold.…".
            query: A SELECT, a condition, a path or words; empty: everything. A SELECT may name references, too.
            offset: Rows or lines to skip.
            limit: Rows or lines to return at most; None: as many as fit.
            tokens: Tokens of the answer (o200k_base).

        Raises:
            ProtocolError: E5002, the agent does not hold a reference, or holds it in another A2A context; E1004, the
                query is not understood; E2003, it takes too much; E3001, it takes too long; the code of the A2A error.
        """
        request = ReferenceRequest(ref=ref, query=query, offset=offset, limit=limit, tokens=tokens)
        named = request.to_fetch().references
        context_id = self._held.get(parse_reference(named[0]))
        for reference in named:
            key = parse_reference(reference)
            check_grant(reference, (key,) if context_id and self._held.get(key) == context_id else ())
        async with self._connected() as connection:
            return await connection.query(request, context_id or "")

    def run(self, context: AgentContext) -> AcceptedReply:
        """Return the same as `await agent(context)`, for callers without an event loop."""
        return asyncio.run(self(context))

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Connection]:
        """Connect, for at most the agent's time; errors of the connection are raised with their codes."""
        try:
            async with asyncio.timeout(self._timeout):
                client = await create_client(await self._card(), self._config, interceptors=[self._interceptor])
                try:
                    yield Connection(client=client, card=await self._card(), timeout=self._timeout)
                finally:
                    # Closing the client would close the caller's own HTTP client.
                    if self._config.httpx_client is None:
                        await client.close()
        except (TimeoutError, A2AClientTimeoutError) as error:
            reason = f"expected {self.agent_id!r} to answer within {self._timeout!r} seconds, it did not"
            raise ProtocolError(reason, code=ErrorCode.TIMEOUT) from error
        except (A2AError, A2AClientError) as error:
            raise ProtocolError(f"{self.agent_id!r}: {error}", code=error_code(error)) from error

    async def _card(self) -> AgentCard:
        if isinstance(self._agent, str):
            async with AsyncClient(timeout=self._timeout) as http:
                self._agent = await A2ACardResolver(http, self._agent).get_agent_card()
        return self._agent
