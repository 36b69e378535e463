"""The parts of A2A messages that carry AgentContexts, and how they are read (ACI section 5.3).

    req:execute{agent|subtask|…}   the master delivers a context
    done:execute{…}                the agent returns what it may change of the context

An agent that does not know the extension gets the context as words and as data, and may answer in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from a2a.types import Part

from accp_adapters.a2a.wire.parts import codec, msg_id, read_frame
from accp_adapters.a2a.wire.values import read_value, write_value
from accp_adapters.remote.replies import reply_with
from accp_adapters.tokens import o200k_base
from accp_core import serialize_frame
from accp_core.accp import ErrorCode, error_message, read_error
from accp_core.accp import Message as AccpMessage
from accp_core.accp.vocabulary import MEDIA_TYPE
from accp_core.aci import AgentContext, AgentReply, brief, reply_from_words
from accp_core.bridges.aci_in_accp import EXECUTE, completion_message, delivery_message, read_context
from accp_core.errors import ProtocolError

__all__ = [
    "MASTER", "accp_message_in", "completion_in", "completion_parts", "delivery_in", "delivery_parts", "failure_part",
    "frame_part", "raise_failure_in", "words_in",
]  # fmt: skip

MASTER: Final = "master"
"""The sender of a delivery; the authentication of the transport tells which master it is."""
CONTEXT_TYPE: Final = "application/aci+json"
"""The media type of a data part that is an AgentContext."""


# --- frames among parts -----------------------------------------------------------------------------------------------


def frame_part(message: AccpMessage, message_id: str) -> Part:
    """Return `message` as a part that is a frame; `message_id` is the id of the A2A message around it."""
    envelope = replace(message.envelope, msg_id=msg_id(message_id, 0), sequence=1)
    (frame,) = codec().encode(replace(message, envelope=envelope)).frames
    return Part(text=serialize_frame(frame), media_type=MEDIA_TYPE)


def accp_message_in(parts: Iterable[Part]) -> AccpMessage | None:
    """Return the message of the first frame among `parts`, None where there is none."""
    return next((message for part in parts if (message := read_frame(part)) is not None), None)


def words_in(parts: Iterable[Part]) -> str:
    """Return the texts among `parts`, one per line, without the first frame; a later frame is content."""
    texts = [part for part in parts if part.WhichOneof("content") == "text"]
    frame = next((index for index, part in enumerate(texts) if read_frame(part) is not None), None)
    return "\n".join(part.text for index, part in enumerate(texts) if index != frame)


def failure_part(error: ProtocolError, *, sender: str, correlation_id: str, message_id: str) -> Part:
    """Return the part that refuses the message which `correlation_id` names."""
    code = ErrorCode(error.code) if error.code in set(ErrorCode) else ErrorCode.INTERNAL_ERROR
    return frame_part(error_message(sender, code, error.reason, correlation_id=correlation_id), message_id)


def raise_failure_in(parts: Sequence[Part]) -> None:
    """Raise the failure that the first frame among `parts` reports, if it reports one.

    Raises:
        ProtocolError: With the code of the frame.
    """
    message = accp_message_in(parts)
    report = read_error(message) if message is not None else None
    if report is not None:
        raise ProtocolError(report.message, code=report.code)


# --- a context out, and back ------------------------------------------------------------------------------------------


def delivery_parts(context: AgentContext, message_id: str, *, frames: bool) -> list[Part]:
    """Return the parts that deliver `context`: one frame, or without `frames` the context as words and as data."""
    if frames:
        return [frame_part(delivery_message(context, sender=MASTER, correlation_id=msg_id(message_id, 0)), message_id)]
    return [Part(text=brief(context, counter=o200k_base())), _context_part(context)]


def delivery_in(parts: Sequence[Part], message_id: str) -> tuple[AgentContext, str]:
    """Return the context that a message delivers, and the correlation_id of its answer.

    Raises:
        ProtocolError: E1001, the message holds no context; E1004, E2003, the context is malformed.
    """
    message, context = accp_message_in(parts), _context_in(parts)
    if message is not None:
        return read_context(message)[0], message.envelope.correlation_id or msg_id(message_id, 0)
    if context is None:
        raise ProtocolError("expected an AgentContext, found none in the message", code=ErrorCode.PARSE_ERROR)
    return context, msg_id(message_id, 0)


def completion_parts(
    returned: AgentContext, sent: AgentContext, *, correlation_id: str, sender: str, message_id: str, frames: bool
) -> list[Part]:
    """Return the parts that return a context: a frame where it was delivered by one, else data."""
    if not frames:
        return [_context_part(returned)]
    return [
        frame_part(completion_message(returned, sent=sent, sender=sender, correlation_id=correlation_id), message_id)
    ]


def completion_in(parts: Sequence[Part], sent: AgentContext, message_id: str) -> AgentReply:
    """Return the agent's reply to a delivery: from a frame, from data, or from words.

    Args:
        parts: What the agent sent.
        sent: The context that was delivered.
        message_id: The id of the A2A message that delivered it.

    Raises:
        ProtocolError: E5001, the frame answers another delivery; E1004, E2003, the context is malformed; the code of
            a failure that the agent reports.
    """
    raise_failure_in(parts)
    message, context = accp_message_in(parts), _context_in(parts)
    if message is not None and message.operation == EXECUTE:
        expected, found = msg_id(message_id, 0), message.envelope.correlation_id
        if found != expected:
            reason = f"expected the answer to {expected!r}, found one to {found!r}"
            raise ProtocolError(reason, code=ErrorCode.POLICY_DENIED)
        context = read_context(message)[0]
    return reply_from_words(sent, words_in(parts)) if context is None else reply_with(context, sent)


def _context_part(context: AgentContext) -> Part:
    return Part(data=write_value(context.to_json()), media_type=CONTEXT_TYPE)


def _context_in(parts: Iterable[Part]) -> AgentContext | None:
    part = next((part for part in parts if part.media_type == CONTEXT_TYPE and part.HasField("data")), None)
    return None if part is None else AgentContext.from_json(read_value(part.data))
