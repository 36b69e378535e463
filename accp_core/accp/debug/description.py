"""A frame as one line of text for people (ACCP section 9, item 1)."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final

from accp_core.accp.debug.frame_seen import Direction, FrameSeen
from accp_core.accp.debug.readable import escape_hidden, readable_members
from accp_core.accp.debug.redaction import DEFAULT_REDACTION, Redaction
from accp_core.accp.frame import Envelope, Frame, Ref
from accp_core.accp.keys import PLAIN_KEYS, SCHEMA_KEY, KeyTable
from accp_core.accp.profiles import BUILT_IN
from accp_core.accp.schema import SchemaRegistry
from accp_core.accp.vocabulary import ENVELOPE_FIELDS, FRAME_OPERATION, Intent
from accp_core.errors import ProtocolError

__all__ = ["MEANINGS", "describe", "payload_differences"]

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


def describe(
    frame: Frame,
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


def _is_frame_chunk(frame: Frame) -> bool:
    return frame.intent is Intent.STREAM and frame.operation == FRAME_OPERATION


# The data of a chunk is part of a text without keys, so that no rule would find the secrets in it.
def _without_data(params: Mapping[str, object]) -> dict[str, object]:
    return {key: "(part of a frame)" if key == "data" else value for key, value in params.items()}


def _describe_envelope(envelope: Envelope, redaction: Redaction) -> str:
    known = {name: getattr(envelope, name) for name in ENVELOPE_FIELDS}
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
        elif isinstance(reference := params[key], Ref) and value != reference:
            kind = "externalised" if is_sent else "resolved"
            yield f"{key}: {kind}, the frame has the reference ${reference.key}"


def full_params(frame: Frame, registry: SchemaRegistry) -> dict[str, object]:
    """Return the parameters of a frame under full keys; of an unknown schema only the keys of Table 8 are expanded."""
    keys = _key_table(frame, registry)
    return {keys.to_full(key): value for key, value in frame.params.items()}


def _key_table(frame: Frame, registry: SchemaRegistry) -> KeyTable:
    try:
        return registry.get(str(frame.params[SCHEMA_KEY])).keys
    except (KeyError, ProtocolError):
        return PLAIN_KEYS
