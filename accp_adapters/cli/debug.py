"""`accp --debug`: each frame that crosses a wire, described on standard error (ACCP section 9)."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

import typer

from accp_adapters.cli.sources import PrintableRecords

if TYPE_CHECKING:
    from accp_core.accp.debug import Direction

__all__ = ["switch_on"]


def switch_on(ctx: typer.Context) -> None:
    """Log each frame of this invocation to standard error; the end of `ctx` switches the log off."""
    from accp_adapters.tokens import o200k_base
    from accp_adapters.wire_log import WIRE
    from accp_core.accp import parse_frame
    from accp_core.accp.debug import LOGGER, DebugLog, FrameSeen
    from accp_core.errors import DecodeError
    from accp_core.strict_json import read_json

    log, count = DebugLog(), o200k_base()

    def observe(direction: Direction, place: str, text: str) -> None:
        if text.startswith("{"):
            try:
                payload = read_json(text)
            except ValueError as error:
                log(FrameSeen(direction=direction, session_id=place, frame=None, reason=type(error).__name__))
            else:
                kind = "Envelope of ACP"
                log(FrameSeen(direction=direction, session_id=place, frame=None, payload=payload, kind=kind))
            return
        tokens = count(text)
        try:
            frame = parse_frame(text)
        except DecodeError as error:
            seen = FrameSeen(
                direction=direction,
                session_id=place,
                frame=None,
                tokens=tokens,
                code=error.code,
                reason=error.reason,
            )
            log(seen)
        else:
            session = frame.envelope.session_id or place
            log(FrameSeen(direction=direction, session_id=session, frame=frame, tokens=tokens))

    handler, level = logging.StreamHandler(sys.stderr), LOGGER.level
    handler.setFormatter(PrintableRecords("debug: %(message)s"))
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.DEBUG)
    WIRE.set(observe)
    ctx.call_on_close(lambda: WIRE.set(None))
    ctx.call_on_close(lambda: LOGGER.setLevel(level))
    ctx.call_on_close(lambda: LOGGER.removeHandler(handler))
