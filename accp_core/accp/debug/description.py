"""What a frame says, in words for people (ACCP section 9, item 1)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from json import dumps
from types import MappingProxyType
from typing import Any, Final

from accp_core.accp import grammar
from accp_core.accp.debug.frame_seen import Direction, FrameSeen
from accp_core.accp.debug.redaction import DEFAULT_REDACTION, HIDDEN_VALUE, Redaction
from accp_core.accp.frame import REMOVED, Envelope, Frame, Ref
from accp_core.accp.keys import PLAIN_KEYS, SCHEMA_KEY, KeyTable
from accp_core.accp.profiles import BUILT_IN
from accp_core.accp.schema import SchemaRegistry
from accp_core.accp.vocabulary import ENVELOPE_FIELDS, FRAME_OPERATION, Intent
from accp_core.errors import ProtocolError

__all__ = ["MEANINGS", "LeftOut", "describe", "left_out"]

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
