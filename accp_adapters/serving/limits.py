"""What the clients of a server may use of its memory and time, one by one and together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from accp_adapters.serving.responses import WRITE_SECONDS

__all__ = ["ServerLimits"]

_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """The limits of one server; times are in seconds."""

    frame_bytes: int = _MIB
    """Bytes of one frame; a longer one is refused (HTTP 413, WebSocket 1009)."""
    buffered_bytes: int = 64 * _MIB
    """Bytes of all frames that are being received at once; further ones are refused (503)."""
    places: int = 1_024
    """Requests and connections at once; further ones are refused (503)."""
    places_each: int = 128
    """Requests and connections of one principal at once; further ones are refused (429)."""
    rate: float = 1_000.0
    """Frames of one principal in a second: more are refused (429), or wait on a connection that stays open."""
    burst: int = 2_000
    """Frames that a principal may send at once after a pause."""
    body_time: float = 30.0
    """How long a frame may take to arrive (408), and how long a header may."""
    write_time: float = WRITE_SECONDS
    """How long a peer may take to receive a frame, or a piece of a response; then its connection is closed."""
    idle_time: float = 75.0
    """After how long without any frame a connection is closed: more than two heartbeats of 30 seconds."""
