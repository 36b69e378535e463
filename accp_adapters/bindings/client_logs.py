"""Keeps tokens out of the logs of websockets and httpx: those in header fields and those in addresses."""

from __future__ import annotations

import logging
import re
from typing import Final

__all__ = ["WEBSOCKET_LOG", "hide_tokens"]

# At its debug level the library writes the request: its path, which is a token in ACP A, and its header fields.
WEBSOCKET_LOG: Final = logging.getLogger(f"{__name__}.websockets")
"""For `websockets.connect`."""
WEBSOCKET_LOG.setLevel(logging.INFO)

# The rooms of a relay (ACP transport 0.3, section 5): `/acp/TOKEN/…`, and `?token=TOKEN`.
_TOKEN: Final = re.compile(r"(/acp/|[?&]token=)[A-Za-z0-9_-]{6,64}(?=[/?&]|$)")


def _hide(record: logging.LogRecord) -> bool:
    if isinstance(record.args, tuple):
        record.args = tuple(each if isinstance(each, int) else _TOKEN.sub(r"\1***", str(each)) for each in record.args)
    return True


def hide_tokens() -> None:
    """Keep the tokens of relays out of the log of httpx, which writes the address of each request; once is enough."""
    logging.getLogger("httpx2").addFilter(_hide)
