"""Contexts of ACI in A2A messages: a frame for an agent that knows them, words and data for any other (ACI 5.3).

req:execute{agent|subtask|…}   the context, from the master; done:execute what the agent may change of it, back
qry:fetch{ref}                 either side asks for the text behind a reference
done:fetch{ref} and a text     the answer; fail:error{code:E5002} where the reference was not granted
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from a2a.types import Part

from accp_adapters.a2a.wire.envelope_flag import MEDIA_TYPE
from accp_adapters.a2a.wire.parts import CODEC, msg_id, read_frame
from accp_adapters.a2a.wire.values import read_value, write_value
from accp_adapters.tokens import o200k_base
from accp_core import serialize_frame
from accp_core.accp import Envelope, ErrorCode, Intent, Message, error_message, read_error
from accp_core.aci import AgentContext, brief, read_answers, with_answers
from accp_core.aci.checks import MAX_ABSTRACT_CHARS
from accp_core.bridges.aci_in_accp import EXECUTE, completion_message, delivery_message, read_context
from accp_core.errors import ProtocolError

__all__ = [
    "MASTER", "ContextReply", "answers", "check_failure", "completed", "completion_parts", "delivered",
    "delivery_parts", "failure_part", "found_parts", "question_part", "said_in", "text_in", "wanted",
]  # fmt: skip

MASTER: Final = "master"
"""The sender of a delivery; which master it is says the transport's authentication."""
CONTEXT_TYPE: Final = "application/aci+json"
"""The media type of a data part that is an AgentContext."""
FETCH: Final = "fetch"
"""The operation that opens a reference."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextReply:
    """What an agent returns: its context, and the whole of what is too long for an abstract."""

    context: AgentContext
    """States and abstracts."""
    full: Mapping[str, str] = field(default_factory=dict)
    """Item to the whole result, where the abstract is less."""


def answers(context: AgentContext, text: str) -> ContextReply:
    """Return the reply that words mean: a line for each item, as `brief` asks for them."""
    said = read_answers(context, text)
    full = {item: answer.text for item, answer in said.items() if len(answer.text) > MAX_ABSTRACT_CHARS}
    short = {item: replace(answer, text=answer.text[:MAX_ABSTRACT_CHARS]) for item, answer in said.items()}
    return ContextReply(context=with_answers(context, short), full=full)


# --- frames among parts -----------------------------------------------------------------------------------------------


def frame_part(message: Message, owner: str) -> Part:
    """Return the part that is a frame of an agent's own; `owner` is the id of the A2A message it stands in."""
    envelope = replace(message.envelope, msg_id=msg_id(owner, 0), sequence=1)
    (frame,) = CODEC.encode(replace(message, envelope=envelope)).frames
    return Part(text=serialize_frame(frame), media_type=MEDIA_TYPE)


def said_in(parts: Iterable[Part]) -> Message | None:
    """Return what the first frame among `parts` says; None where there is none."""
    return next((said for part in parts if (said := read_frame(part)) is not None), None)


def text_in(parts: Iterable[Part]) -> str:
    """Return the words among `parts`: all texts but the first frame, for a text may look like one."""
    texts = [part for part in parts if part.WhichOneof("content") == "text"]
    frame = next((index for index, part in enumerate(texts) if read_frame(part) is not None), None)
    return "\n".join(part.text for index, part in enumerate(texts) if index != frame)


def failure_part(error: ProtocolError, *, sender: str, correlation_id: str, owner: str) -> Part:
    """Return the part that refuses what `correlation_id` names."""
    code = ErrorCode(error.code)
    return frame_part(error_message(sender, code, error.reason, correlation_id=correlation_id), owner)


def check_failure(parts: Sequence[Part]) -> None:
    """Raise what a failure among `parts` says.

    Raises:
        ProtocolError: with the code of the frame.
    """
    said = said_in(parts)
    report = read_error(said) if said is not None else None
    if report is not None:
        raise ProtocolError(report.message, code=report.code)


# --- a context out, and back ------------------------------------------------------------------------------------------


def delivery_parts(context: AgentContext, owner: str, *, frames: bool) -> list[Part]:
    """Return the parts that deliver `context`; without `frames` they are words, and the context as data."""
    if frames:
        return [frame_part(delivery_message(context, sender=MASTER, correlation_id=msg_id(owner, 0)), owner)]
    return [Part(text=brief(context, counter=o200k_base())), _data_part(context)]


def delivered(parts: Sequence[Part], owner: str) -> tuple[AgentContext, str]:
    """Return the context that a message delivers, and the correlation_id of its answer.

    Raises:
        ProtocolError: E1001, there is none in it; E1004, E2003, what there is is none.
    """
    said, found = said_in(parts), _context_in(parts)
    if said is not None:
        return read_context(said)[0], said.envelope.correlation_id or msg_id(owner, 0)
    if found is None:
        raise ProtocolError("expected an AgentContext, found none in the message", code=ErrorCode.PARSE_ERROR)
    return found, msg_id(owner, 0)


def completion_parts(
    reply: AgentContext, sent: AgentContext, *, correlation_id: str, sender: str, owner: str, frames: bool
) -> list[Part]:
    """Return the parts that answer a delivery, in the way in which it came."""
    if not frames:
        return [_data_part(reply)]
    return [frame_part(completion_message(reply, sent=sent, sender=sender, correlation_id=correlation_id), owner)]


def completed(sent: AgentContext, parts: Sequence[Part], owner: str) -> ContextReply:
    """Return what came back of a delivery: in a frame, as data, or in words of an agent that knows no contexts.

    Raises:
        ProtocolError: E5001, the frame answers another delivery; E1004, E2003, it is no context; the code of a
            failure.
    """
    check_failure(parts)
    said, found = said_in(parts), _context_in(parts)
    if said is not None and said.operation == EXECUTE:
        if said.envelope.correlation_id != msg_id(owner, 0):
            reason = f"expected the answer to {msg_id(owner, 0)!r}, found one to {said.envelope.correlation_id!r}"
            raise ProtocolError(reason, code=ErrorCode.POLICY_DENIED)
        return ContextReply(context=read_context(said)[0])
    return ContextReply(context=found) if found is not None else answers(sent, text_in(parts))


def _data_part(context: AgentContext) -> Part:
    return Part(data=write_value(context.to_json()), media_type=CONTEXT_TYPE)


def _context_in(parts: Iterable[Part]) -> AgentContext | None:
    found = next((part for part in parts if part.media_type == CONTEXT_TYPE and part.HasField("data")), None)
    return None if found is None else AgentContext.from_json(read_value(found.data))


# --- references -------------------------------------------------------------------------------------------------------


def question_part(ref: str, *, sender: str, owner: str) -> Part:
    """Return the part that asks for the text behind `ref`, such as "$cold.c9523506b4bd"."""
    said = Message(
        sender=sender,
        intent=Intent.QUERY,
        operation=FETCH,
        payload={"ref": ref},
        envelope=Envelope(correlation_id=msg_id(owner, 0)),
    )
    return frame_part(said, owner)


def wanted(parts: Iterable[Part]) -> tuple[str, str] | None:
    """Return the reference that a message asks for, and the correlation_id of its answer; None where it asks none."""
    said = said_in(parts)
    if said is None or (said.intent, said.operation) != (Intent.QUERY, FETCH):
        return None
    return str(said.payload.get("ref")), said.envelope.correlation_id or said.envelope.msg_id or ""


def found_parts(ref: str, text: str, *, sender: str, correlation_id: str, owner: str) -> list[Part]:
    """Return the parts that answer with the text behind `ref`; it stands beside the frame, as long as it is."""
    said = Message(
        sender=sender,
        intent=Intent.COMPLETE,
        operation=FETCH,
        payload={"ref": ref},
        envelope=Envelope(correlation_id=correlation_id),
    )
    return [frame_part(said, owner), Part(text=text)]
