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
from itertools import islice
from json import dumps
from types import MappingProxyType
from typing import Any, Final, TypeAlias
from unicodedata import normalize

from accp_core.accp import grammar
from accp_core.accp.frame import REMOVED, Envelope, Frame, Ref
from accp_core.accp.keys import PLAIN_KEYS, SCHEMA_KEY, KeyTable
from accp_core.accp.profiles import BUILT_IN
from accp_core.accp.schema import SchemaRegistry
from accp_core.accp.stream import FRAME_OPERATION
from accp_core.accp.vocabulary import ENVELOPE_FIELDS, Intent
from accp_core.errors import ProtocolError

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
    """The frame as on the wire; None for a text that is none and for a message that came in several frames."""
    payload: Mapping[str, object] | None = None
    """The message's payload under full keys; None where decoding did not come so far."""
    defaulted: frozenset[str] = frozenset()
    """Keys of `payload` that the schema filled in."""
    registry: SchemaRegistry = BUILT_IN
    """Whose schemas the frame's abbreviations are of."""
    tokens: int | None = None
    """Of the frame's canonical text; None where there is none, or nobody counted."""
    notes: tuple[str, ...] = ()
    """What else happened to it, such as "part 2 of 3"; in words, without values."""
    code: str | None = None
    """The error code with which it was refused; None when it was accepted."""
    reason: str = ""
    """Why it was refused, or dropped without a word to the sender."""


Observer: TypeAlias = Callable[[FrameSeen], None]
"""What a session calls with each frame; it must not raise."""

HIDDEN_VALUE: Final = "[redacted]"


@dataclass(frozen=True, slots=True)
class Redaction:
    """Which values are not shown: those under a key that ends in one of `endings`, and all within them.

    Only letters and digits count, in any case and any width: "apikey" hides `api_key`, `X-Api-Key` and `apiKey`.
    Values are judged by their keys alone; a password in a sentence is shown.
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
    return "".join(filter(str.isalnum, normalize("NFKC", str.__str__(key)))).casefold()


DEFAULT_REDACTION: Final = Redaction.of(
    "access_key", "api_key", "authorization", "cookie", "cookies", "credential", "credentials", "jwt", "passphrase",
    "passwd", "password", "passwords", "private_key", "secret", "secret_key", "secrets", "token",
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

# What is said is a peer's data: a log line must neither grow without bound nor obey it.
_MEMBERS = 64
_CHARACTERS = 400
_LEVELS = 80


def describe(
    frame: Frame,
    *,
    payload: Mapping[str, object] | None = None,
    registry: SchemaRegistry = BUILT_IN,
    redaction: Redaction = DEFAULT_REDACTION,
) -> str:
    """Return what `frame` says as one line for people: its intent in words, full keys, the envelope with its date.

    `payload` is the decoded message's, where there is one; without it, the frame's own parameters are shown, and so
    for a part of a frame that was cut, whose data is not. A value
    of over 400 characters is cut and so are parameters after the 64th, which is said; no character of them moves a
    terminal or ends the line.
    """
    own = full_params(frame, registry)
    body = _without_piece(own) if _is_piece(frame) else own if payload is None else payload
    head = f"{MEANINGS[frame.intent]} by {_word(frame.sender)}: {_word(frame.operation)}"
    return f"{head}({_members(body, redaction)}){_describe_envelope(frame.envelope, redaction)}"


# The text of a cut frame is no value under a key, so no rule would find the secrets in it.
def _is_piece(frame: Frame) -> bool:
    return frame.intent is Intent.STREAM and frame.operation == FRAME_OPERATION


def _without_piece(params: Mapping[str, object]) -> dict[str, object]:
    return {key: "(part of a frame)" if key == "data" else value for key, value in params.items()}


def _members(members: Mapping[str, object], redaction: Redaction) -> str:
    shown = islice(members.items(), _MEMBERS)
    said = ", ".join(f"{_cut(_word(key))}={_member(key, value, redaction)}" for key, value in shown)
    return said if len(members) <= _MEMBERS else f"{said}, … ({len(members) - _MEMBERS:,} more)"


def _describe_envelope(envelope: Envelope, redaction: Redaction) -> str:
    known = {name: getattr(envelope, name) for name in ENVELOPE_FIELDS}
    fields = {name: value for name, value in {**known, **envelope.extra}.items() if value is not None}
    return f" [{_members(fields, redaction)}{_date(envelope.timestamp)}]" if fields else ""


def _date(timestamp: int | None) -> str:
    try:
        return "" if timestamp is None else f", sent {datetime.fromtimestamp(timestamp, UTC):%Y-%m-%dT%H:%M:%SZ}"
    # Which of them a number of any size meets depends on the platform.
    except (OverflowError, ValueError, OSError):
        return ", sent at no date of the calendar"


def _member(key: str, value: object, redaction: Redaction) -> str:
    return HIDDEN_VALUE if redaction.hides(key) else _cut(_readable(value, redaction, 1))


def _cut(text: str) -> str:
    return text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}… ({len(text) - _CHARACTERS:,} characters more)"


def _readable(value: object, redaction: Redaction, level: int) -> str:
    if level > _LEVELS:
        return "…"
    match value:
        case None | bool():
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
    if seen.frame is None or seen.payload is None or _is_piece(seen.frame):
        return
    sent = seen.direction is Direction.SENT
    carried = full_params(seen.frame, seen.registry)
    for key, value in seen.payload.items():
        if key in seen.defaulted:
            yield LeftOut(key=key, what="filled in", why="the frame leaves it to the schema's default")
        elif key not in carried:
            yield LeftOut(key=key, what="omitted", why="it equals the schema's default")
        elif isinstance(reference := carried[key], Ref) and value != reference:
            what = "externalised" if sent else "resolved"
            yield LeftOut(key=key, what=what, why=f"it stands in the state as ${reference.key}")


def full_params(frame: Frame, registry: SchemaRegistry) -> dict[str, object]:
    """Return the parameters of `frame` under full keys, those of an unknown schema under the keys that all share."""
    keys = _key_table(frame, registry)
    return {keys.to_full(key): value for key, value in frame.params.items()}


def _key_table(frame: Frame, registry: SchemaRegistry) -> KeyTable:
    try:
        return registry.get(str(frame.params[SCHEMA_KEY])).keys
    except (KeyError, ProtocolError):
        return PLAIN_KEYS


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
            "schema": _name(frame.params.get(SCHEMA_KEY)),
            "msg_id": _name(frame.envelope.msg_id),
            "sequence": frame.envelope.sequence,
            "readable": describe(frame, payload=seen.payload, registry=seen.registry, redaction=redaction),
        }
    elif seen.payload is not None:
        event["readable"] = f"a message of several frames({_members(seen.payload, redaction)})"
    return event | {
        "tokens": seen.tokens,
        "left_out": [_cut(_word(f"{gone.key}: {gone.what}, {gone.why}")) for gone in islice(left_out(seen), _MEMBERS)],
        "notes": [_cut(_word(note)) for note in seen.notes],
        "code": seen.code,
        "reason": _cut(_word(seen.reason)),
    }


def _name(value: object) -> str | None:
    return _word(value) if isinstance(value, str) else None


def _line(event: Mapping[str, Any]) -> str:
    """Return an event as one line for people."""
    parts = [event.get("readable", "no frame")]
    if event["tokens"] is not None:
        parts.append(f"{event['tokens']} tokens")
    parts += [*event["left_out"], *event["notes"]]
    if event["code"] or event["reason"]:
        parts.append(f"refused: {event['code'] or 'silently'} {event['reason']}".rstrip())
    return f"{event['direction']} in {event['session_id']}: {'; '.join(parts)}"
