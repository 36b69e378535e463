"""The limits of a relay. Its users are not authenticated, so each limit of one user is a limit of its address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from accp_adapters.serving.responses import WRITE_SECONDS
from accp_core.acp.document import MAX_ACP_BYTES

__all__ = ["DEFAULT_RELAY_LIMITS", "RelayLimits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayLimits:
    """The limits of one relay; an IPv6 address counts as its network of 64 bits."""

    rooms: int = 500
    """Rooms at the same time; beyond, the address with the most rooms loses its oldest one."""
    rooms_each: int = 50
    """Rooms made by one address; beyond, it loses its oldest room without a guest, or is refused if all have one."""
    messages: int = 1_000
    """Messages that a room keeps."""
    room_bytes: int = 8 << 20
    """Bytes of the messages that a room keeps."""
    message_bytes: int = 2 * MAX_ACP_BYTES
    """Bytes of one message with what a relay adds."""
    total_bytes: int = 128 << 20
    """Bytes of all rooms, and as many of all bodies and unread answers."""
    address_bytes: int = 32 << 20
    """Bytes of the rooms that one address has made, and as many of its bodies and unread answers."""
    answer_bytes: int = 1 << 20
    """Bytes of the answer to a poll, which has one message at least."""
    ttl_seconds: float = 60.0
    """Seconds after which a message is deleted, and a room that was not used."""
    join_seconds: float = 60.0
    """Seconds after which a room without a guest or a message is deleted."""
    wait_seconds: float = 25.0
    """How long a poll may wait for a message, at most."""
    body_seconds: float = 10.0
    """Until the body of a request has arrived."""
    write_seconds: float = WRITE_SECONDS
    """How long a piece of an answer may stay unread; then the connection is cut."""
    waiting: int = 1_000
    """Polls that wait at the same time; others are answered at once."""
    waiting_each: int = 200
    """Polls of one address that wait at the same time."""
    rate: float = 200.0
    """Requests that change a room, for each second, after a burst of twice as many."""
    new_rate: float = 1.0
    """Requests for a room from one address, for each second."""
    new_burst: int = 60
    """Requests for a room that an address may send at once after a pause."""
    failed_rate: float = 0.2
    """Requests with an unknown token from one address, for each second; beyond, all that it sends is refused (429)."""
    failed_burst: int = 20
    """Requests with an unknown token that an address may send at once after a pause."""


DEFAULT_RELAY_LIMITS: Final = RelayLimits()
