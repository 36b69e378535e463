"""The log of debug mode: one record for each frame (ACCP section 9, item 1)."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from accp_core.accp.debug.description import _MEMBERS, _cut, _members, _word, describe, left_out
from accp_core.accp.debug.frame_seen import FrameSeen
from accp_core.accp.debug.redaction import DEFAULT_REDACTION, Redaction
from accp_core.accp.keys import SCHEMA_KEY

__all__ = ["LOGGER", "FrameLog", "to_event"]

LOGGER: Final = logging.getLogger("accp")
"""The logger of debug mode; it is silent until its level is DEBUG."""


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
