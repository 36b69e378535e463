"""An agent behind ACCP as a function from AgentContext to its reply (ACI sections 2.1 and 5.3).

    isolate(RemoteAgent("wss://crm.example", agent_id="crm"), agent_id="crm")

The context leaves in a `req:execute` frame and comes back in `done:execute`, checked. What the agent opens or queries
is read from the master's store if its context grants it; its long results are fetched, or left there for `query`.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any, Final

from accp_adapters.bindings.accp.client_session import ClientSession
from accp_adapters.bindings.accp.connect import ClientOptions, connect
from accp_adapters.bindings.agents.context_messages import TextAnswer, TextWanted, ask_message, text_in
from accp_adapters.remote import (
    DEFAULT_TOKENS,
    MAX_REFERENCES,
    FetchText,
    GrantedReferences,
    ReferenceRequest,
    SharedTexts,
    accept,
    with_stored_results,
)
from accp_adapters.remote.replies import reply_with
from accp_adapters.tokens import o200k_base
from accp_core.accp import PRACTICAL_LIMITS, Codec, Message
from accp_core.aci import AcceptedReply, AgentContext
from accp_core.bounded import SizedCache
from accp_core.bridges.aci_in_accp import delivery_message, read_context
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.references import check_grant, checked_text, parse_reference, reference_to, uri_to_key

__all__ = ["RemoteAgent"]

MAX_HELD_BYTES: Final = 4 << 20
"""Bytes of the keys and deliveries of results that agents hold; the oldest are forgotten."""


class RemoteAgent:
    """An agent behind `accp serve` that takes contexts: `await agent(context)`, or `agent.run(context)` in a thread.

    Each delivery and each query has a session of its own, which goes on over lost connections.
    """

    def __init__(
        self,
        url: str,
        *,
        agent_id: str,
        caller: str = "master",
        fetch: FetchText | GrantedReferences | None = None,
        timeout: float = 300.0,
        leave_results: bool = False,
        codec: Codec | None = None,
        options: ClientOptions | None = None,
        **connection: Any,
    ) -> None:
        """Call the agent at a URL.

        Args:
            url: An http(s) or ws(s) URL, as `connect` takes it.
            agent_id: The AgentID whose contexts the agent takes.
            caller: The agent in whose name contexts are sent; the server may allow others to its principal only.
            fetch: Reads the texts that a context grants from the master's store; None: the agent can open none. A
                master that is itself an agent passes the references that it was granted.
            timeout: Seconds that one delivery or query may take, with all reconnections.
            leave_results: Leave the agent's long results where they are, for `query`; the reply holds their previews
                and references. A master that puts the reply into its own store, as `isolate` does, fetches them.
            codec: Encodes and decodes; None: one whose frames may hold long texts.
            options: Limits and times of the connection.
            connection: `token` and `tls`, as `connect` takes them.
        """
        self.agent_id: Final = agent_id
        self._url = url
        self._fetch = fetch
        self._timeout = timeout
        self._leave_results = leave_results
        self._connection: Final = {**connection, "agent_id": caller}
        self._codec = codec
        self._options: Final = replace(options or ClientOptions(), timeout=None)
        self._held: Final[SizedCache[str, str]] = SizedCache(MAX_HELD_BYTES)

    async def __call__(self, context: AgentContext) -> AcceptedReply:
        """Return the agent's reply to `context`: its context, checked, and the whole of each long result.

        LangGraph's `isolate` and `Interaction.receive` take the reply as it is. A result in `reply.full` is a preview
        in `reply.context`.

        Raises:
            ProtocolError: E5001, the context is another agent's, or the reply breaks a rule of `accept_reply`; E2001,
                the agent returned another text for a reference; E2003, it opens or cites too much; E3001, the delivery
                took too long; the code of the agent's own refusal, or of a session that is lost.
        """
        if context.agent_id != self.agent_id:
            reason = f"expected a context of agent {self.agent_id!r}, found one of {context.agent_id!r}"
            raise ProtocolError(reason, code=ErrorCode.POLICY_DENIED)
        delivery = secrets.token_hex(12)
        async with self._connected() as session:
            answer = await self._deliver(session, context, delivery)
            accepted = accept(context, reply_with(read_context(answer)[0], context))
            if not self._leave_results:

                async def stored_text(key: str) -> str:
                    request = ReferenceRequest(ref=reference_to(key))
                    return checked_text(key, await _ask(session, request, delivery))

                return await with_stored_results(context, accepted, stored_text)
        for key in filter(None, map(uri_to_key, accepted.stored)):
            self._held.put(key, delivery, len(key) + len(delivery))
        return accepted

    async def query(
        self, ref: str, query: str = "", *, offset: int = 0, limit: int | None = None, tokens: int = DEFAULT_TOKENS
    ) -> str:
        """Return what a query finds in results that the agent holds, as the tool `accp_fetch` answers it.

        Args:
            ref: References of one reply with `leave_results`, such as "$cold.…".
            query: A SELECT, a condition, a path or words; empty: everything. A SELECT may name references, too.
            offset: Rows or lines to skip.
            limit: Rows or lines to return at most; None: as many as fit.
            tokens: Tokens of the answer (o200k_base).

        Raises:
            ProtocolError: E5002, the agent does not hold a reference, or holds it from another delivery; E1004, the
                query is not understood; E2003, it takes too much; E3001, it takes too long.
        """
        request = ReferenceRequest(ref=ref, query=query, offset=offset, limit=limit, tokens=tokens)
        named = request.to_fetch().references
        delivery = self._held.get(parse_reference(named[0])) or ""
        for reference in named:
            key = parse_reference(reference)
            check_grant(reference, (key,) if delivery and self._held.get(key) == delivery else ())
        async with self._connected() as session:
            return await _ask(session, request, delivery)

    def run(self, context: AgentContext) -> AcceptedReply:
        """Return the same as `await agent(context)`, for callers without an event loop."""
        return asyncio.run(self(context))

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[ClientSession]:
        """Connect, for at most the agent's time."""
        codec = self._codec or Codec(counter=o200k_base(), limits=PRACTICAL_LIMITS)
        try:
            async with (
                asyncio.timeout(self._timeout),
                connect(self._url, codec=codec, options=self._options, **self._connection) as session,
            ):
                yield session
        except TimeoutError as error:
            reason = f"expected {self.agent_id!r} to answer within {self._timeout!r} seconds, it did not"
            raise ProtocolError(reason, code=ErrorCode.TIMEOUT) from error

    async def _deliver(self, session: ClientSession, context: AgentContext, delivery: str) -> Message:
        """Deliver a context, and return the agent's answer; meanwhile it is given what it waits for."""
        texts, opened = SharedTexts(context, self._fetch), 0
        async with aclosing(session.stream(delivery_message(context, sender="", correlation_id=delivery))) as parts:
            async for part in parts:
                wanted = TextWanted.read(part)
                if wanted is None:
                    return part
                opened += 1
                if opened > MAX_REFERENCES:
                    reason = f"expected an agent that opens at most {MAX_REFERENCES} references, found more"
                    raise ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
                for piece in (await _answer(texts, wanted, delivery)).in_pieces():
                    await session.request(piece.to_message())
        raise ProtocolError("expected an answer, found the end of a stream", code=ErrorCode.INVALID_TYPE)


async def _answer(texts: SharedTexts, wanted: TextWanted, delivery: str) -> TextAnswer:
    """Return the text that an agent waits for, or why it does not get it."""
    try:
        return TextAnswer(delivery=delivery, number=wanted.number, text=await texts.answer(wanted.request))
    except ProtocolError as refusal:
        return TextAnswer(delivery=delivery, number=wanted.number, refusal=refusal)


async def _ask(session: ClientSession, request: ReferenceRequest, delivery: str) -> str:
    """Return what the agent says about what it stored in a delivery."""
    return text_in((await session.request(ask_message(request, delivery))).payload, "data")
