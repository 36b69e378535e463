"""A message as a value and as text: JSON, parts, envelope, and the framing of each binding (ACP transport 0.3).

The envelope is the same over every binding (sections 1, 3.4 and 8):

    type, message_id, ts, from, role, parts  [+ optional extension fields]

"Receiver MUST ignore unknown extension fields": they are kept in `extra` and written again, but have no effect.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, TypeAlias

from accp_core.errors import DecodeError, EncodeError
from accp_core.strict_json import compact_json, read_json

__all__ = [
    "KEEPALIVE", "MAX_ACP_BYTES", "AcpEnvelope", "AcpError", "AcpMessage",
    "CardMessage", "DataPart", "ErrorMessage", "FilePart", "Json", "OpaquePart", "Part", "TextPart",
    "UnknownMessage", "envelope_from_json", "error_body", "parse_envelope", "part_from_json", "part_to_json",
    "parts_of", "read_object", "refusal", "serialize_envelope", "timestamp", "write_object",
]  # fmt: skip


# JSON texts of ACP: one object each, of a bounded size, and the error codes (ACP transport 0.3, section 3.4).

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

MAX_ACP_BYTES: Final = 1 << 20
"""Bytes of a message in UTF-8."""


class AcpError(StrEnum):
    """A code; the value is what `error_code` holds."""

    INVALID_REQUEST = "ERR_INVALID_REQUEST"
    NOT_FOUND = "ERR_NOT_FOUND"
    TIMEOUT = "ERR_TIMEOUT"
    TOO_LARGE = "ERR_MSG_TOO_LARGE"
    INTERNAL = "ERR_INTERNAL"
    NOT_CONNECTED = "ERR_NOT_CONNECTED"

    @property
    def status(self) -> int:
        """The HTTP status of an answer with this code."""
        return _STATUS[self]


_STATUS: Final = {
    AcpError.INVALID_REQUEST: 400,
    AcpError.NOT_FOUND: 404,
    AcpError.TIMEOUT: 408,
    AcpError.TOO_LARGE: 413,
    AcpError.INTERNAL: 500,
    AcpError.NOT_CONNECTED: 503,
}


def read_object(text: str, *, limit: int = MAX_ACP_BYTES) -> dict[str, Any]:
    """Return the value of a text that is one JSON object, read by the rules of `accp_core.strict_json`.

    Args:
        text: The text of a peer.
        limit: Bytes of the text in UTF-8.

    Raises:
        DecodeError: ERR_MSG_TOO_LARGE, the text has more than `limit` bytes; ERR_INVALID_REQUEST, it is no JSON object.
    """
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise refusal("expected UTF-8 text, found half of a surrogate pair", text, error.start) from None
    if size > limit:
        reason = f"expected at most {limit} bytes, found {size}"
        raise DecodeError(reason, code=AcpError.TOO_LARGE, text=text, position=0)
    try:
        data = read_json(text, lets_others_run=True)
    except json.JSONDecodeError as error:
        raise refusal(f"expected JSON: {error.msg}", text, error.pos) from None
    except (ValueError, RecursionError) as error:
        raise refusal(f"expected JSON: {error}", text) from None
    if not isinstance(data, dict):
        raise refusal(f"expected a JSON object, found {type(data).__name__}", text)
    return data


def write_object(data: Mapping[str, Any], *, limit: int = MAX_ACP_BYTES) -> str:
    """Return the JSON text of an object, on one line, in UTF-8; half of a surrogate pair is escaped.

    Args:
        data: The object.
        limit: Bytes of the text in UTF-8.

    Raises:
        EncodeError: ERR_INVALID_REQUEST, the value is not JSON; ERR_MSG_TOO_LARGE, its text has more than `limit`
            bytes.
    """
    try:
        text = compact_json(data)
    except EncodeError as error:
        raise EncodeError(error.reason, code=AcpError.INVALID_REQUEST) from None
    size = len(text.encode())
    if size > limit:
        raise EncodeError(f"expected at most {limit} bytes, found {size}", code=AcpError.TOO_LARGE)
    return text


def refusal(reason: str, text: str, position: int = 0) -> DecodeError:
    """Return the exception for a text that is no message: ERR_INVALID_REQUEST."""
    return DecodeError(reason, code=AcpError.INVALID_REQUEST, text=text, position=position)


# The parts of a message: text, files, data (ACP transport 0.3, section 3.4).
#
# Two SDKs of the reference call the content of a part "text" or "data"; we read these like "content", which we write. A
# part of an unknown type is kept unchanged.


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """A text."""

    content: str
    """The text."""
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Unknown members, unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """The address of a file."""

    url: str
    """Where the file is."""
    media_type: str = ""
    """Its media type, such as "application/pdf"."""
    filename: str = ""
    """Its name."""
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Unknown members, unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPart:
    """A JSON value, such as the text of another protocol."""

    content: Json
    """The value."""
    media_type: str = ""
    """Its media type, such as "application/accp"."""
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Unknown members, unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpaquePart:
    """A part of an unknown type."""

    raw: Mapping[str, Json]
    """The whole JSON object."""


Part: TypeAlias = TextPart | FilePart | DataPart | OpaquePart

MAX_PARTS: Final = 10_000
"""Parts of a message."""


def part_from_json(data: object) -> Part:
    """Return the part of a JSON value.

    Raises:
        ValueError: It is no part; says what was expected and found.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("type"), str):
        raise ValueError(f"expected a part with a type, found {describe(data)}")
    match data["type"]:
        case "text":
            content = first_member(data, ("content", "text"))
            return TextPart(content=expect_text(content, "content"), extra=other_members(data, "content", "text"))
        case "file":
            names = ("url", "media_type", "filename")
            texts = {name: expect_text(data.get(name, ""), name) for name in names}
            if not texts["url"]:
                raise ValueError(f"expected a file part with a url, found {describe(data)}")
            return FilePart(**texts, extra=other_members(data, *names))
        case "data":
            media_type = expect_text(data.get("media_type", ""), "media_type")
            content = first_member(data, ("content", "data"))
            extra = other_members(data, "content", "data", "media_type")
            return DataPart(content=content, media_type=media_type, extra=extra)
    return OpaquePart(raw=data)


def part_to_json(part: Part) -> dict[str, Json]:
    """Return the JSON of a part; `part_from_json` gives the part back."""
    match part:
        case TextPart():
            return {"type": "text", "content": part.content, **part.extra}
        case FilePart():
            optional = {"media_type": part.media_type, "filename": part.filename}
            return {
                "type": "file",
                "url": part.url,
                **{name: text for name, text in optional.items() if text},
                **part.extra,
            }
        case DataPart():
            media_type: dict[str, Json] = {"media_type": part.media_type} if part.media_type else {}
            return {"type": "data", "content": part.content, **media_type, **part.extra}
    return dict(part.raw)


def parts_of(data: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return the parts of a message or reply, which may have "text" or "content" instead of a single text part.

    Raises:
        ValueError: It has none of the three, or a value that is no part.
    """
    if "parts" not in data:
        return (TextPart(content=expect_text(first_member(data, ("text", "content")), "text")),)
    parts = data["parts"]
    if not isinstance(parts, Sequence) or isinstance(parts, str) or not 0 < len(parts) <= MAX_PARTS:
        raise ValueError(f"parts: expected 1 to {MAX_PARTS} parts, found {describe(parts)}")
    return tuple(part_from_json(part) for part in parts)


def first_member(data: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the value of the first of these members that is there; ValueError where none is."""
    for name in names:
        if name in data:
            return data[name]
    raise ValueError(f"{names[0]}: expected a value, found none")


def expect_text(value: object, name: str) -> str:
    """Return `value`, which must be text; ValueError otherwise."""
    if not isinstance(value, str):
        raise ValueError(f"{name}: expected text, found {describe(value)}")
    return value


def other_members(data: Mapping[str, Json], *known: str) -> dict[str, Json]:
    """Return the members except type and `known`."""
    return {name: value for name, value in data.items() if name not in ("type", *known)}


def describe(value: object) -> str:
    """Return how an error shows a value: its beginning, or type and size of a container, which may be deeply nested."""
    return f"{type(value).__name__} of {len(value)}" if isinstance(value, (dict, list)) else repr(value)[:80]


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
    is_reply: bool = False
    """Whether its type is `acp.reply`: the public reference awaits it where a message marks its own id."""
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


AcpEnvelope: TypeAlias = "AcpMessage | CardMessage | ErrorMessage | UnknownMessage"
_REPLY: Final = "acp.reply"

_FIELDS: Final[Mapping[str, tuple[Callable[..., Any], tuple[str, ...]]]] = {
    "acp.message": (
        AcpMessage,
        (
            *("message_id", "server_seq", "ts", "from", "role", "parts", "task_id", "context_id", "correlation_id"),
            *("to_peer", "sig", "identity"),
        ),
    ),
    "acp.agent_card": (CardMessage, ("message_id", "ts", "card")),
    "error": (ErrorMessage, ("code",)),
}
"""Type of a message to its class and its known fields, in the order in which they are written."""
_TYPES: Final = {cls: (kind, fields) for kind, (cls, fields) in _FIELDS.items()}
_REQUIRED: Final = frozenset({("acp.agent_card", "card"), ("error", "code")})


def parse_envelope(text: str, *, limit: int = MAX_ACP_BYTES) -> AcpEnvelope:
    """Return the envelope of a text of a peer, of at most `limit` bytes in UTF-8.

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
        EncodeError: ERR_INVALID_REQUEST, `envelope_from_json` refuses it, a value is not JSON, or an extra field has
            the name of a known one; ERR_MSG_TOO_LARGE, the text has more than `limit` bytes.
    """
    if isinstance(envelope, UnknownMessage):
        return write_object({**envelope.raw, "type": envelope.type}, limit=limit)
    own, extra = _to_json(envelope), envelope.extra
    try:
        if doubled := own.keys() & extra.keys():
            raise ValueError(f"extra: expected unknown fields, found {', '.join(sorted(doubled))}")
        envelope_from_json(own)
    except ValueError as error:
        raise EncodeError(str(error), code=AcpError.INVALID_REQUEST) from None
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
    if kind == _REPLY:
        _checked(data.get("correlation_id"), "correlation_id")
        return _read("acp.message", {"role": "agent", **data}, is_reply=True)
    return _read(kind, data) if kind in _FIELDS else UnknownMessage(type=kind, raw=data)


def _read(kind: str, data: Mapping[str, Any], **values: Any) -> AcpEnvelope:
    cls, fields = _FIELDS[kind]
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
    data: dict[str, Any] = {"type": _REPLY if isinstance(envelope, AcpMessage) and envelope.is_reply else kind}
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


# The framing of messages in byte streams and requests, for each binding (ACP transport 0.3, sections 4.2 to 7.2).
#
# WebSocket      one text frame is one message; no framing needed
# stdio, TCP     one JSON object per line, UTF-8, ended by LF
# HTTP/SSE       data: {json} LF LF; comments keep the stream alive      KEEPALIVE
#                POST /message:send {json}                               error_body
# HTTP relay     the envelope is the body; the relay sets id, seq, ts    RELAY_FIELDS, SENT_AT

KEEPALIVE: Final = b": keepalive\n\n"
"""A comment that keeps an event stream open while there are no events."""

SENT_AT: Final = "sent_at"
"""The field for the sender's `ts` on a relay, which overwrites `ts`."""
RELAY_FIELDS: Final = frozenset({"id", "seq", "ts", SENT_AT})
"""The fields that a relay writes, and our field for the sender's time."""


def error_body(code: AcpError, reason: str, *, now: float, failed_message_id: str | None = None) -> str:
    """Return the body of the response that refuses a request; its HTTP status is `code.status`.

    The reason is in `error` and in `message`, because clients read one or the other.

    Args:
        code: The error code.
        reason: What was expected and found.
        now: Seconds of the Unix epoch.
        failed_message_id: The message_id of the request, where it is known.
    """
    body = {"ok": False, "error_code": code.value, "error": reason, "message": reason, "ts": timestamp(now)}
    return write_object(body if failed_message_id is None else {**body, "failed_message_id": failed_message_id})
