"""What the users of a relay may use of it: nobody says who they are, so each address has a share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from accp_adapters.serving.responses import WRITE_SECONDS
from accp_core.acp.document import MAX_MESSAGE_BYTES

__all__ = ["DEFAULT_LIMITS", "RelayLimits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayLimits:
    """What the users of a relay may use of it; of IPv6, an address is a network of 64 bits."""

    rooms: int = 500
    """Rooms at the same time; for another one, the oldest of the address that has most gives way."""
    rooms_each: int = 50
    """Rooms that one address has made; for another one, its oldest one gives way that nobody has joined."""
    messages: int = 1_000
    """Messages that a room keeps."""
    room_bytes: int = 8 << 20
    """Bytes of the messages that a room keeps."""
    message_bytes: int = 2 * MAX_MESSAGE_BYTES
    """Bytes of one message with what a relay adds."""
    total_bytes: int = 256 << 20
    """Bytes of all rooms, and as many of all bodies and unread answers."""
    address_bytes: int = 32 << 20
    """Bytes of the rooms that one address has made, and as many of its bodies and unread answers."""
    answer_bytes: int = 1 << 20
    """Bytes of the answer to a poll, which has one message at least."""
    ttl_seconds: float = 60.0
    """Seconds after which a message is deleted, and a room that was not used."""
    join_seconds: float = 60.0
    """Seconds after which a room is deleted in which nobody has joined or said anything."""
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


DEFAULT_LIMITS: Final = RelayLimits()
