"""ACP transport 0.3 without sockets: one envelope for five bindings, and the framing of each binding."""

from accp_core.acp.card import AgentCard, Binding, Link, next_link, parse_link
from accp_core.acp.connection import (
    Acknowledged,
    AcpEvent,
    AcpMessageReceived,
    CardReceived,
    Connection,
    DuplicateDropped,
    ErrorReceived,
    Refused,
    ReplyReceived,
    SendResult,
    UnknownReceived,
)
from accp_core.acp.envelope import (
    AcpEnvelope,
    AcpError,
    AcpMessage,
    CardMessage,
    DataPart,
    ErrorMessage,
    FilePart,
    OpaquePart,
    Part,
    TextPart,
    UnknownMessage,
    error_body,
    parse_envelope,
    serialize_envelope,
)

__all__ = [
    "Acknowledged", "AcpEnvelope", "AcpError", "AcpEvent", "AcpMessage", "AcpMessageReceived", "AgentCard", "Binding",
    "CardMessage", "CardReceived", "Connection", "DataPart", "DuplicateDropped", "ErrorMessage",
    "ErrorReceived", "FilePart", "Link", "OpaquePart", "Part", "Refused", "ReplyReceived", "SendResult", "TextPart",
    "UnknownMessage", "UnknownReceived", "error_body", "next_link", "parse_envelope", "parse_link",
    "serialize_envelope",
]  # fmt: skip
