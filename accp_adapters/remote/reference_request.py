"""What one end asks the other one about a reference, and how it is answered (ACCP section 5.4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Final, NamedTuple

from accp_adapters import fetching
from accp_adapters.fetching import FetchRequest, read_request
from accp_adapters.serving.off_loop import off_loop
from accp_adapters.tokens import o200k_base
from accp_core.references import parse_reference, reference_to, replace_references

__all__ = ["DEFAULT_TOKENS", "FETCH_OPERATION", "PeerAnswer", "ReferenceRequest", "answer_request", "query_peer"]

FETCH_OPERATION: Final = "fetch"
"""The operation that opens a reference."""
DEFAULT_TOKENS: Final = 4_000
MAX_ANSWER_TOKENS: Final = 32_000
"""Upper limit of the tokens of an answer; a request cannot raise it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceRequest:
    """A peer's request for the text behind a reference, or for what a query finds in it."""

    ref: str
    """The references as the peer wrote them, such as "$cold.…"."""
    query: str | None = None
    """What to look for, as `accp_fetch` takes it; None: the whole text is asked for."""
    offset: int = 0
    """Rows or lines to skip."""
    limit: int | None = None
    """Rows or lines to return at most; None: as many as fit."""
    tokens: int = DEFAULT_TOKENS
    """Tokens of the answer (o200k_base)."""
    correlation_id: str = ""
    """The correlation_id of the answer."""

    @property
    def payload(self) -> dict[str, Any]:
        """The request as the payload of a frame."""
        if self.query is None:
            return {"ref": self.ref}
        more = {"offset": self.offset, "limit": self.limit, "tokens": self.tokens}
        return {"ref": self.ref, "query": self.query, **{name: value for name, value in more.items() if value}}

    @classmethod
    def from_payload(cls, given: Mapping[str, Any], *, correlation_id: str = "") -> ReferenceRequest:
        """Return the request that a peer's payload makes; `to_fetch` refuses what is wrong in it."""
        return cls(
            ref=str(given.get("ref")),
            query=str(given["query"]) if given.get("query") is not None else None,
            offset=_whole_number(given.get("offset"), 0),
            limit=None if given.get("limit") is None else _whole_number(given.get("limit"), 0),
            tokens=max(_whole_number(given.get("tokens"), DEFAULT_TOKENS), 1),
            correlation_id=correlation_id,
        )

    def to_fetch(self) -> FetchRequest:
        """Return the request as the query of references takes it.

        Raises:
            ProtocolError: E1004, `offset` or `limit` is no whole number from 0 on.
        """
        return read_request({"ref": self.ref, "query": self.query, "offset": self.offset, "limit": self.limit})

    def with_whole_keys(self, check: Callable[[str], str]) -> ReferenceRequest:
        """Return the request as a frame holds it, with whole keys, once each grant is checked.

        Args:
            check: Checks the grant of one reference and returns its whole key.

        Raises:
            ProtocolError: As `to_fetch`, and the codes of `check`.
        """
        whole = {parse_reference(ref): reference_to(check(ref)) for ref in self.to_fetch().references}
        query = None if self.query is None else replace_references(self.query, whole.get)
        return replace(self, ref=replace_references(self.ref, whole.get), query=query)


class PeerAnswer(NamedTuple):
    """The answer of a peer to a request."""

    text: str
    is_answered: bool
    """Whether the peer ran the query; otherwise `text` is the whole text of the one reference, or empty."""


async def answer_request(request: ReferenceRequest, text_of: Callable[[str], Awaitable[str]]) -> str:
    """Return the text that a request asks for; a query runs in a thread.

    Args:
        request: The request.
        text_of: Checks the grant of one reference and returns its text.

    Raises:
        ProtocolError: The codes of `text_of`; E1004, the query is not understood; E2003, it takes too much.
    """
    if request.query is None:
        return await text_of(request.ref)
    asked = request.to_fetch()
    texts: Mapping[str, str] = {parse_reference(ref): await text_of(ref) for ref in asked.references}
    limit = min(request.tokens, MAX_ANSWER_TOKENS)
    return await off_loop(inf, lambda: fetching.answer(texts, asked, limit=limit, counter=o200k_base()))


async def query_peer(
    request: ReferenceRequest,
    ask: Callable[[ReferenceRequest], Awaitable[PeerAnswer]],
    text_of: Callable[[str], Awaitable[str]],
) -> str:
    """Return the peer's answer to a query; the query of a peer that knows none runs here, over the whole texts.

    Args:
        request: The request, whose grants are checked.
        ask: Asks the peer.
        text_of: Asks the peer for the whole text of one reference.

    Raises:
        ProtocolError: The codes of the peer; E1004, the query is not understood; E2003, it takes too much.
    """
    found = await ask(request)
    if found.is_answered:
        return found.text
    has_text = found.text and len(request.to_fetch().references) == 1

    async def whole_text(reference: str) -> str:
        return found.text if has_text else await text_of(reference)

    return await answer_request(request, whole_text)


def _whole_number(value: object, default: int) -> int:
    """Return a whole number as it is; -1, which the query refuses, for anything else."""
    return default if value is None else value if type(value) is int else -1
