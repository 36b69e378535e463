"""ACP transport 0.3: the envelope that is the same over five bindings, and what each needs around it; no sockets."""

from accp_core.acp.card import AgentCard
from accp_core.acp.envelope import (
    CardMessage,
    Envelope,
    ErrorMessage,
    Message,
    Reply,
    UnknownMessage,
    parse_envelope,
    serialize_envelope,
)
from accp_core.acp.error_codes import AcpError
from accp_core.acp.events import (
    CardReceived,
    DuplicateDropped,
    ErrorReceived,
    Event,
    MessageReceived,
    Refused,
    ReplyReceived,
    UnknownReceived,
)
from accp_core.acp.framing import (
    LineReader,
    SseEvent,
    SseReader,
    error_body,
    from_relay,
    read_request,
    to_relay,
    write_event,
    write_line,
)
from accp_core.acp.handshake import Connection, Sent, admits, next_attempt
from accp_core.acp.link import Binding, Link, make_token, parse_link
from accp_core.acp.parts import DataPart, FilePart, OpaquePart, Part, TextPart

__all__ = [
    "AcpError",
    "AgentCard",
    "Binding",
    "CardMessage",
    "CardReceived",
    "Connection",
    "DataPart",
    "DuplicateDropped",
    "Envelope",
    "ErrorMessage",
    "ErrorReceived",
    "Event",
    "FilePart",
    "LineReader",
    "Link",
    "Message",
    "MessageReceived",
    "OpaquePart",
    "Part",
    "Refused",
    "Reply",
    "ReplyReceived",
    "Sent",
    "SseEvent",
    "SseReader",
    "TextPart",
    "UnknownMessage",
    "UnknownReceived",
    "admits",
    "error_body",
    "from_relay",
    "make_token",
    "next_attempt",
    "parse_envelope",
    "parse_link",
    "read_request",
    "serialize_envelope",
    "to_relay",
    "write_event",
    "write_line",
]
