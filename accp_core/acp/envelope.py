"""The message envelope, the same over every binding (ACP transport 0.3, sections 1, 3.4 and 8).

    type, message_id, ts, from, role, parts  [+ optional extension fields]

"Receiver MUST ignore unknown extension fields": they are kept in `extra` and written again, but have no effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from accp_core.acp.document import MAX_ACP_BYTES, Json, read_object, refusal, write_object
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

OPTIONAL: Final = ("message_id", "task_id", "context_id", "correlation_id", "to_peer", "sig")
MESSAGE_FIELDS: Final = frozenset({*OPTIONAL, "type", "server_seq", "ts", "from", "role", "parts", "identity"})


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


def message_from_json(data: Mapping[str, Any], *, require_role: bool = False) -> AcpMessage:
    """Return the message of a JSON object, such as the body of a request; its type may be missing.

    Raises:
        ValueError: It is no message; says what was expected and found.
    """
    role = data.get("role", None if require_role else "user")
    if role not in ROLES:
        raise ValueError(f"role: expected user or agent, found {describe(role)}")
    texts = {name: expect_text(data[name], name) for name in OPTIONAL if data.get(name) is not None}
    shorthand = {"text", "content"} if "parts" not in data else set()
    return AcpMessage(
        parts=parts_of(data),
        sender=expect_text(data.get("from", ""), "from"),
        role=role,
        ts=_time(data),
        server_seq=_count(data),
        identity=data.get("identity"),
        extra={name: value for name, value in data.items() if name not in MESSAGE_FIELDS | shorthand},
        **texts,
    )


def serialize_envelope(envelope: AcpEnvelope, *, limit: int = MAX_ACP_BYTES) -> str:
    """Return the text of an envelope, on one line.

    Raises:
        EncodeError: ERR_INVALID_REQUEST, a value is not JSON, or an extra field has the name of a known one;
            ERR_MSG_TOO_LARGE, the text has more than `limit` bytes.
    """
    own = _to_json(envelope)
    extra = {} if isinstance(envelope, UnknownMessage) else envelope.extra
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
    given = data.get("message_id")
    message_id = None if given is None else expect_text(given, "message_id")
    match kind:
        case "acp.message":
            return message_from_json(data)
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
    """Return the members except type, `ids` and `known`; `ids` is empty for an error, which has no message_id."""
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
            return {"type": "acp.reply", **_present(ids), "parts": parts}
        case CardMessage():
            stamp = {"message_id": envelope.message_id, "ts": envelope.ts}
            return {"type": "acp.agent_card", **_present(stamp), "card": dict(envelope.card)}
        case ErrorMessage():
            return {"type": "error", "code": envelope.code}
    return {**envelope.raw, "type": envelope.type}


def _message_to_json(message: AcpMessage) -> dict[str, Any]:
    first = {"message_id": message.message_id, "server_seq": message.server_seq, "ts": message.ts}
    last = {name: getattr(message, name) for name in (*OPTIONAL[1:], "identity")}
    parts = [part_to_json(part) for part in message.parts]
    named = {"from": message.sender} if message.sender else {}
    return {"type": "acp.message", **_present(first), **named, "role": message.role, "parts": parts, **_present(last)}


def _present(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}
