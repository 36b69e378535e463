"""Debug mode: one log record for each frame, in words, without secrets (ACCP section 9, item 1).

"Compact formats are harder for humans to audit. Implementations SHOULD provide a "debug mode" that logs decoded
human-readable equivalents." Whoever moves frames calls an `Observer` with a `FrameSeen` for each, if it was given
one; without one nothing is built and nothing is paid. `FrameLog` is the observer that logs, under the name `accp`
of the standard library's logging:

    session = Session(..., observe=FrameLog())
    logging.getLogger("accp").setLevel(logging.DEBUG)
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from json import dumps
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from accp_core.accp import grammar
from accp_core.accp.frame import REMOVED, Envelope, Frame, Ref
from accp_core.accp.vocabulary import ENVELOPE_FIELDS, Intent

__all__ = [
    "DEFAULT_REDACTION",
    "LOGGER",
    "Direction",
    "FrameLog",
    "FrameSeen",
    "LeftOut",
    "Observer",
    "Redaction",
    "describe",
    "left_out",
]

LOGGER: Final = logging.getLogger("accp")
"""The logger of debug mode; it is silent until its level is DEBUG."""


class Direction(StrEnum):
    """Which way a frame went."""

    SENT = "sent"
    RECEIVED = "received"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameSeen:
    """One frame as it passed: what an observer is told."""

    direction: Direction
    """Which way it went."""
    session_id: str
    """The session that it passed through."""
    frame: Frame | None
    """The frame as on the wire; None for a text that is none."""
    payload: Mapping[str, object] | None = None
    """The message's payload under full keys; None where decoding did not come so far."""
    defaulted: frozenset[str] = frozenset()
    """Keys of `payload` that the schema filled in."""
    tokens: int | None = None
    """Of the frame's text; None where nobody counted."""
    notes: tuple[str, ...] = ()
    """What else happened to it, such as "part 2 of 3"; in words, without values."""
    code: str | None = None
    """The error code with which it was refused; None when it was accepted."""
    reason: str = ""
    """Why it was refused, or dropped without a word to the sender."""


Observer: TypeAlias = Callable[[FrameSeen], None]
"""What a session calls with each frame; it must not raise."""

HIDDEN_VALUE: Final = "[redacted]"
_PUNCTUATION: Final = str.maketrans("", "", "-_. ")


@dataclass(frozen=True, slots=True)
class Redaction:
    """Which values are not shown: those under a key that ends in one of `endings`, and all within them.

    Case, `-`, `_`, `.` and spaces do not count: "apikey" hides `api_key`, `X-Api-Key` and `apiKey`. Values are judged
    by their keys alone; a password in a sentence is shown.
    """

    endings: frozenset[str]
    """In lower case without punctuation."""

    @classmethod
    def of(cls, *keys: str) -> "Redaction":
        """Return the rule that hides what stands under these keys, however they are spelled."""
        return cls(frozenset(map(_plain, keys)) - {""})

    def adding(self, *keys: str) -> "Redaction":
        """Return the rule that hides these, too."""
        return Redaction(self.endings | Redaction.of(*keys).endings)

    def hides(self, key: str) -> bool:
        """Return whether the value under `key` is not shown."""
        return _plain(key).endswith(tuple(self.endings))


def _plain(key: str) -> str:
    return str.__str__(key).translate(_PUNCTUATION).casefold()


DEFAULT_REDACTION: Final = Redaction.of(
    "authorization", "cookie", "credential", "credentials", "passphrase", "passwd", "password", "pin", "private_key",
    "api_key", "secret", "secret_key", "token",
)  # fmt: skip
"""What is hidden unless somebody says otherwise."""

MEANINGS: Final[Mapping[Intent, str]] = MappingProxyType(
    {
        Intent.REQUEST: "Request",
        Intent.COMPLETE: "Complete",
        Intent.FAILURE: "Failure",
        Intent.WAITING: "Waiting",
        Intent.ESCALATE: "Escalate",
        Intent.COMPRESS: "Compress",
        Intent.SYNCHRONIZE: "Synchronize",
        Intent.QUERY: "Query",
        Intent.ACKNOWLEDGE: "Acknowledge",
        Intent.CANCEL: "Cancel",
        Intent.STREAM: "Stream",
        Intent.END_STREAM: "End stream",
        Intent.PING: "Ping",
        Intent.PONG: "Pong",
    }
)
"""The column "Meaning" of Table 7."""

# A value is data of a peer: a log line must neither grow without bound nor obey it.
_CHARACTERS = 400
_LEVELS = 80


def describe(
    frame: Frame, *, payload: Mapping[str, object] | None = None, redaction: Redaction = DEFAULT_REDACTION
) -> str:
    """Return what `frame` says as one line for people: its intent in words, full keys, the envelope with dates.

    `payload` is the decoded message's, where there is one; without it, the frame's own parameters are shown. A value
    of over 400 characters is cut, which is said; no character of it moves a terminal or ends the line.
    """
    body = frame.params if payload is None else payload
    said = ", ".join(f"{_word(key)}={_member(key, value, redaction)}" for key, value in body.items())
    head = f"{MEANINGS.get(frame.intent, frame.intent)} by {_word(frame.sender)}: {_word(frame.operation)}"
    return f"{head}({said}){_describe_envelope(frame.envelope, redaction)}"


def _describe_envelope(envelope: Envelope, redaction: Redaction) -> str:
    known = {name: getattr(envelope, name) for name in ENVELOPE_FIELDS}
    fields = {name: value for name, value in {**known, **envelope.extra}.items() if value is not None}
    if not fields:
        return ""
    said = [f"{_word(name)}={_member(name, value, redaction)}" for name, value in fields.items()]
    return f" [{', '.join(said)}{_date(envelope.timestamp)}]"


def _date(timestamp: int | None) -> str:
    try:
        return "" if timestamp is None else f", sent {datetime.fromtimestamp(timestamp, UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (OverflowError, ValueError, OSError):
        return ", sent at no date of the calendar"


def _member(key: str, value: object, redaction: Redaction) -> str:
    if redaction.hides(key):
        return HIDDEN_VALUE
    text = _readable(value, redaction, 1)
    return text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}… ({len(text) - _CHARACTERS:,} characters more)"


def _readable(value: object, redaction: Redaction, level: int) -> str:
    if level > _LEVELS:
        return "…"
    match value:
        case None | True | False:
            return dumps(value)
        case str():
            return _readable_text(value, redaction, level)
        case Ref():
            return f"${_word(value.key)}"
        case Mapping():
            return f"{{{', '.join(_entries(value, redaction, level))}}}"
        case Sequence():
            return f"[{', '.join(_readable(item, redaction, level + 1) for item in value)}]"
    return "(removed)" if value is REMOVED else _word(str(value))


def _entries(value: Mapping[Any, Any], redaction: Redaction, level: int) -> Iterator[str]:
    for key, item in value.items():
        said = HIDDEN_VALUE if redaction.hides(str(key)) else _readable(item, redaction, level + 1)
        yield f"{_word(str(key))}: {said}"


def _readable_text(text: str, redaction: Redaction, level: int) -> str:
    """Return a quoted string; one that holds JSON, as many tools answer, is shown as that, so that its keys count."""
    if text[:1] in ("{", "["):
        try:
            inner = grammar.read_json(text, float, grammar.DEFAULT_LIMITS)
        except (ValueError, RecursionError):
            pass
        else:
            return f"JSON {_readable(inner, redaction, level + 1)}"
    return _word(dumps(text, ensure_ascii=False))


def _word(text: str) -> str:
    """Return `text` with every character that is no mark on paper, spaces excepted, as its code point."""
    return grammar.HIDDEN.sub(_code_points, str.__str__(text))


def _code_points(found: Any) -> str:
    return "".join(" " if character == " " else f"\\u{{{ord(character):x}}}" for character in found[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A key of the message whose value is not in the frame as it is in the message, and why."""

    key: str
    """The full key."""
    what: str
    """"omitted", "filled in", "externalised" or "resolved"."""
    why: str
    """The reason, in words, without the value."""


def left_out(seen: FrameSeen) -> Iterator[LeftOut]:
    """Yield what the frame does not hold of the message that it carries."""
    if seen.frame is None or seen.payload is None:
        return
    sent = seen.direction is Direction.SENT
    carried = full_params(seen.frame)
    for key, value in seen.payload.items():
        if key in seen.defaulted:
            yield LeftOut(key=key, what="filled in", why="the frame leaves it to the schema's default")
        elif key not in carried:
            yield LeftOut(key=key, what="omitted", why="it equals the schema's default")
        elif isinstance(reference := carried[key], Ref) and value != reference:
            what = "externalised" if sent else "resolved"
            yield LeftOut(key=key, what=what, why=f"it stands in the state as ${reference.key}")


def full_params(frame: Frame) -> dict[str, object]:
    """Return the parameters of `frame` under plain keys."""
    return {str.__str__(key): value for key, value in frame.params.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameLog:
    """The observer that logs each frame at level DEBUG; it does nothing while its logger is silent.

    The record's message is for people. Its attribute `accp` holds the same as a mapping of strings, numbers and
    None, for a formatter that writes JSON; no secret is in either, nor the frame's own text, which has them.
    """

    redaction: Redaction = DEFAULT_REDACTION
    """What is hidden."""
    logger: logging.Logger = LOGGER
    """Where to."""

    def __call__(self, seen: FrameSeen) -> None:
        """Log one frame."""
        if self.logger.isEnabledFor(logging.DEBUG):
            event = to_event(seen, self.redaction)
            self.logger.debug("%s", _line(event), extra={"accp": event})


def to_event(seen: FrameSeen, redaction: Redaction = DEFAULT_REDACTION) -> dict[str, Any]:
    """Return what is logged of a frame, as strings, numbers, None and lists of these."""
    frame = seen.frame
    event: dict[str, Any] = {"direction": seen.direction.value, "session_id": _word(seen.session_id)}
    if frame is not None:
        event |= {
            "sender": _word(frame.sender),
            "intent": str(frame.intent),
            "operation": _word(frame.operation),
            "schema": _member("schema", frame.params.get("schema"), redaction),
            "msg_id": _member("msg_id", frame.envelope.msg_id, redaction),
            "sequence": frame.envelope.sequence,
            "readable": describe(frame, payload=seen.payload, redaction=redaction),
        }
    return event | {
        "tokens": seen.tokens,
        "left_out": [f"{_word(gone.key)}: {gone.what}, {gone.why}" for gone in left_out(seen)],
        "notes": [_word(note) for note in seen.notes],
        "code": seen.code,
        "reason": _word(seen.reason),
    }


def _line(event: Mapping[str, Any]) -> str:
    """Return an event as one line for people."""
    parts = [event.get("readable", "no frame")]
    if event["tokens"] is not None:
        parts.append(f"{event['tokens']} tokens")
    parts += [*event["left_out"], *event["notes"]]
    if event["code"] or event["reason"]:
        parts.append(f"refused: {event['code'] or 'silently'} {event['reason']}".rstrip())
    return f"{event['direction']} in {event['session_id']}: {'; '.join(parts)}"
