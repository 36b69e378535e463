"""A message that a gateway has to understand: it cannot pass one on unread."""

from __future__ import annotations

from accp_adapters.mcp.proxy.relay import JsonRpcMessage
from accp_core.strict_json import read_json

__all__ = ["read_any"]


def read_any(data: bytes) -> JsonRpcMessage | None:
    """Return the message in `data`, None if there is none.

    A number with more digits than a float holds becomes the nearest float, which is what any client makes of it.
    """
    try:
        message = read_json(data.decode())
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None
