"""The references that a context grants to an agent, opened by the master (ACI section 5.2)."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, NamedTuple

from accp_adapters.remote.reference_request import DEFAULT_TOKENS, PeerAnswer, ReferenceRequest, query_peer
from accp_core import references
from accp_core.aci import AgentContext, check_context_grant

__all__ = ["AskedReference", "GrantedReferences"]


class AskedReference(NamedTuple):
    """What the agent asks the master for."""

    request: ReferenceRequest
    answer: asyncio.Future[PeerAnswer]
    """Holds the answer when the master has given it."""


class GrantedReferences:
    """The references that an agent may open while it works on one context."""

    def __init__(self, context: AgentContext) -> None:
        """Grant the references of `context`."""
        self._context = context
        self._requests: asyncio.Queue[AskedReference] = asyncio.Queue()

    async def open(self, reference: str) -> str:
        """Return the text behind `reference`, such as "$cold.…", from the master.

        Raises:
            ProtocolError: E5002, the context does not grant it; E2001, the master has no text for it.
        """
        granted = references.reference_to(check_context_grant(self._context, reference))
        return (await self._ask(ReferenceRequest(ref=granted))).text

    async def query(
        self, ref: str, query: str = "", *, offset: int = 0, limit: int | None = None, tokens: int = DEFAULT_TOKENS
    ) -> str:
        """Return what a query finds behind one or several references, as the tool `accp_fetch` answers it.

        The master runs the query, and only the answer crosses the wire. One that knows no queries sends the whole
        texts, and the query runs here.

        Args:
            ref: The references, such as "$cold.…".
            query: A SELECT, a condition, a path or words; empty: everything. A SELECT may name references, too.
            offset: Rows or lines to skip.
            limit: Rows or lines to return at most; None: as many as fit.
            tokens: Tokens of the answer (o200k_base).

        Raises:
            ProtocolError: As `open`; E1004, the query is not understood; E2003, it takes too much time or memory.
        """
        request = ReferenceRequest(ref=ref, query=query, offset=offset, limit=limit, tokens=tokens)
        request = request.with_whole_keys(partial(check_context_grant, self._context))
        return await query_peer(request, self._ask, self.open)

    async def next_request(self, work: asyncio.Future[Any]) -> AskedReference | None:
        """Return the next reference that the agent opens, None when its work is done; waits for either."""
        request = asyncio.ensure_future(self._requests.get())
        either: set[asyncio.Future[Any]] = {work, request}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            return None if work.done() else request.result()
        finally:
            request.cancel()

    async def _ask(self, request: ReferenceRequest) -> PeerAnswer:
        asked = AskedReference(request, asyncio.get_running_loop().create_future())
        self._requests.put_nowait(asked)
        return await asked.answer
