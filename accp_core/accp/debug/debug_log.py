"""The observer that logs: one record for each frame (ACCP section 9, item 1)."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from accp_core.accp.debug.description import describe, payload_differences
from accp_core.accp.debug.frame_seen import FrameSeen
from accp_core.accp.debug.readable import MAX_MEMBERS, escape_hidden, readable_members, shorten
from accp_core.accp.debug.redaction import DEFAULT_REDACTION, Redaction
from accp_core.accp.keys import SCHEMA_KEY

__all__ = ["LOGGER", "DebugLog", "to_event"]

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
            "schema": _text_or_none(frame.params.get(SCHEMA_KEY)),
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
