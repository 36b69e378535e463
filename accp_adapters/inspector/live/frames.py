"""A frame for people: its text without secrets, its words, its tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from accp_adapters.inspector.live.frame_record import FrameRecord
from accp_adapters.inspector.live.prompts import count_tokens
from accp_adapters.inspector.page.plain_text import shorten
from accp_adapters.replay.contents.largest_texts import beginning_of
from accp_core.accp import Frame, parse_frame, serialize_frame
from accp_core.accp.debug import DEFAULT_REDACTION, describe
from accp_core.accp.debug.description import full_params
from accp_core.accp.debug.redaction import HIDDEN_VALUE
from accp_core.accp.profiles import BUILT_IN
from accp_core.errors import ProtocolError

__all__ = ["ShownFrame", "show_frame", "shown_time"]

_MAX_CHARS: Final = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFrame:
    """A frame as a page shows it."""

    text: str
    """Its text, at most 20,000 characters; empty: the log has it in words only."""
    words: str
    """The same in words; empty: it is no frame."""
    tokens: int | None
    """Tokens of its text."""
    facts: tuple[tuple[str, str], ...]
    """Name and value of what else is known."""
    redacted: bool
    """Whether values are hidden in `text`."""


def show_frame(record: FrameRecord) -> ShownFrame:
    """Return what a page shows of a frame."""
    text, words, redacted = record.text, record.words, False
    if text and record.intent is not None:
        frame = parse_frame(text)
        words = describe(frame, redaction=DEFAULT_REDACTION)
        hidden = _without_secrets(frame)
        redacted = hidden is not frame
        text = _serialized(hidden) if redacted else text
    shown = beginning_of(text, frozenset(), _MAX_CHARS)
    return ShownFrame(
        text=shown,
        words=words[:_MAX_CHARS],
        tokens=record.tokens if record.tokens is not None or not record.text else count_tokens(record.text),
        facts=tuple(_facts(record)),
        redacted=redacted or shown != text[:_MAX_CHARS],
    )


def shown_time(at: float | None) -> str:
    """Return a time of the Unix epoch in ISO 8601, empty for none and for one that no calendar has."""
    try:
        return "" if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}"
    except (OverflowError, ValueError, OSError):
        return ""


def _facts(record: FrameRecord) -> list[tuple[str, str]]:
    facts = [
        ("session", record.session),
        ("id", record.msg_id),
        ("answers", record.correlation),
        ("time", shown_time(record.at)),
        ("refused", record.refusal),
        *(("note", note) for note in record.notes),
    ]
    return [(name, shorten(value, 300)) for name, value in facts if value]


def _serialized(frame: Frame) -> str:
    try:
        return serialize_frame(frame)
    except ProtocolError:
        return "(not shown: it cannot be written without its secrets)"


def _without_secrets(frame: Frame) -> Frame:
    """Return the frame with hidden values, itself where there are none."""
    full = dict(zip(frame.params, full_params(frame, BUILT_IN), strict=True)) if frame.params else {}
    params = {key: _hidden(full.get(key, key), value) for key, value in frame.params.items()}
    return frame if params == dict(frame.params) else replace(frame, params=params)


def _hidden(key: str, value: Any) -> Any:
    if DEFAULT_REDACTION.hides(key):
        return HIDDEN_VALUE
    if isinstance(value, Mapping):
        return {name: _hidden(name, item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_hidden("", item) for item in value)
    return value
