"""What one peer may use of this process: sizes, counts, rates and times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from accp_core.acp.document import MAX_ACP_BYTES

__all__ = ["DEFAULT_ACP_LIMITS", "AcpLimits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AcpLimits:
    """The limits of a server or a client of ACP. Times are in seconds."""

    message_bytes: int = MAX_ACP_BYTES
    """Bytes of a message in UTF-8; more is refused by ERR_MSG_TOO_LARGE."""
    window: int = 256
    """Messages for a peer that it has not received, whether it is connected or not; then sending waits."""
    inbox: int = 256
    """Messages of a peer that the agent has not handled; then nothing more is read from that peer."""
    kept_bytes: int = 128 << 20
    """Bytes that all sessions may hold, a quarter of them those of one principal: messages that the agent has not
    handled, texts that the peer has not received, results. Then nothing more is read, and the oldest results go."""
    connections: int = 1_000
    """Connections and event streams at the same time, three quarters of them of one principal; more are refused by
    ERR_NOT_CONNECTED."""
    strangers: int = 100
    """Connections that have not said yet who they are, a quarter as many of one address; for another one, the oldest of
    the address with most of them is refused alike."""
    card_bytes: int = 64 << 10
    """Bytes of the first line of such a connection."""
    sessions: int = 10_000
    """Sessions that are kept, connected or not; the one unused for longest is forgotten for another."""
    refusals: int = 20
    """Texts that are no messages, until a connection is closed."""
    rate: float = 5_000.0
    """Messages of a peer for each second, after a burst of twice as many; then it is read more slowly, or refused."""
    handshake_seconds: float = 10.0
    """Until TLS is agreed on, and as many until the first text of a connection that must bring a token."""
    card_seconds: float = 2.0
    """Until the first text of a connection that may bring a card; after that it goes on without."""
    body_seconds: float = 10.0
    """Until the body of a request has arrived; longer is refused by ERR_TIMEOUT."""
    write_seconds: float = 60.0
    """Until a text is taken by the connection; after that the peer counts as gone."""
    keepalive_seconds: float = 20.0
    """Between signs of life on a connection where nothing else is written."""
    reply_seconds: float = 30.0
    """Until the reply to a message; longer is ERR_TIMEOUT."""
    tasks: int = 1_000
    """Tasks that are kept for a peer."""


DEFAULT_ACP_LIMITS: Final = AcpLimits()
