"""Debug mode: one log record for each frame, in words and without secrets (ACCP section 9, item 1).

"Compact formats are harder for humans to audit. Implementations SHOULD provide a "debug mode" that logs decoded
human-readable equivalents." A session calls its `Observer`, if it has one, with a `FrameSeen` for each frame; without
one, debug mode costs nothing. `DebugLog` is the observer that logs, to the logger `accp` of the standard library:

    session = Session(..., observe=DebugLog())
    logging.getLogger("accp").setLevel(logging.DEBUG)
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from json import dumps
from types import MappingProxyType
from typing import Any, Final, TypeAlias
from unicodedata import normalize

from accp_core.accp import frame as frames
from accp_core.accp import grammar
from accp_core.accp.parser import parse_frame
from accp_core.accp.profiles import BUILT_IN
from accp_core.accp.schema import SchemaRegistry
from accp_core.errors import DecodeError, ProtocolError

__all__ = [
    "DEFAULT_REDACTION", "HIDDEN_VALUE", "LOGGER", "MAX_MEMBERS", "MEANINGS", "DebugLog", "Direction", "FrameSeen",
    "Observer", "Redaction", "describe", "escape_hidden", "payload_differences", "readable_members", "shorten",
    "to_event",
]  # fmt: skip


class Direction(StrEnum):
    """Whether a frame was sent or received."""

    SENT = "sent"
    RECEIVED = "received"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameSeen:
    """One frame that was sent, received, refused or dropped."""

    direction: Direction
    """Whether it was sent or received."""
    session_id: str
    """Its session."""
    frame: frames.Frame | None
    """The frame as on the wire; None for a text that is not a frame and for a message that came in chunks."""
    payload: Mapping[str, object] | None = None
    """The message's payload under full keys; None where the frame was not decoded."""
    kind: str = "a message of several frames"
    """What has the payload where there is no frame, such as an envelope of ACP."""
    defaulted: frozenset[str] = frozenset()
    """Keys of `payload` that the schema filled in."""
    registry: SchemaRegistry = BUILT_IN
    """The schemas by which the frame's keys are expanded."""
    tokens: int | None = None
    """Tokens of the frame's text; None where they were not counted, as for a refused frame."""
    notes: tuple[str, ...] = ()
    """Other remarks, such as "part 2 of 3", without values of the payload."""
    code: str | None = None
    """The error code with which it was refused; None where it was accepted."""
    reason: str = ""
    """Why it was refused or dropped."""


Observer: TypeAlias = Callable[[FrameSeen], None]
"""What a session calls with each frame; it must not raise."""


# Which values debug mode hides (ACCP section 9, item 1).

HIDDEN_VALUE: Final = "[redacted]"
"""Shown instead of a hidden value."""


@dataclass(frozen=True, slots=True)
class Redaction:
    """Hides each value whose key ends in one of `endings`, with everything in it.

    Only letters and digits are compared, in any case and any width: "apikey" hides `api_key`, `X-Api-Key` and `apiKey`,
    and `api_key_2` and `api_key_value`, too.
    Only keys are examined; a password in a sentence is shown.
    """

    endings: frozenset[str]
    """Endings of keys, in lower case and without punctuation."""

    @classmethod
    def of(cls, *keys: str) -> "Redaction":
        """Return the rule that hides the values of `keys`, in any spelling."""
        return cls(frozenset(map(_normalize_key, keys)) - {""})

    def hides(self, key: str) -> bool:
        """Return whether the value of `key` is hidden."""
        name = _normalize_key(key)
        bare = name.rstrip("0123456789").removesuffix("value")
        return name.endswith(tuple(self.endings)) or bare.endswith(tuple(self.endings))


def _normalize_key(key: str) -> str:
    return "".join(filter(str.isalnum, normalize("NFKC", str.__str__(key)))).casefold()


DEFAULT_REDACTION: Final = Redaction.of(
    "access_key", "api_key", "api_keys", "authorization", "cookie", "cookies", "credential", "credentials", "db_pass",
    "encryption_key", "jwt", "otp", "passcode", "passphrase", "passwd", "password", "passwords", "private_key", "pwd",
    "secret", "secret_key", "secrets", "signing_key", "token", "user_pass",
)  # fmt: skip
"""The rule that applies unless another is given."""


# Values of a frame as bounded text for people: they come from a peer, so a log line must not grow without bound and
# no character may end the line or control a terminal (ACCP section 9, item 1).

MAX_MEMBERS: Final = 64
"""Members of a map that are shown."""
_MAX_CHARS: Final = 400
"""Characters of a value that are shown."""
_MAX_LEVELS: Final = 80
"""Levels of nested values that are shown."""


def readable_members(members: Mapping[str, object], redaction: Redaction) -> str:
    """Return the first members of a map as `key=value, …`, and how many are not shown."""
    shown = ", ".join(
        f"{shorten(escape_hidden(key))}={_member_value(key, value, redaction)}"
        for key, value in islice(members.items(), MAX_MEMBERS)
    )
    return shown if len(members) <= MAX_MEMBERS else f"{shown}, … ({len(members) - MAX_MEMBERS:,} more)"


def shorten(text: str) -> str:
    """Return `text`, cut where it is long."""
    return text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]}… ({len(text) - _MAX_CHARS:,} characters more)"


def escape_hidden(text: str) -> str:
    """Return `text` with the code point of each character that is not visible; spaces stay."""
    return grammar.HIDDEN.sub(_code_points, str.__str__(text))


def _code_points(match: Any) -> str:
    return "".join(" " if character == " " else f"\\u{{{ord(character):x}}}" for character in match[0])


def _member_value(key: str, value: object, redaction: Redaction) -> str:
    return HIDDEN_VALUE if redaction.hides(key) else shorten(_readable(value, redaction, 1))


def _readable(value: object, redaction: Redaction, level: int) -> str:
    if level > _MAX_LEVELS:
        return "…"
    match value:
        case None | bool():
            return dumps(value)
        case str():
            return _readable_text(value, redaction, level)
        case frames.Ref():
            return f"${escape_hidden(value.key)}"
        case Mapping():
            return f"{{{', '.join(_readable_entries(value, redaction, level))}}}"
        case Sequence():
            return f"[{', '.join(_readable(item, redaction, level + 1) for item in value)}]"
    return "(removed)" if value is frames.REMOVED else escape_hidden(str(value))


def _readable_entries(value: Mapping[Any, Any], redaction: Redaction, level: int) -> Iterator[str]:
    for key, member in value.items():
        shown = HIDDEN_VALUE if redaction.hides(str(key)) else _readable(member, redaction, level + 1)
        yield f"{escape_hidden(str(key))}: {shown}"


def _readable_text(text: str, redaction: Redaction, level: int) -> str:
    """Return a quoted string; JSON or a frame in a string is shown with its members, so that keys are hidden."""
    if text[:1] in ("{", "["):
        try:
            value = grammar.read_json_literal(text, float, grammar.DEFAULT_LIMITS)
        except (ValueError, RecursionError):
            pass
        else:
            return f"JSON {_readable(value, redaction, level + 1)}"
    if text[:1] == "@":
        try:
            frame = parse_frame(text)
        except DecodeError:
            pass
        else:
            head = f"{frame.sender}>{frame.intent}:{frame.operation}"
            return f"frame {head}{_readable(frame.params, redaction, level + 1)}"
    return escape_hidden(dumps(text, ensure_ascii=False))


# A frame as one line of text for people (ACCP section 9, item 1).

MEANINGS: Final[Mapping[frames.Intent, str]] = MappingProxyType(
    {
        frames.Intent.REQUEST: "Request",
        frames.Intent.COMPLETE: "Complete",
        frames.Intent.FAILURE: "Failure",
        frames.Intent.WAITING: "Waiting",
        frames.Intent.ESCALATE: "Escalate",
        frames.Intent.COMPRESS: "Compress",
        frames.Intent.SYNCHRONIZE: "Synchronize",
        frames.Intent.QUERY: "Query",
        frames.Intent.ACKNOWLEDGE: "Acknowledge",
        frames.Intent.CANCEL: "Cancel",
        frames.Intent.STREAM: "Stream",
        frames.Intent.END_STREAM: "End stream",
        frames.Intent.PING: "Ping",
        frames.Intent.PONG: "Pong",
    }
)
"""The column "Meaning" of Table 7."""


def describe(
    frame: frames.Frame,
    *,
    payload: Mapping[str, object] | None = None,
    registry: SchemaRegistry = BUILT_IN,
    redaction: Redaction = DEFAULT_REDACTION,
) -> str:
    """Return a frame as one line for people: its intent in words, full keys, the envelope with its date.

    Long values, parameters after the 64th and the data of a chunk of a frame are not shown in full.

    Args:
        frame: The frame.
        payload: The payload of its message; None: the parameters of the frame are shown.
        registry: The schemas by which its keys are expanded.
        redaction: Which values are hidden.
    """
    params = full_params(frame, registry)
    shown = _without_data(params) if _is_frame_chunk(frame) else params if payload is None else payload
    head = f"{MEANINGS[frame.intent]} by {escape_hidden(frame.sender)}: {escape_hidden(frame.operation)}"
    return f"{head}({readable_members(shown, redaction)}){_describe_envelope(frame.envelope, redaction)}"


def _is_frame_chunk(frame: frames.Frame) -> bool:
    return frame.intent is frames.Intent.STREAM and frame.operation == frames.FRAME_OPERATION


# The data of a chunk is part of a text without keys, so that no rule would find the secrets in it.
def _without_data(params: Mapping[str, object]) -> dict[str, object]:
    return {key: "(part of a frame)" if key == "data" else value for key, value in params.items()}


def _describe_envelope(envelope: frames.Envelope, redaction: Redaction) -> str:
    known = {name: getattr(envelope, name) for name in frames.ENVELOPE_FIELDS}
    fields = {name: value for name, value in {**known, **envelope.extra}.items() if value is not None}
    return f" [{readable_members(fields, redaction)}{_date(envelope.timestamp)}]" if fields else ""


def _date(timestamp: int | None) -> str:
    try:
        return "" if timestamp is None else f", sent {datetime.fromtimestamp(timestamp, UTC):%Y-%m-%dT%H:%M:%SZ}"
    # Which of these a number beyond the calendar raises depends on the platform.
    except (OverflowError, ValueError, OSError):
        return ", sent at no date of the calendar"


def payload_differences(seen: FrameSeen) -> Iterator[str]:
    """Yield which keys of a message's payload have another value in its frame or none, and why, without the value."""
    if seen.frame is None or seen.payload is None or _is_frame_chunk(seen.frame):
        return
    is_sent = seen.direction is Direction.SENT
    params = full_params(seen.frame, seen.registry)
    for key, value in seen.payload.items():
        if key in seen.defaulted:
            yield f"{key}: filled in, the frame leaves it to the schema's default"
        elif key not in params:
            yield f"{key}: omitted, it equals the schema's default"
        elif isinstance(reference := params[key], frames.Ref) and value != reference:
            kind = "externalised" if is_sent else "resolved"
            yield f"{key}: {kind}, the frame has the reference ${reference.key}"


def full_params(frame: frames.Frame, registry: SchemaRegistry) -> dict[str, object]:
    """Return the parameters of a frame under full keys; of an unknown schema only the keys of Table 8 are expanded."""
    keys = _key_table(frame, registry)
    return {keys.to_full(key): value for key, value in frame.params.items()}


def _key_table(frame: frames.Frame, registry: SchemaRegistry) -> frames.KeyTable:
    try:
        return registry.get(str(frame.params[frames.SCHEMA_KEY])).keys
    except (KeyError, ProtocolError):
        return frames.PLAIN_KEYS


# The observer that logs: one record for each frame (ACCP section 9, item 1).

LOGGER: Final = logging.getLogger("accp")
"""The logger of debug mode; it is silent until its level is DEBUG."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DebugLog:
    """Logs each frame at level DEBUG.

    The message of a record is for people; its attribute `accp` holds the same as a JSON object, for a formatter that
    writes JSON. Neither contains a hidden value nor the text of the frame.
    """

    redaction: Redaction = DEFAULT_REDACTION
    """Which values are hidden."""
    logger: logging.Logger = LOGGER
    """The logger to write to."""

    def __call__(self, seen: FrameSeen) -> None:
        """Log one frame, if the logger is enabled."""
        if self.logger.isEnabledFor(logging.DEBUG):
            event = to_event(seen, self.redaction)
            self.logger.debug("%s", _event_to_line(event), extra={"accp": event})


def to_event(seen: FrameSeen, redaction: Redaction = DEFAULT_REDACTION) -> dict[str, Any]:
    """Return what is logged of a frame, as a JSON object."""
    frame = seen.frame
    event: dict[str, Any] = {"direction": seen.direction.value, "session_id": escape_hidden(seen.session_id)}
    if frame is not None:
        event |= {
            "sender": escape_hidden(frame.sender),
            "intent": str(frame.intent),
            "operation": escape_hidden(frame.operation),
            "schema": _text_or_none(frame.params.get(frames.SCHEMA_KEY)),
            "msg_id": _text_or_none(frame.envelope.msg_id),
            "sequence": frame.envelope.sequence,
            "readable": describe(frame, payload=seen.payload, registry=seen.registry, redaction=redaction),
        }
    elif seen.payload is not None:
        event["readable"] = f"{seen.kind}({readable_members(seen.payload, redaction)})"
    differences = islice(payload_differences(seen), MAX_MEMBERS)
    return event | {
        "tokens": seen.tokens,
        "differences": [shorten(escape_hidden(each)) for each in differences],
        "notes": [shorten(escape_hidden(note)) for note in seen.notes],
        "code": seen.code,
        "reason": shorten(escape_hidden(seen.reason)),
    }


def _text_or_none(value: object) -> str | None:
    return escape_hidden(value) if isinstance(value, str) else None


def _event_to_line(event: Mapping[str, Any]) -> str:
    """Return an event as one line for people."""
    parts = [event.get("readable", "no frame")]
    if event["tokens"] is not None:
        parts.append(f"{event['tokens']} tokens")
    parts += [*event["differences"], *event["notes"]]
    if event["code"] or event["reason"]:
        parts.append(f"refused: {event['code'] or 'silently'} {event['reason']}".rstrip())
    return f"{event['direction']} in {event['session_id']}: {'; '.join(parts)}"
