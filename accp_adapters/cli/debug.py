"""`accp --debug`: each frame that a command moves, in words on standard error (draft-benzing-accp-00, section 9)."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

import typer

if TYPE_CHECKING:
    from accp_core.accp import Frame
    from accp_core.accp.debug import Direction, FrameLog
    from accp_core.errors import ProtocolError

__all__ = ["JsonLines", "observe", "switch_on"]

_LOG: Final[ContextVar[FrameLog | None]] = ContextVar("accp.debug", default=None)
"""The log of this invocation; None when it is off."""


class JsonLines(logging.Formatter):
    """Writes the structured event of a record, one JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of one record."""
        return json.dumps(record.accp if hasattr(record, "accp") else {"message": record.getMessage()})


def switch_on(ctx: typer.Context, redact: Sequence[str], *, as_json: bool) -> None:
    """Log each frame of this invocation to standard error; values under a key in `redact` are not shown."""
    from accp_core.accp.debug import DEFAULT_REDACTION, LOGGER, FrameLog

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if as_json else logging.Formatter("debug: %(message)s"))
    level = LOGGER.level
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.DEBUG)
    _LOG.set(FrameLog(redaction=DEFAULT_REDACTION.adding(*redact)))
    ctx.call_on_close(lambda: _LOG.set(None))
    ctx.call_on_close(lambda: LOGGER.setLevel(level))
    ctx.call_on_close(lambda: LOGGER.removeHandler(handler))


def observe(
    direction: Direction, place: str, text: str, frame: Frame | None, refusal: ProtocolError | None = None
) -> None:
    """Tell the log, if it is on, of one frame; `place` says where it stands, such as "frames.txt:3"."""
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
