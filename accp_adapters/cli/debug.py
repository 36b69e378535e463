"""`accp --debug`: each frame that a command reads or writes, described on standard error (ACCP section 9)."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

import typer

from accp_adapters.cli.sources import PrintableRecords

if TYPE_CHECKING:
    from accp_core.accp import Frame
    from accp_core.accp.debug import DebugLog, Direction
    from accp_core.errors import ProtocolError

__all__ = ["JsonLines", "observe", "switch_on"]

_LOG: Final[ContextVar[DebugLog | None]] = ContextVar("accp.debug", default=None)
"""The log of this invocation; None where it is off."""


class JsonLines(logging.Formatter):
    """Formats the structured event of a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of one record."""
        return json.dumps(record.accp if hasattr(record, "accp") else {"message": record.getMessage()})


def switch_on(ctx: typer.Context, redact: Sequence[str], *, as_json: bool) -> None:
    """Log each frame of this invocation to standard error.

    Args:
        ctx: The invocation, whose end switches the log off.
        redact: Keys whose values are hidden, beside those that always are.
        as_json: Write JSON lines, not sentences.
    """
    from accp_adapters.wire_log import WIRE
    from accp_core.accp.debug import DEFAULT_REDACTION, LOGGER, DebugLog

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if as_json else PrintableRecords("debug: %(message)s"))
    level = LOGGER.level
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.DEBUG)
    _LOG.set(DebugLog(redaction=DEFAULT_REDACTION.adding(*redact)))
    WIRE.set(_observe_text)
    ctx.call_on_close(lambda: _LOG.set(None))
    ctx.call_on_close(lambda: WIRE.set(None))
    ctx.call_on_close(lambda: LOGGER.setLevel(level))
    ctx.call_on_close(lambda: LOGGER.removeHandler(handler))


def observe(
    direction: Direction, place: str, text: str, frame: Frame | None, refusal: ProtocolError | None = None
) -> None:
    """Log one frame where the log is on.

    Args:
        direction: Whether the frame was read or written.
        place: The place of the frame, such as "frames.txt:3".
        text: The text of the frame.
        frame: The frame; None: the text was refused.
        refusal: Why it was refused.
    """
    log = _LOG.get()
    if log is None:
        return
    from accp_adapters.tokens import o200k_base
    from accp_core.accp.debug import FrameSeen

    log(
        FrameSeen(
            direction=direction,
            session_id=place,
            frame=frame,
            tokens=o200k_base()(text),
            code=refusal.code if refusal else None,
            reason=refusal.reason if refusal else "",
        )
    )


def _observe_text(direction: Direction, place: str, text: str) -> None:
    """Log the text of a frame, or of an envelope of ACP, that crosses a wire."""
    if text.startswith("{"):
        _observe_envelope(direction, place, text)
        return
    from accp_core.accp import parse_frame
    from accp_core.errors import DecodeError

    try:
        frame = parse_frame(text)
    except DecodeError as error:
        observe(direction, place, text, None, error)
    else:
        observe(direction, frame.envelope.session_id or place, text, frame)


def _observe_envelope(direction: Direction, place: str, text: str) -> None:
    from accp_core.accp.debug import FrameSeen
    from accp_core.strict_json import read_json

    log = _LOG.get()
    if log is None:
        return
    try:
        payload = read_json(text)
    except ValueError as error:
        log(FrameSeen(direction=direction, session_id=place, frame=None, reason=type(error).__name__))
    else:
        kind = "Envelope of ACP"
        log(FrameSeen(direction=direction, session_id=place, frame=None, payload=payload, kind=kind))
