"""The word lists of a frame: intents, fields, abbreviations, operations (ACCP sections 3.5, 4 and 11.2)."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

__all__ = [
    "ABBREVIATIONS",
    "ACKNOWLEDGED",
    "ENVELOPE_FIELDS",
    "FIELD_NAMES",
    "FRAME_OPERATION",
    "ID_FIELDS",
    "INTEGER_FIELDS",
    "INTENTS",
    "MEDIA_TYPE",
    "RESUME_OPERATION",
    "Intent",
    "is_delta",
]

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
    {spelling: field for field, short in ENVELOPE_FIELDS.items() for spelling in (field, short)}
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
