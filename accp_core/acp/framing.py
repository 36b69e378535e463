"""Messages in a stream of bytes or in a request, binding by binding (ACP transport 0.3, sections 4.2, 5.3, 6.3, 7.2).

WebSocket      one text frame is one message: nothing to do here
stdio, TCP     one JSON object a line, UTF-8, ended by LF              LineReader, write_line
HTTP/SSE       data: {json} LF LF, comments are keepalives             SseReader, write_event, KEEPALIVE
               POST /message:send {json}                               read_request, error_body
HTTP relay     the envelope is the body; the relay sets id, seq, ts    to_relay, from_relay
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from accp_core.acp.document import MAX_MESSAGE_BYTES, Json, read_object, refusal, write_object
from accp_core.acp.envelope import (
    AcpEnvelope,
    AcpMessage,
    envelope_from_json,
    message_from_json,
    serialize_envelope,
    timestamp,
)
from accp_core.acp.error_codes import AcpError
from accp_core.errors import DecodeError, EncodeError

__all__ = [
    "KEEPALIVE",
    "LineReader",
    "SseEvent",
    "SseReader",
    "error_body",
    "from_relay",
    "read_request",
    "to_relay",
    "write_event",
    "write_line",
]

KEEPALIVE: Final = b": keepalive\n\n"
"""What an event stream holds when there is nothing to say."""

NAMES: Final = 256
"""Bytes of an event besides its data."""

SENT_AT: Final = "sent_at"
"""Where the sender's `ts` stands on a relay, which writes its own."""
RELAY_FIELDS: Final = frozenset({"id", "seq", "ts", SENT_AT})
"""What a relay adds to a message, and what is ours in its place."""


class LineReader:
    """Cuts a stream of bytes into lines, on LF only, and bounds them (sections 4.2 and 7.2)."""

    def __init__(self, limit: int = MAX_MESSAGE_BYTES, *, keep_empty: bool = False) -> None:
        """Refuse lines of more than `limit` bytes; lines of white space are none, unless `keep_empty`."""
        self._limit = limit
        self._keep_empty = keep_empty
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[str]:
        """Return the lines that end in `data`, without line ends.

        Raises: DecodeError: ERR_MSG_TOO_LARGE for a line over the limit, ended or not, ERR_INVALID_REQUEST for what is
            no UTF-8. What comes after such a line cannot be trusted: the session ends.
        """
        *ended, rest = data.split(b"\n")
        lines = []
        for piece in ended:
            self._take(piece)
            lines.append(self._line())
        self._take(rest)
        return [line for line in lines if self._keep_empty or line.strip()]

    # "if the process dies, the session ends" (section 4.4)
    def end(self) -> None:
        """Take the end of the stream.

        Raises: DecodeError ERR_INVALID_REQUEST when it ends within a line: a message was cut short.
        """
        if self._size:
            raise self._refuse("the stream ends within a line", AcpError.INVALID_REQUEST)

    def _take(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            raise self._refuse(f"a line has at most {self._limit} bytes", AcpError.TOO_LARGE)
        self._pieces.append(piece)

    def _line(self) -> str:
        line, self._pieces, self._size = b"".join(self._pieces), [], 0
        try:
            return line.decode().removesuffix("\r")
        except UnicodeDecodeError as error:
            raise self._refuse(f"no UTF-8: {error.reason}", AcpError.INVALID_REQUEST) from None

    def _refuse(self, reason: str, code: AcpError) -> DecodeError:
        self._pieces, self._size = [], 0
        return DecodeError(reason, code=code, text="", position=0)


def write_line(envelope: AcpEnvelope) -> bytes:
    """Return the line of an envelope; raises what `serialize_envelope` raises."""
    return f"{serialize_envelope(envelope)}\n".encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class SseEvent:
    """One event of a stream (Server-Sent Events, WHATWG HTML section 9.2)."""

    data: str
    event: str = "message"
    """Its name; the usual one where the stream names none."""
    id: str = ""
    """What a client says to get what came after it."""


class SseReader:
    """Reads events from a stream of bytes; comments, which keep it alive, are passed over."""

    def __init__(self, limit: int = MAX_MESSAGE_BYTES) -> None:
        """Refuse lines and events of more than `limit` bytes, and a little for the names of fields."""
        self._limit = limit
        self._lines = LineReader(limit + NAMES, keep_empty=True)
        self._fields: dict[str, list[str]] = {}
        self._size = 0

    def feed(self, data: bytes) -> list[SseEvent]:
        """Return the events that end in `data`; an event without data is none.

        Raises: DecodeError as `LineReader.feed`.
        """
        events = []
        for line in self._lines.feed(data):
            if line:
                self._field(line)
                continue
            fields, self._fields, self._size = self._fields, {}, 0
            if "data" in fields:
                names = {name: fields[name][-1] for name in ("event", "id") if name in fields}
                events.append(SseEvent(data="\n".join(fields["data"]), **names))
        return events

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        self._size += len(line)
        if self._size > self._limit + NAMES:
            raise DecodeError(f"an event has at most {self._limit} bytes", code=AcpError.TOO_LARGE, text="", position=0)
        if name:
            self._fields.setdefault(name, []).append(value.removeprefix(" "))


def write_event(envelope: AcpEnvelope, *, event: str = "", event_id: str = "") -> bytes:
    """Return an envelope as an event; unnamed, as section 6.3 shows it, unless `event` is given.

    Raises: EncodeError as `serialize_envelope`, and for a name or an id that holds a line end.
    """
    for name in (event, event_id):
        if any(letter in name for letter in "\r\n\0"):
            raise EncodeError(f"a name has no line ends: {name!r}", code=AcpError.INVALID_REQUEST)
    head = f"event: {event}\n" * bool(event) + f"id: {event_id}\n" * bool(event_id)
    return f"{head}data: {serialize_envelope(envelope)}\n\n".encode()


# The relay adds `id` where there is none, deduplicates by it, and writes `seq` and `ts` over whatever stood there.
def to_relay(message: AcpMessage) -> str:
    """Return the body of `POST /acp/<token>/send` for a message.

    Raises: EncodeError: ERR_INVALID_REQUEST without a message_id, which the relay must know again, and for an extra
        field that the relay would overwrite; as `serialize_envelope`.
    """
    if message.message_id is None or RELAY_FIELDS & message.extra.keys():
        raise EncodeError(
            f"a relayed message has a message_id and none of {', '.join(sorted(RELAY_FIELDS))}",
            code=AcpError.INVALID_REQUEST,
        )
    names: dict[str, Json] = {"id": message.message_id}
    names |= {} if message.ts is None else {SENT_AT: message.ts}
    return serialize_envelope(replace(message, extra={**message.extra, **names}))


def from_relay(entry: Mapping[str, Any]) -> AcpEnvelope:
    """Return what one entry of `messages` of a poll says, with the sender's own time where there is one.

    Raises: DecodeError ERR_INVALID_REQUEST as `parse_envelope`.
    """
    own = {name: value for name, value in entry.items() if name not in RELAY_FIELDS}
    own["ts"] = entry.get(SENT_AT, entry.get("ts"))
    try:
        return envelope_from_json(own)
    except ValueError as error:
        raise refusal(str(error), str(entry.get("id", ""))) from None


def read_request(body: str, *, require_role: bool = False, limit: int = MAX_MESSAGE_BYTES) -> AcpMessage:
    """Return the message that the body of `POST /message:send` says (section 6.3); its type may be missing.

    Raises: DecodeError as `parse_envelope`.
    """
    data = read_object(body, limit=limit)
    try:
        return message_from_json(data, require_role=require_role)
    except ValueError as error:
        raise refusal(str(error), body) from None


def error_body(code: AcpError, reason: str, *, now: float, failed_message_id: str | None = None) -> str:
    """Return the body of an answer that refuses a request; its HTTP status is `code.status`.

    `message` says what `error` says, for those who look there.
    """
    told = {"ok": False, "error_code": code.value, "error": reason, "message": reason, "ts": timestamp(now)}
    return write_object(told if failed_message_id is None else {**told, "failed_message_id": failed_message_id})
