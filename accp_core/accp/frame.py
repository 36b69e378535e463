"""A frame and its message as values: words, keys, and what they hold (ACCP sections 3.1, 3.3, 3.5 and 4).

A `Frame` is as it is on the wire, with keys and values that are not expanded; a `Message` is what an agent says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final, TypeAlias, cast

from accp_core.accp import grammar
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError, ProtocolError
from accp_core.packing.values import REMOVED, Removed
from accp_core.strict_json import compact_json, read_json

__all__ = [
    "ABBREVIATIONS", "ACKNOWLEDGED", "ENVELOPE_FIELDS", "FIELD_NAMES", "FRAME_OPERATION", "ID_FIELDS",
    "INTEGER_FIELDS", "INTENTS", "MAX_INLINE_CHARS", "MEDIA_TYPE", "PLAIN_KEYS", "REMOVED", "RESUME_OPERATION",
    "SCHEMA_KEY", "Envelope", "Frame", "Intent", "KeyTable", "LiteralKey", "Message", "Ref", "Removed", "Value",
    "is_delta", "is_long", "json_to_value", "same", "sorted_keys", "value_to_json", "write_key", "write_param_key",
]  # fmt: skip


# The word lists of a frame: intents, fields, abbreviations, operations (ACCP sections 3.5, 4 and 11.2).

MEDIA_TYPE: Final = "application/accp"
"""The media type of a frame (section 11.1)."""


class Intent(StrEnum):
    """The purpose of a frame (Table 7); the value is its code in the header, such as "req"."""

    REQUEST = "req"
    COMPLETE = "done"
    FAILURE = "fail"
    WAITING = "wait"
    ESCALATE = "esc"
    COMPRESS = "comp"
    SYNCHRONIZE = "sync"
    QUERY = "qry"
    ACKNOWLEDGE = "ack"
    CANCEL = "cancel"
    STREAM = "stream"
    END_STREAM = "end"
    # The heartbeat of section 11.2, which Table 7 omits.
    PING = "ping"
    PONG = "pong"


INTENTS: Final[Mapping[str, Intent]] = MappingProxyType({intent.value: intent for intent in Intent})
"""Code to intent."""

ENVELOPE_FIELDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "msg_id": "mid",
        "sequence": "seq",
        "timestamp": "ts",
        "correlation_id": "cid",
        "causation_id": "aid",
        "session_id": "sid",
        "ttl": "ttl",
    }
)
"""Field name to abbreviation (Table 4), in the order in which they are written."""

FIELD_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {spelling: name for name, short in ENVELOPE_FIELDS.items() for spelling in (name, short)}
)
"""Both spellings to the field name: peers may write the long one, we write the abbreviation."""

INTEGER_FIELDS: Final = frozenset({"sequence", "timestamp", "ttl"})
"""The fields of type integer (Table 4); every other field is a string, even when it is all digits."""

ID_FIELDS: Final = frozenset({"msg_id", "correlation_id", "causation_id", "session_id"})
"""The fields whose values an answer repeats."""

ABBREVIATIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "d": "data",
        "f": "findings",
        "nx": "next_action",
        "src": "source",
        "dst": "destination",
        "q": "query",
        "fmt": "format",
        "pri": "priority",
        "err": "error",
        "v": "version",
        "ts": "timestamp",
        "ttl": "time_to_live",
        "ctx": "context",
        "who": "who",
        "when": "when",
        "why": "why",
    }
)
"""Abbreviation to full key (Table 8); the first meaning where the table has two."""

ACKNOWLEDGED: Final = "ack"
"""Our field of the metadata: the number of the last frame that the sender has processed; Table 4 has none for it."""

RESUME_OPERATION: Final = "resume"
"""The operation of the `ping` that is the first frame of another connection of a session."""

FRAME_OPERATION: Final = "frame"
"""The operation of the chunks of a frame that was over its limits."""


def is_delta(intent: str, operation: str, key: str) -> bool:
    """Return whether a parameter is a delta, in which `~` removes a key (section 5.4)."""
    return key == "delta" and operation == "state" and intent == Intent.SYNCHRONIZE


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference to a value in the state: `$warm.ckpt_1.status` (section 5.1)."""

    key: str
    """The ref-key without its `$`, such as "warm.ckpt_1.status"."""


Value: TypeAlias = "bool | int | float | Decimal | str | Ref | Removed | Sequence[Value] | Mapping[str, Value] | None"
"""The value of a parameter; arrays are read as lists and maps as dicts."""


class LiteralKey(str):
    """The key of a parameter that must not be expanded, although it may look like an abbreviation (section 4.2).

    `LiteralKey("d")` is the sender's own key `d`, written `_x64_`, while "d" is the abbreviation of `data`: the two are
    different keys and compare unequal. Only keys in the ABNF's alphabet need it: any other key is escaped anyway, is
    never an abbreviation and is read as a str.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LiteralKey) and str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((LiteralKey, str.__hash__(self)))

    def __repr__(self) -> str:
        return f"LiteralKey({str.__repr__(self)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """The metadata block (Table 4); a field that is not in the frame is None.

    Parsing requires no field; the session checks that "frames missing mid or seq MUST be rejected".
    """

    msg_id: str | None = None
    """`mid`: unique in the session; 12 hexadecimal digits by Table 4, but the draft's own examples have fewer."""
    sequence: int | None = None
    """`seq`: one more than that of the frame before."""
    timestamp: int | None = None
    """`ts`: the time of sending, in seconds of the Unix epoch."""
    correlation_id: str | None = None
    """`cid`: links a response to its request."""
    causation_id: str | None = None
    """`aid`: the message that caused this one."""
    session_id: str | None = None
    """`sid`: the session, for transports that do not name it."""
    ttl: int | None = None
    """`ttl`: seconds from `timestamp` until the frame expires; 0: never."""
    extra: Mapping[str, str] = field(default_factory=dict)
    """Fields that are not in Table 4, unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One frame (ACCP section 3.1), which `parse_frame` reads and `serialize_frame` writes.

    `Frame(sender="crm", intent=Intent.REQUEST, operation="add", params={"n": 7})` has no envelope: no session sent it.
    """

    sender: str
    """The agent-id in the header, which is that of the sending agent."""
    intent: Intent
    """The purpose of the frame."""
    operation: str
    """The verb; section 4.3 recommends some, and any other name is allowed."""
    params: Mapping[str, Value] = field(default_factory=dict)
    """The payload in its own order, with keys unescaped but not expanded."""
    envelope: Envelope = field(default_factory=Envelope)
    """The metadata; without a field no block is written."""


# Which JSON values a frame writes alike, and values as stored JSON (ACCP sections 3.1.1 and 3.3).

MAX_INLINE_CHARS: Final = 50
"""Characters of a value that stays in its frame where both ends share a store (section 3.3, item 4)."""


def same(one: object, other: object) -> bool:
    """Return whether a frame writes both alike: 1, 1.0 and true differ, the order of a map's keys does not matter."""
    if isinstance(one, (list, tuple)):
        return isinstance(other, (list, tuple)) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Mapping):
        return (
            isinstance(other, Mapping)
            and one.keys() == other.keys()
            and all(same(member, other[key]) for key, member in one.items())
        )
    if isinstance(one, (float, Decimal)):
        return isinstance(other, (float, Decimal)) and _same_decimal(one, other)
    return isinstance(one, bool) is isinstance(other, bool) and not isinstance(other, (float, Decimal)) and one == other


def _same_decimal(one: float | Decimal, other: float | Decimal) -> bool:
    """Return whether two decimals are written alike; 0.0 and -0.0 are not, and NaN cannot be written."""
    left, right = (number if isinstance(number, Decimal) else Decimal(repr(number)) for number in (one, other))
    return left.is_finite() and right.is_finite() and left == right and left.is_signed() == right.is_signed()


def is_long(value: Value) -> bool:
    """Return whether a value is too long for its frame where a store is shared; numbers never are."""
    if isinstance(value, str):
        return len(value) > MAX_INLINE_CHARS
    return isinstance(value, (list, tuple, Mapping)) and len(str(value)) > MAX_INLINE_CHARS


def value_to_json(value: Value) -> str | None:
    """Return the JSON of a value, None where reading it would give another value, such as a reference in it."""
    try:
        text = compact_json(value)
        return text if same(read_json(text), value) else None
    except (ValueError, RecursionError):
        return None


def json_to_value(text: str) -> Value:
    """Return the value whose JSON was stored as `text`.

    Raises:
        ProtocolError: E2001, it is not JSON, so that it was not stored by a codec.
    """
    try:
        return cast(Value, read_json(text))
    except (ValueError, RecursionError):
        raise ProtocolError("expected the stored text to be JSON", code=ErrorCode.REF_NOT_FOUND) from None


# The keys of a message, the shorter keys of its frame, and how a frame writes them (ACCP sections 3.1 and 4.2).

SCHEMA_KEY: Final = "schema"
"""The parameter that names the schema; a sender's own key `schema` is escaped, and no schema has such a field."""


# "Use shortest unambiguous key names" (section 3.3, item 2)
class KeyTable:
    """Converts between the full keys of a message and the keys of its frame, at the top level only (section 4.2).

    A key of a message that looks like an abbreviation is sent as a LiteralKey, which is not expanded.
    """

    __slots__ = ("_full", "_wire")

    def __init__(self, aliases: Mapping[str, str]) -> None:
        """Use `aliases`, abbreviation to full key, before those of Table 8."""
        self._full = {**ABBREVIATIONS, **aliases}
        self._wire: dict[str, str] = {short: LiteralKey(short) for short in (*self._full, SCHEMA_KEY)}
        for short, full in (*ABBREVIATIONS.items(), *aliases.items()):
            if self._full[short] == full:
                self._wire[full] = short

    def to_wire(self, key: str) -> str:
        """Return the key in a frame for a key of a message."""
        return self._wire.get(key, key)

    def to_full(self, key: str) -> str:
        """Return the key of a message for a key in a frame, which may be a full key already."""
        full = self._full.get(key)
        return str.__str__(key) if full is None else full


PLAIN_KEYS: Final = KeyTable({})
"""The keys of a frame without a schema."""


def write_param_key(key: str) -> str:
    """Return the key of a parameter; in a literal key the first character is escaped, so that it is not expanded."""
    if type(key) is str and grammar.PLAIN_KEY.fullmatch(key):
        return key
    word = write_key(str.__str__(key) if isinstance(key, LiteralKey) else key)
    # A key that had to be escaped is not an abbreviation.
    if isinstance(key, LiteralKey) and len(word) == len(key):
        return f"_x{ord(word[0]):x}_{word[1:]}"
    return word


def sorted_keys(value: Mapping[Any, Any]) -> list[str]:
    """Return the keys by code point, which is the order of their UTF-8 bytes."""
    return sorted(map(check_key, value))


def check_key(key: object) -> str:
    """Return the key, which must be a string."""
    if type(key) is str:
        return key
    if not isinstance(key, str) or isinstance(key, LiteralKey):
        reason = "expected a string as the key, and a literal key for a parameter only"
        raise EncodeError(f"{reason}, found {type(key).__name__}", code=ErrorCode.INVALID_TYPE)
    return str.__str__(key)


def write_key(key: object) -> str:
    """Return a key in the alphabet of the ABNF."""
    if type(key) is str and grammar.PLAIN_KEY.fullmatch(key):
        return key
    return grammar.escape_key(check_key(key))


# A message: the decoded frame, with full keys and JSON values (ACCP sections 2.2 and 7.3, item 5).


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message between agents, which the codec encodes as a frame, or as several if it is long (section 7.1).

    `Message(sender="", intent=Intent.REQUEST, operation="add", payload={"n": 7})`; a session fills in the sender.
    """

    sender: str
    """The agent-id of the sending agent."""
    intent: Intent
    """The purpose of the message."""
    operation: str
    """The verb; any name is allowed."""
    payload: Mapping[str, Value] = field(default_factory=dict)
    """Full key to JSON value; a `Ref` is a value in the state, REMOVED marks a key that a delta removes.

    In a decoded message the keys of maps are in ascending order (section 3.1.1), and a decimal is a float, or a Decimal
    where a float does not hold its digits (`CodecSettings.decimal_type`)."""
    schema: str | None = None
    """The code of the schema whose aliases and defaults apply, such as "TA"."""
    defaulted: frozenset[str] = frozenset()
    """Keys of a decoded payload that the schema's defaults filled in; encoding ignores them."""
    envelope: Envelope = field(default_factory=Envelope)
    """The metadata; a session sets msg_id, sequence and timestamp."""
