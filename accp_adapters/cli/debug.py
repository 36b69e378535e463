"""`accp --debug`: each frame that crosses a wire, described on standard error (ACCP section 9)."""

from __future__ import annotations

import logging
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import typer

from accp_adapters.cli.sources import PrintableRecords

if TYPE_CHECKING:
    from accp_core.accp.debug import Direction, FrameSeen

__all__ = ["switch_on"]


def switch_on(ctx: typer.Context) -> None:
    """Log each frame of this invocation to standard error; the end of `ctx` switches the log off."""
    from accp_adapters.wire_log import WIRE
    from accp_core.accp.debug import LOGGER, DebugLog

    handler, level, log = logging.StreamHandler(sys.stderr), LOGGER.level, DebugLog()
    handler.setFormatter(PrintableRecords("debug: %(message)s"))
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.DEBUG)
    WIRE.set(lambda direction, place, text: log(_seen(direction, place, text)))
    ctx.call_on_close(lambda: WIRE.set(None))
    ctx.call_on_close(lambda: LOGGER.setLevel(level))
    ctx.call_on_close(lambda: LOGGER.removeHandler(handler))


def _seen(direction: Direction, place: str, text: str) -> FrameSeen:
    """Return what is logged of a frame of ACCP, or of an envelope of ACP."""
    from accp_adapters.tokens import o200k_base
    from accp_core.accp import parse_frame
    from accp_core.accp.debug import FrameSeen
    from accp_core.errors import DecodeError
    from accp_core.strict_json import read_json

    seen = FrameSeen(direction=direction, session_id=place, frame=None)
    if text.startswith("{"):
        try:
            return replace(seen, payload=read_json(text), kind="Envelope of ACP")
        except ValueError as error:
            return replace(seen, reason=type(error).__name__)
    seen = replace(seen, tokens=o200k_base()(text))
    try:
        frame = parse_frame(text)
    except DecodeError as error:
        return replace(seen, code=error.code, reason=error.reason)
    return replace(seen, frame=frame, session_id=frame.envelope.session_id or place)
