"""What a client of the HTTP proxy may use of its memory and its time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from accp_adapters.mcp.proxy.relay import MAX_MESSAGE_BYTES
from accp_adapters.serving.responses import WRITE_SECONDS

__all__ = ["ProxyLimits"]

_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyLimits:
    """The limits of one proxy."""

    body_bytes: int = 4 * _MIB
    """Bytes of the body of a request, as the SDKs' servers limit it; a longer one is refused (413)."""
    message_bytes: int = MAX_MESSAGE_BYTES
    """Bytes of a response or event that is rewritten; a longer one passes unchanged."""
    buffered_bytes: int = 256 * _MIB
    """Bytes of all bodies and messages that are held at once: further requests are refused (503), responses pass."""
    stored_chars: int = 256 * _MIB
    """Characters of the texts that previews cite; beyond, the session that was silent for longest loses its texts."""
    request_seconds: float = 30.0
    """Seconds for the header of a request, and as many for its body (408)."""
    write_seconds: float = WRITE_SECONDS
    """Seconds for which a client may leave a piece of a response unread; then its connection is cut."""
