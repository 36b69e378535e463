"""The parts of A2A messages by which one agent opens the references of another (ACCP section 5.4).

    qry:fetch{ref}                      either side asks for the text behind a reference
    qry:fetch{ref,query,offset,limit}   or for what a query finds in it; the query may name more references
    done:fetch{ref,…} and a text        the answer; it repeats the query that it answers
    fail:error{code:E5002}              the reference was not granted

An agent whose card has the skill `accp_fetch` answers queries. One that does not sends the whole text.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from typing import Final

from a2a.types import AgentCard, AgentSkill, Part

from accp_adapters.a2a.teams.contexts import accp_message_in, frame_part
from accp_adapters.a2a.wire.parts import msg_id
from accp_adapters.fetching import FETCH_NAME
from accp_adapters.remote.reference_request import FETCH_OPERATION, ReferenceRequest
from accp_core.accp import Envelope, Intent
from accp_core.accp import Message as AccpMessage
from accp_core.accp.vocabulary import MEDIA_TYPE

__all__ = ["answer_parts", "declare_queries", "has_queries", "is_answered", "request_in", "request_part"]

_DESCRIPTION: Final = (
    "Queries the long results of this agent: an ACCP frame qry:fetch{ref,query,offset,limit}, where query is a SELECT, "
    "a condition, a path or words. A reference opens for the caller to whom it was returned."
)


def request_part(request: ReferenceRequest, *, sender: str, message_id: str) -> Part:
    """Return the part that makes a request; `message_id` is the id of the A2A message around it."""
    message = AccpMessage(
        sender=sender,
        intent=Intent.QUERY,
        operation=FETCH_OPERATION,
        payload=request.payload,
        envelope=Envelope(correlation_id=msg_id(message_id, 0)),
    )
    return frame_part(message, message_id)


def request_in(parts: Iterable[Part]) -> ReferenceRequest | None:
    """Return the request that a message makes, None for any other message."""
    message = accp_message_in(parts)
    if message is None or (message.intent, message.operation) != (Intent.QUERY, FETCH_OPERATION):
        return None
    envelope = message.envelope
    correlation_id = envelope.correlation_id or envelope.msg_id or ""
    return ReferenceRequest.from_payload(message.payload, correlation_id=correlation_id)


def answer_parts(request: ReferenceRequest, text: str, *, sender: str, message_id: str) -> list[Part]:
    """Return the parts that answer a request: a frame, and `text` beside it, because a frame has a limit."""
    message = AccpMessage(
        sender=sender,
        intent=Intent.COMPLETE,
        operation=FETCH_OPERATION,
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
