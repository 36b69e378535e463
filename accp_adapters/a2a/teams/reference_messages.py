"""The parts of A2A messages by which one agent opens the references of another (ACCP section 5.4).

    qry:fetch{ref}                      either side asks for the text behind a reference
    qry:fetch{ref,query,offset,limit}   or for what a query finds in it; the query may name more references
    done:fetch{ref,…} and a text        the answer; it repeats the query that it answers
    fail:error{code:E5002}              the reference was not granted

An agent whose card has the skill `accp_fetch` answers queries. One that does not sends the whole text.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from a2a.types import AgentCard, AgentSkill, Part

from accp_adapters.a2a.teams.contexts import accp_message_in, frame_part
from accp_adapters.a2a.wire.envelope_flag import MEDIA_TYPE
from accp_adapters.a2a.wire.offloading import in_thread
from accp_adapters.a2a.wire.parts import msg_id
from accp_adapters.fetching import FETCH_NAME, FetchRequest, answer, read_request
from accp_adapters.tokens import o200k_base
from accp_core.accp import Envelope, Intent
from accp_core.accp import Message as AccpMessage
from accp_core.references import parse_reference

__all__ = [
    "DEFAULT_TOKENS", "ReferenceRequest", "answer_parts", "answer_request", "declare_queries", "has_queries",
    "is_answered", "request_in", "request_part",
]  # fmt: skip

FETCH: Final = "fetch"
"""The operation that opens a reference."""
DEFAULT_TOKENS: Final = 4_000
MAX_TOKENS: Final = 32_000
"""Upper limit of the tokens of an answer; a request cannot raise it."""
_DESCRIPTION: Final = (
    "Queries the long results of this agent: an ACCP frame qry:fetch{ref,query,offset,limit}, where query is a SELECT, "
    "a condition, a path or words. A reference opens for the caller to whom it was returned."
)


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

    def to_fetch(self) -> FetchRequest:
        """Return the request as the query of references takes it.

        Raises:
            ProtocolError: E1004, `offset` or `limit` is no whole number from 0 on.
        """
        return read_request({"ref": self.ref, "query": self.query, "offset": self.offset, "limit": self.limit})


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
    limit = min(request.tokens, MAX_TOKENS)
    return await in_thread(lambda: answer(texts, asked, limit=limit, counter=o200k_base()))


def request_part(request: ReferenceRequest, *, sender: str, message_id: str) -> Part:
    """Return the part that makes a request; `message_id` is the id of the A2A message around it."""
    message = AccpMessage(
        sender=sender,
        intent=Intent.QUERY,
        operation=FETCH,
        payload=request.payload,
        envelope=Envelope(correlation_id=msg_id(message_id, 0)),
    )
    return frame_part(message, message_id)


def request_in(parts: Iterable[Part]) -> ReferenceRequest | None:
    """Return the request that a message makes, None for any other message."""
    message = accp_message_in(parts)
    if message is None or (message.intent, message.operation) != (Intent.QUERY, FETCH):
        return None
    given, envelope = message.payload, message.envelope
    return ReferenceRequest(
        ref=str(given.get("ref")),
        query=str(given["query"]) if given.get("query") is not None else None,
        offset=_whole_number(given.get("offset"), 0),
        limit=None if given.get("limit") is None else _whole_number(given.get("limit"), 0),
        tokens=max(_whole_number(given.get("tokens"), DEFAULT_TOKENS), 1),
        correlation_id=envelope.correlation_id or envelope.msg_id or "",
    )


def _whole_number(value: object, default: int) -> int:
    """Return a whole number as it is; -1, which the query refuses, for anything else."""
    return default if value is None else value if type(value) is int else -1


def answer_parts(request: ReferenceRequest, text: str, *, sender: str, message_id: str) -> list[Part]:
    """Return the parts that answer a request: a frame, and `text` beside it, because a frame has a limit."""
    message = AccpMessage(
        sender=sender,
        intent=Intent.COMPLETE,
        operation=FETCH,
        payload=request.payload,
        envelope=Envelope(correlation_id=request.correlation_id),
    )
    return [frame_part(message, message_id), Part(text=text)]


def is_answered(request: ReferenceRequest, parts: Iterable[Part]) -> bool:
    """Return whether `parts` answer the query of a request; a peer that knows no queries sends the whole text."""
    message = accp_message_in(parts)
    return message is not None and message.payload.get("query") == request.query


# --- the skill --------------------------------------------------------------------------------------------------------


def declare_queries(card: AgentCard) -> AgentCard:
    """Return a copy of `card` with the skill `accp_fetch`: a `ContextExecutor` answers queries of what it stored.

    Signatures of the card are removed, because they cover the card as it was: sign the returned one.
    """
    if has_queries(card):
        return card
    declared = deepcopy(card)
    declared.ClearField("signatures")
    skill = AgentSkill(id=FETCH_NAME, name=FETCH_NAME, description=_DESCRIPTION, tags=["accp", "query"])
    skill.input_modes.append(MEDIA_TYPE)
    skill.output_modes.extend([MEDIA_TYPE, "text/plain"])
    declared.skills.append(skill)
    return declared


def has_queries(card: AgentCard) -> bool:
    """Return whether the agent of this card answers queries of its references."""
    return any(skill.id == FETCH_NAME for skill in card.skills)
