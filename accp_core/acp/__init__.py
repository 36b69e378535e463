"""ACP transport 0.3 without sockets: one envelope for five bindings, and the framing of each binding."""

from accp_core.acp.attempts import Attempt, next_attempt, next_delay, retry_delay
from accp_core.acp.card import AgentCard
from accp_core.acp.envelope import (
    AcpEnvelope,
    AcpMessage,
    AcpReply,
    CardMessage,
    ErrorMessage,
    UnknownMessage,
    parse_envelope,
    serialize_envelope,
)
from accp_core.acp.error_codes import AcpError
from accp_core.acp.events import (
    Acknowledged,
    AcpEvent,
    AcpMessageReceived,
    CardReceived,
    DuplicateDropped,
    ErrorReceived,
    Refused,
    ReplyMissed,
    ReplyReceived,
    UnknownReceived,
)
from accp_core.acp.framing import (
    ByteLineReader,
    SseEvent,
    SseReader,
    error_body,
    read_request,
)
from accp_core.acp.handshake import Connection, SendResult, is_admitted
from accp_core.acp.link import Binding, Link, parse_link
from accp_core.acp.parts import DataPart, FilePart, OpaquePart, Part, TextPart
from accp_core.acp.peers import Peers
from accp_core.acp.sent_log import SentLog

__all__ = [
    "Acknowledged",
    "AcpEnvelope",
    "AcpError",
    "AcpEvent",
    "AcpMessage",
    "AcpMessageReceived",
    "AcpReply",
    "AgentCard",
    "Attempt",
    "Binding",
    "ByteLineReader",
    "CardMessage",
    "CardReceived",
    "Connection",
    "DataPart",
    "DuplicateDropped",
    "ErrorMessage",
    "ErrorReceived",
    "FilePart",
    "Link",
    "OpaquePart",
    "Part",
    "Peers",
    "Refused",
    "ReplyMissed",
    "ReplyReceived",
    "SendResult",
    "SentLog",
    "SseEvent",
    "SseReader",
    "TextPart",
    "UnknownMessage",
    "UnknownReceived",
    "error_body",
    "is_admitted",
    "next_attempt",
    "next_delay",
    "parse_envelope",
    "parse_link",
    "read_request",
    "retry_delay",
    "serialize_envelope",
]
