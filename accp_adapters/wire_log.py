"""Frames of ACCP and envelopes of ACP as they cross a wire, shown to an observer (ACCP section 9, item 1).

    WIRE.set(lambda direction, place, text: print(direction, place, text))

The servers, `connect` and the MCP adapter call `log_frame` with each frame that they write or read. The observer sees
secrets; `accp --debug` hides them before it writes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextvars import ContextVar
from typing import Final, TypeAlias

from accp_core.accp.debug import Direction

__all__ = ["WEBSOCKET_LOG", "WIRE", "WireObserver", "log_frame"]

WireObserver: TypeAlias = Callable[[Direction, str, str], None]
"""Called with the direction of a frame, the place of the wire, and the text of the frame; it must not raise."""

WIRE: Final[ContextVar[WireObserver | None]] = ContextVar("accp.wire", default=None)
"""The observer of this context and of the tasks that it starts; None: nobody looks."""

# At its debug level the library writes the request: its path, which may be a token, and its header fields.
WEBSOCKET_LOG: Final = logging.getLogger(f"{__name__}.websockets")
"""The log of `websockets` as a client."""
WEBSOCKET_LOG.setLevel(logging.INFO)


def log_frame(direction: Direction, place: str, text: str) -> None:
    """Show a frame to the observer, where there is one.

    Args:
        direction: Whether the frame was read or written.
        place: The wire, such as "http" or the URL of a server.
        text: The text of the frame, which may be none, or of an envelope of ACP, a JSON object.
    """
    observer = WIRE.get()
    if observer is not None:
        observer(direction, place, text)
