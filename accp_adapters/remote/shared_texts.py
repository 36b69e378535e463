"""The texts of a master that an agent may open while it works on one context (ACI section 5.2)."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from accp_adapters.remote.granted_references import GrantedReferences
from accp_adapters.remote.reference_request import ReferenceRequest, answer_request
from accp_core.aci import AgentContext, check_context_grant
from accp_core.references import checked_text, reference_to

__all__ = ["FetchText", "SharedTexts"]

FetchText: TypeAlias = Callable[[str], str | Awaitable[str | None] | None]
"""Returns the text under a key of the master's store, such as "cold.…", None where there is none."""


# "References in ContextURI are grants": the agent may open these and no others.
class SharedTexts:
    """What the master reads for the agent of one context."""

    def __init__(self, context: AgentContext, fetch: FetchText | GrantedReferences | None) -> None:
        """Share what `context` grants; `fetch` reads it, None: nothing can be read."""
        self._context: Final = context
        self._fetch: Final = fetch

    async def answer(self, request: ReferenceRequest) -> str:
        """Return what the agent asks for; a master that is itself an agent lets its own master run the query.

        Raises:
            ProtocolError: E5002, the context does not grant a reference; E2001, there is no text, or another one; the
                codes of `answer_request`.
        """
        if request.query is None or not isinstance(self._fetch, GrantedReferences):
            return await answer_request(request, self._text)
        asked = request.to_fetch()
        for reference in asked.references:
            check_context_grant(self._context, reference)
        return await self._fetch.query(
            request.ref, request.query, offset=request.offset, limit=request.limit, tokens=request.tokens
        )

    async def _text(self, reference: str) -> str:
        """Return the text of the master's store behind a reference."""
        key = check_context_grant(self._context, reference)
        if isinstance(self._fetch, GrantedReferences):
            return await self._fetch.open(reference_to(key))
        text = self._fetch(key) if self._fetch is not None else None
        if inspect.isawaitable(text):
            text = await text
        return checked_text(key, text)
