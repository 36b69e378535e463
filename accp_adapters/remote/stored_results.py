"""The long results that an agent stored for its callers: previewed, cited, and opened by who was given them."""

from __future__ import annotations

from functools import partial
from typing import Final

from accp_adapters.remote.reference_request import ReferenceRequest, answer_request
from accp_adapters.serving.off_loop import in_thread
from accp_adapters.stores import SqliteColdStore, stored_keys
from accp_adapters.tokens import o200k_base
from accp_core import references
from accp_core.accp import ErrorCode
from accp_core.aci import AgentContext, AgentReply, offload_long, reply_from_words
from accp_core.bounded import SizedCache
from accp_core.compression import ResultLimits
from accp_core.errors import ProtocolError
from accp_core.ports import ColdStore, TokenCounter

__all__ = ["AgentResults"]

MAX_STORED_BYTES: Final = 256 << 20
"""Bytes of the long results of all A2A contexts; those of the oldest context are deleted."""


class AgentResults:
    """Long results in a store, in one session for each caller and A2A context."""

    def __init__(self, store: ColdStore | None, limits: ResultLimits | None, counter: TokenCounter | None) -> None:
        """Keep results in `store`; None: in memory, until the process ends."""
        self._store: Final = store or SqliteColdStore()
        self._limits: Final = limits or ResultLimits()
        self._counter: Final = counter or o200k_base()
        self._sessions: Final[SizedCache[str, int]] = SizedCache(MAX_STORED_BYTES)

    # "while only structured task descriptions and references to the full context are exchanged" (ACI section 4.1)
    async def leave(self, sent: AgentContext, result: AgentContext | AgentReply | str, session_id: str) -> AgentContext:
        """Return the context that leaves: long results are stored first, then previewed and cited.

        Raises:
            ProtocolError: E2003, the results are larger than all that may be kept; the codes of `AgentContext`.
        """
        context, texts = await in_thread(partial(self._previewed, sent, result))
        size = sum(len(stored.text.encode()) for stored in texts)
        if size > self._sessions.max_size:
            reason = f"expected long results of at most {self._sessions.max_size!r} bytes, found {size!r}"
            raise ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
        for stored in texts:
            await in_thread(partial(self._store.put, session_id, stored.key, stored.text))
        if texts:
            await self._keep(session_id, size)
        return context

    async def answer(self, request: ReferenceRequest, session_id: str) -> str:
        """Return what a request of this session asks for.

        Raises:
            ProtocolError: E5002, a reference was not cited in this session; E2001, E1004, E2003.
        """

        async def text_of(reference: str) -> str:
            # The session holds what was cited to this caller in this A2A context, and nothing else.
            granted = await in_thread(partial(stored_keys, self._store, session_id, reference))
            key = references.check_grant(reference, granted)
            return references.checked_text(key, await in_thread(partial(self._store.get, session_id, key)))

        return await answer_request(request, text_of)

    def _previewed(
        self, sent: AgentContext, result: AgentContext | AgentReply | str
    ) -> tuple[AgentContext, list[references.StoredText]]:
        """Return the context with previews for long results, and the texts to store."""
        if isinstance(result, str):
            result = reply_from_words(sent, result)
        reply = result if isinstance(result, AgentReply) else AgentReply(context=result)
        context = reply.context if isinstance(reply.context, AgentContext) else AgentContext.from_json(reply.context)
        returned, texts = offload_long(context, reply.full, limit=self._limits.abstract, counter=self._counter)
        return returned, list(texts)

    async def _keep(self, session_id: str, size: int) -> None:
        """Count the bytes of a session, and delete the oldest sessions where they are too many."""
        # A session with more than may be kept evicts itself: its last results are as old as its first.
        total = (self._sessions.pop(session_id) or 0) + size
        for evicted, _ in self._sessions.put(session_id, total, total):
            await in_thread(partial(self._store.purge, evicted))
