"""The message envelope, the same over every binding (ACP transport 0.3, sections 1, 3.4 and 8).

    type, message_id, ts, from, role, parts  [+ optional extension fields]

"Receiver MUST ignore unknown extension fields": they are kept in `extra` and written again, but have no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from accp_core.acp.document import MAX_ACP_BYTES, AcpError, Json, read_object, refusal, write_object
from accp_core.acp.parts import Part, describe, expect_text, part_to_json, parts_of
from accp_core.errors import EncodeError

__all__ = [
    "AcpEnvelope", "AcpMessage", "AcpReply", "CardMessage", "ErrorMessage", "UnknownMessage", "envelope_from_json",
    "parse_envelope", "serialize_envelope", "timestamp",
]  # fmt: skip

ROLES: Final = ("user", "agent")


@dataclass(frozen=True, slots=True, kw_only=True)
class AcpMessage:
    """A message from one agent to another (`acp.message`)."""

    parts: tuple[Part, ...]
    """The content, at least one part."""
    message_id: str | None = None
    """The sender's id, for deduplication; None where the sender gave none."""
    sender: str = ""
    """`from`: the agent's name; it is not verified."""
    role: str = "user"
    """`user` or `agent`."""
    ts: str | int | None = None
    """The time of sending in ISO 8601; a relay writes milliseconds instead."""
    server_seq: int | None = None
    """The number of the message among those that one server sent."""
    task_id: str | None = None
    """The task that it belongs to."""
    context_id: str | None = None
    """The context that it belongs to."""
    correlation_id: str | None = None
    """The message_id of the request that it answers, or its own message_id where the sender awaits a reply."""
    to_peer: str | None = None
    """The peer that it is for, where one server has several."""
    sig: str | None = None
    """A signature of message_id and ts only; it does not protect the content and is not checked here."""
    identity: Json = None
    """The sender's identity, such as a DID; it is not checked here."""
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Unknown fields, unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcpReply:
    """The reply to a message whose sender awaits one (`acp.reply`)."""

    correlation_id: str
    """The message_id of that message."""
    parts: tuple[Part, ...]
    """The content, at least one part."""
    message_id: str | None = None
    """The sender's id of the reply."""
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Unknown fields, unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardMessage:
    """The card that each side sends when a connection is opened (`acp.agent_card`)."""

    card: Mapping[str, Json]
    """The JSON of an `AgentCard`."""
    message_id: str | None = None
    """The sender's id of this message."""
    ts: str | int | None = None
    """The time of sending in ISO 8601."""
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Unknown fields, unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorMessage:
    """A report of an error (`error`)."""

    code: str
    """A code such as "invalid_token"."""
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Unknown fields, unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownMessage:
    """A message of an unknown type."""

    type: str
    """Its type."""
    raw: Mapping[str, Json]
    """The whole JSON object."""


AcpEnvelope: TypeAlias = "AcpMessage | AcpReply | CardMessage | ErrorMessage | UnknownMessage"

_FIELDS: Final[Mapping[str, tuple[Callable[..., Any], tuple[str, ...]]]] = {
    "acp.message": (
        AcpMessage,
        (
            *("message_id", "server_seq", "ts", "from", "role", "parts", "task_id", "context_id", "correlation_id"),
            *("to_peer", "sig", "identity"),
        ),
    ),
    "acp.reply": (AcpReply, ("message_id", "correlation_id", "parts")),
    "acp.agent_card": (CardMessage, ("message_id", "ts", "card")),
    "error": (ErrorMessage, ("code",)),
}
"""Type of a message to its class and its known fields, in the order in which they are written."""
_TYPES: Final = {cls: (kind, fields) for kind, (cls, fields) in _FIELDS.items()}
_REQUIRED: Final = frozenset({("acp.reply", "correlation_id"), ("acp.agent_card", "card"), ("error", "code")})


def parse_envelope(text: str, *, limit: int = MAX_ACP_BYTES) -> AcpEnvelope:
    """Return the envelope of a text.

    Args:
        text: The text of a peer.
        limit: Bytes of the text in UTF-8.

    Raises:
        DecodeError: ERR_INVALID_REQUEST, it is no envelope; ERR_MSG_TOO_LARGE, it has more than `limit` bytes.
    """
    data = read_object(text, limit=limit)
    try:
        return envelope_from_json(data)
    except ValueError as error:
        raise refusal(str(error), text) from None


def serialize_envelope(envelope: AcpEnvelope, *, limit: int = MAX_ACP_BYTES) -> str:
    """Return the text of an envelope, on one line.

    Raises:
        EncodeError: ERR_INVALID_REQUEST, a value is not JSON, or an extra field has the name of a known one;
            ERR_MSG_TOO_LARGE, the text has more than `limit` bytes.
    """
    if isinstance(envelope, UnknownMessage):
        return write_object({**envelope.raw, "type": envelope.type}, limit=limit)
    own, extra = _to_json(envelope), envelope.extra
    if doubled := own.keys() & extra.keys():
        reason = f"extra: expected unknown fields, found {', '.join(sorted(doubled))}"
        raise EncodeError(reason, code=AcpError.INVALID_REQUEST)
    return write_object({**own, **extra}, limit=limit)


def timestamp(now: float) -> str:
    """Return `now`, in seconds of the Unix epoch, as an envelope writes it: "2026-03-20T02:51:00Z"."""
    return datetime.fromtimestamp(int(now), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def envelope_from_json(data: Mapping[str, Any]) -> AcpEnvelope:
    """Return the envelope of a JSON object.

    Raises:
        ValueError: It is no envelope; says what was expected and found.
    """
    kind = expect_text(data.get("type"), "type")
    return _read(kind, data) if kind in _FIELDS else UnknownMessage(type=kind, raw=data)


def _read(kind: str, data: Mapping[str, Any]) -> AcpEnvelope:
    cls, fields = _FIELDS[kind]
    values: dict[str, Any] = {}
    for name in fields:
        value = data.get(name)
        if name == "parts":
            values[name] = parts_of(data)
        elif value is not None or (kind, name) in _REQUIRED:
            values[_attribute(name)] = _checked(value, name)
    known = {"type", *fields} | ({"text", "content"} if "parts" in fields and "parts" not in data else set())
    extra = {name: value for name, value in data.items() if name not in known}
    envelope: AcpEnvelope = cls(**values, extra=extra)
    return envelope


def _to_json(envelope: AcpEnvelope) -> dict[str, Any]:
    kind, fields = _TYPES[type(envelope)]
    data: dict[str, Any] = {"type": kind}
    for name in fields:
        value = getattr(envelope, _attribute(name))
        if name == "parts":
            data[name] = [part_to_json(part) for part in value]
        elif value is not None and (name, value) != ("from", ""):
            data[name] = value
    return data


def _attribute(name: str) -> str:
    return "sender" if name == "from" else name


_CHECKS: Final[Mapping[str, tuple[Callable[[Any], bool], str]]] = {
    "role": (lambda value: value in ROLES, "user or agent"),
    "ts": (lambda value: type(value) in (str, int), "text or milliseconds"),
    "server_seq": (lambda value: type(value) is int and value >= 0, "a whole number from 0"),
    "card": (lambda value: isinstance(value, dict), "an object"),
    "identity": (lambda _: True, "anything"),
}
"""Field to whether a value may be in it, and what is expected; any other field is text."""


def _checked(value: Any, name: str) -> Any:
    is_valid, expected = _CHECKS.get(name, (lambda value: isinstance(value, str), "text"))
    if not is_valid(value):
        raise ValueError(f"{name}: expected {expected}, found {describe(value)}")
    return value
