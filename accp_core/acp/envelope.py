"""The message envelope, the same over every binding (ACP transport 0.3, sections 1, 3.4 and 8).

    type, message_id, ts, from, role, parts  [+ optional extension fields]

"Receiver MUST ignore unknown extension fields": they are kept in `extra` and written again, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from accp_core.acp.document import MAX_MESSAGE_BYTES, Json, read_object, refusal, write_object
from accp_core.acp.error_codes import AcpError
from accp_core.acp.parts import Part, describe, expect_text, part_to_json, parts_of
from accp_core.errors import EncodeError

__all__ = [
    "AcpEnvelope",
    "AcpMessage",
    "AcpReply",
    "CardMessage",
    "ErrorMessage",
    "UnknownMessage",
    "envelope_from_json",
    "message_from_json",
    "parse_envelope",
    "serialize_envelope",
    "timestamp",
]

ROLES: Final = ("user", "agent")


@dataclass(frozen=True, slots=True, kw_only=True)
class AcpMessage:
    """What one agent tells another (`acp.message`)."""

    parts: tuple[Part, ...]
    message_id: str | None = None
    """Made by the sender, for deduplication; None where it left that to the receiver."""
    sender: str = ""
    """`from`: the agent's name, which nobody has verified."""
    role: str = "user"
    """`user` or `agent`."""
    ts: str | int | None = None
    """When, as an ISO 8601 text; a relay writes milliseconds."""
    server_seq: int | None = None
    """Counts what one server sent."""
    task_id: str | None = None
    context_id: str | None = None
    correlation_id: str | None = None
    """The message_id of the request that this answers, or this one's own where a reply is waited for."""
    to_peer: str | None = None
    sig: str | None = None
    """Covers message_id and ts only: it says nothing about the content, and nothing here trusts it."""
    identity: Json = None
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Fields that we do not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcpReply:
    """The answer to a message whose sender waits (`acp.reply`)."""

    correlation_id: str
    parts: tuple[Part, ...]
    message_id: str | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CardMessage:
    """Who is there (`acp.agent_card`); each side sends one when the connection is made."""

    card: Mapping[str, Json]
    message_id: str | None = None
    ts: str | int | None = None
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorMessage:
    """Something went wrong (`error`), such as "invalid_token"."""

    code: str
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownMessage:
    """A message of a type that we do not know, all of it."""

    type: str
    raw: Mapping[str, Json]


AcpEnvelope: TypeAlias = "AcpMessage | AcpReply | CardMessage | ErrorMessage | UnknownMessage"

OPTIONAL: Final = ("message_id", "task_id", "context_id", "correlation_id", "to_peer", "sig")
MESSAGE_FIELDS: Final = frozenset({*OPTIONAL, "type", "server_seq", "ts", "from", "role", "parts", "identity"})


def parse_envelope(text: str, *, limit: int = MAX_MESSAGE_BYTES, require_role: bool = False) -> AcpEnvelope:
    """Return what a text says.

    A message without role is a user's, unless `require_role`.

    Raises: DecodeError: ERR_INVALID_REQUEST for what is no envelope, ERR_MSG_TOO_LARGE for more than `limit` bytes.
    """
    data = read_object(text, limit=limit)
    try:
        return envelope_from_json(data, require_role=require_role)
    except ValueError as error:
        raise refusal(str(error), text) from None


def message_from_json(data: Mapping[str, Any], *, require_role: bool = False) -> AcpMessage:
    """Return the message that a JSON object says, such as the body of a request; its type may be missing.

    Raises: ValueError with what was expected and found.
    """
    role = data.get("role", None if require_role else "user")
    if role not in ROLES:
        raise ValueError(f"role: expected user or agent, found {describe(role)}")
    words = {name: expect_text(data[name], name) for name in OPTIONAL if data.get(name) is not None}
    shorthand = {"text", "content"} if "parts" not in data else set()
    return AcpMessage(
        parts=parts_of(data),
        sender=expect_text(data.get("from", ""), "from"),
        role=role,
        ts=_time(data),
        server_seq=_count(data),
        identity=data.get("identity"),
        extra={name: value for name, value in data.items() if name not in MESSAGE_FIELDS | shorthand},
        **words,
    )


def serialize_envelope(envelope: AcpEnvelope, *, limit: int = MAX_MESSAGE_BYTES) -> str:
    """Return the text of an envelope, on one line.

    Raises: EncodeError: ERR_INVALID_REQUEST for what is not JSON and for an extra field with a name of ours,
        ERR_MSG_TOO_LARGE for more than `limit` bytes.
    """
    own = _to_json(envelope)
    extra = {} if isinstance(envelope, UnknownMessage) else envelope.extra
    if doubled := own.keys() & extra.keys():
        raise EncodeError(f"extra: {', '.join(sorted(doubled))} is a field already", code=AcpError.INVALID_REQUEST)
    return write_object({**own, **extra}, limit=limit)


def timestamp(now: float) -> str:
    """Return the time that an envelope says for `now`, in seconds of the Unix epoch."""
    return datetime.fromtimestamp(int(now), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def envelope_from_json(data: Mapping[str, Any], *, require_role: bool = False) -> AcpEnvelope:
    """Return what a JSON object says.

    Raises: ValueError with what was expected and found.
    """
    kind = expect_text(data.get("type"), "type")
    known = data.get("message_id")
    message_id = None if known is None else expect_text(known, "message_id")
    match kind:
        case "acp.message":
            return message_from_json(data, require_role=require_role)
        case "acp.reply":
            correlation_id = expect_text(data.get("correlation_id"), "correlation_id")
            extra = _others(data, "correlation_id", "parts", *(() if "parts" in data else ("text", "content")))
            return AcpReply(correlation_id=correlation_id, parts=parts_of(data), message_id=message_id, extra=extra)
        case "acp.agent_card":
            card = data.get("card")
            if not isinstance(card, dict):
                raise ValueError(f"card: expected an object, found {describe(card)}")
            return CardMessage(card=card, message_id=message_id, ts=_time(data), extra=_others(data, "card", "ts"))
        case "error":
            return ErrorMessage(code=expect_text(data.get("code"), "code"), extra=_others(data, "code", ids=()))
    return UnknownMessage(type=kind, raw=data)


def _others(data: Mapping[str, Json], *known: str, ids: tuple[str, ...] = ("message_id",)) -> dict[str, Json]:
    """Return the members with other names than these; an error's message_id is one of them."""
    return {name: value for name, value in data.items() if name not in ("type", *ids, *known)}


def _time(data: Mapping[str, Any]) -> str | int | None:
    ts = data.get("ts")
    if ts is not None and type(ts) not in (str, int):
        raise ValueError(f"ts: expected text or milliseconds, found {describe(ts)}")
    return ts


def _count(data: Mapping[str, Any]) -> int | None:
    number = data.get("server_seq")
    if number is not None and (type(number) is not int or number < 0):
        raise ValueError(f"server_seq: expected a whole number from 0, found {describe(number)}")
    return number


def _to_json(envelope: AcpEnvelope) -> dict[str, Any]:
    match envelope:
        case AcpMessage():
            return _message_to_json(envelope)
        case AcpReply():
            parts = [part_to_json(part) for part in envelope.parts]
            ids = {"message_id": envelope.message_id, "correlation_id": envelope.correlation_id}
            return {"type": "acp.reply", **_told(ids), "parts": parts}
        case CardMessage():
            stamp = {"message_id": envelope.message_id, "ts": envelope.ts}
            return {"type": "acp.agent_card", **_told(stamp), "card": dict(envelope.card)}
        case ErrorMessage():
            return {"type": "error", "code": envelope.code}
    return {**envelope.raw, "type": envelope.type}


def _message_to_json(message: AcpMessage) -> dict[str, Any]:
    first = {"message_id": message.message_id, "server_seq": message.server_seq, "ts": message.ts}
    last = {name: getattr(message, name) for name in (*OPTIONAL[1:], "identity")}
    parts = [part_to_json(part) for part in message.parts]
    named = {"from": message.sender} if message.sender else {}
    return {"type": "acp.message", **_told(first), **named, "role": message.role, "parts": parts, **_told(last)}


def _told(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are there."""
    return {name: value for name, value in fields.items() if value is not None}
