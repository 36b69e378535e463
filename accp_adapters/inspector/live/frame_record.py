"""A frame as a log has it: as text, or in the words of debug mode; and who it goes to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from accp_core.accp import Frame, Intent, parse_frame
from accp_core.errors import DecodeError

__all__ = ["UNKNOWN", "FrameRecord", "recipients", "record_of_event", "record_of_text"]

UNKNOWN: Final = "unknown"
"""The sender of a text that is no frame."""
_MAX_NOTES: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameRecord:
    """One entry of a log of frames."""

    text: str = ""
    """The frame as on the wire; empty: the log has it in words only, or the entry is no frame."""
    words: str = ""
    """The frame in words, without secrets, where the log has it; empty: it is described from its text."""
    sender: str = ""
    """Its agent, without "@"."""
    intent: Intent | None = None
    """Its intent; None: it is no frame."""
    operation: str = ""
    """Its operation; for an entry that is no frame, what happened."""
    msg_id: str = ""
    """Its id; empty: it has none."""
    correlation: str = ""
    """What links a response to its request; empty: it has none."""
    session: str = ""
    """Its session; empty: not recorded."""
    at: float | None = None
    """When, in seconds of the Unix epoch."""
    tokens: int | None = None
    """Tokens of its text, where the log has them."""
    notes: tuple[str, ...] = ()
    """Remarks of the log."""
    refusal: str = ""
    """Why it was refused, with its code; empty: it was accepted."""


def record_of_text(text: str, *, session: str = "", at: float | None = None, notes: Sequence[str] = ()) -> FrameRecord:
    """Return the record of a text that should be a frame."""
    try:
        frame = parse_frame(text)
    except DecodeError as error:
        refusal = f"{error.code}: {error.reason}"
        return FrameRecord(
            text=text, sender=UNKNOWN, operation="no frame", session=session, at=at, refusal=refusal, notes=(*notes,)
        )
    return _record(frame, text, session, at, notes)


def _record(frame: Frame, text: str, session: str, at: float | None, notes: Sequence[str]) -> FrameRecord:
    envelope = frame.envelope
    return FrameRecord(
        text=text,
        sender=frame.sender.removeprefix("@"),
        intent=frame.intent,
        operation=frame.operation,
        msg_id=envelope.msg_id or "",
        correlation=envelope.correlation_id or "",
        session=session or envelope.session_id or "",
        at=envelope.timestamp if envelope.timestamp is not None else at,
        notes=(*notes,),
    )


def record_of_event(event: Mapping[str, Any]) -> FrameRecord:
    """Return the record of a line of `accp --debug-json` (`accp_core.accp.debug.to_event`)."""
    code, reason = _text(event, "code"), _text(event, "reason")
    sender = _text(event, "sender").removeprefix("@")
    intent = _text(event, "intent")
    tokens = event.get("tokens")
    listed = [*_list(event, "differences"), *_list(event, "notes")]
    return FrameRecord(
        words=_text(event, "readable") or "a text that is no frame",
        sender=sender or UNKNOWN,
        intent=Intent(intent) if intent in set(Intent) else None,
        operation=_text(event, "operation") or "no frame",
        msg_id=_text(event, "msg_id"),
        session=_text(event, "session_id"),
        tokens=tokens if isinstance(tokens, int) else None,
        notes=(_text(event, "direction"), *map(str, listed[:_MAX_NOTES])),
        refusal=f"{code}: {reason}" if code else reason,
    )


def recipients(records: Sequence[FrameRecord]) -> list[str]:
    """Return to whom each frame of a session goes, empty where that cannot be told.

    A response goes to the sender of its request, a request to the agent that answers it; in a session of two agents
    each frame goes to the other one.
    """
    asked = {record.msg_id: record.sender for record in reversed(records) if record.msg_id}
    answered = {
        record.correlation: record.sender for record in reversed(records) if record.correlation and not _asks(record)
    }
    senders = list(dict.fromkeys(record.sender for record in records if record.intent))
    return [_recipient(record, asked, answered, senders) for record in records]


def _recipient(
    record: FrameRecord, asked: Mapping[str, str], answered: Mapping[str, str], senders: Sequence[str]
) -> str:
    if record.intent is None:
        return ""
    found = answered.get(record.msg_id) if _asks(record) else asked.get(record.correlation)
    if found and found != record.sender:
        return found
    others = [sender for sender in senders if sender != record.sender]
    return others[0] if len(others) == 1 else ""


def _asks(record: FrameRecord) -> bool:
    return record.intent in (Intent.REQUEST, Intent.QUERY)


def _text(event: Mapping[str, Any], name: str) -> str:
    value = event.get(name)
    return value if isinstance(value, str) else ""


def _list(event: Mapping[str, Any], name: str) -> Iterable[object]:
    value = event.get(name)
    return value if isinstance(value, list) else ()
