"""Two agents over one connection: cards, messages, replies, reconnection (ACP transport 0.3, section 3.3).

    opened ──► our card, then the queued texts     closed ──► retry_delay: 2 s, 4 s, then the relay
    receive(text) ──► one event                    send(message, now) ──► a text, or it is queued for the next `opened`

A message_id is received once; sending one again returns the first server_seq and no second text. There are no sockets,
no clock and no randomness: the owner of the connection provides all three.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from accp_core.acp.card import AgentCard
from accp_core.acp.document import MAX_MESSAGE_BYTES, write_object
from accp_core.acp.envelope import (
    AcpMessage,
    AcpReply,
    CardMessage,
    ErrorMessage,
    parse_envelope,
    serialize_envelope,
    timestamp,
)
from accp_core.acp.error_codes import AcpError
from accp_core.acp.events import (
    AcpEvent,
    AcpMessageReceived,
    CardReceived,
    DuplicateDropped,
    ErrorReceived,
    Refused,
    ReplyReceived,
    UnknownReceived,
)
from accp_core.acp.link import same_token
from accp_core.acp.parts import Part
from accp_core.bounded import BoundedDict
from accp_core.errors import DecodeError, LocalProtocolError

__all__ = ["CLOSE_INVALID_TOKEN", "INVALID_TOKEN", "Connection", "SendResult", "is_admitted", "retry_delay"]

INVALID_TOKEN: Final = write_object({"type": "error", "code": "invalid_token"})
"""The text for a guest with a wrong token, before the connection is closed."""
CLOSE_INVALID_TOKEN: Final = 4401
"""The WebSocket close code after it."""

TOKEN_HEADER: Final = "x-acp-token"
RETRY_DELAYS: Final = (2.0, 4.0)
"""Seconds before the second and the third attempt."""


# "X-ACP-Token  Guest → Host  Alternative to token-in-URL; some reverse proxies strip path segments" (section 3.6)
def is_admitted(token: str, path: str, headers: Mapping[str, str]) -> bool:
    """Return whether the request of a guest has the token.

    Args:
        token: The token of the session.
        path: The path of the request, which may end with the token.
        headers: The headers of the request, with names in lower case.
    """
    by_path = same_token(token, path.partition("?")[0].rpartition("/")[2])
    by_header = same_token(token, headers.get(TOKEN_HEADER, ""))
    return by_path or by_header


# "The reference relay auto-falls back to Binding C after 3 failed P2P attempts." (section 5.1)
def retry_delay(failures: int) -> float | None:
    """Return the seconds to wait after this number of failures, None to use a relay instead."""
    return RETRY_DELAYS[failures - 1] if 0 < failures <= len(RETRY_DELAYS) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SendResult:
    """The result of `Connection.send`."""

    message_id: str
    """The id of the message."""
    server_seq: int
    """Its number among the messages of this connection."""
    text: str | None
    """The text to write now; None: it is queued for the next connection, or was sent before."""


class Connection:
    """The exchange with one peer, over one transport connection after the other."""

    def __init__(
        self,
        card: AgentCard,
        *,
        new_id: Callable[[], str],
        max_ids: int = 10_000,
        max_waiting: int = 1_000,
        limit: int = MAX_MESSAGE_BYTES,
    ) -> None:
        """Exchange messages for the agent of `card`.

        Args:
            card: The card of our agent.
            new_id: Returns 12 hex digits that cannot be guessed, such as `lambda: secrets.token_hex(6)`.
            max_ids: Message ids that are remembered in each direction.
            max_waiting: Texts that are queued while there is no connection.
            limit: Bytes of a message in UTF-8.
        """
        self._card = card
        self._new_id = new_id
        self._limit = limit
        self._max_waiting = max_waiting
        self._received: BoundedDict[str, bool] = BoundedDict(max_ids)
        self._sent: BoundedDict[str, int] = BoundedDict(max_ids)
        self._awaited: BoundedDict[str, bool] = BoundedDict(max_ids)
        self._waiting: deque[str] = deque()
        self._server_seq = 0
        self.peer: AgentCard | None = None
        """The card of the peer, None before it sent one."""
        self.connected = False
        """Whether there is a connection."""

    def opened(self, now: float) -> list[str]:
        """Report a new connection; return the texts to write first: our card, then the queued texts in order."""
        self.connected = True
        card = CardMessage(card=self._card.to_json(), message_id=f"card_{self._new_id()}", ts=timestamp(now))
        texts = [serialize_envelope(card, limit=self._limit), *self._waiting]
        self._waiting.clear()
        return texts

    def closed(self) -> None:
        """Report the loss of the connection; texts are queued from now on."""
        self.connected = False

    def send(self, message: AcpMessage, now: float, *, awaits_reply: bool = False) -> SendResult:
        """Return the text to write for a message, completed by id, time, sender and server_seq.

        Args:
            message: The message; one whose id was sent before is not sent again.
            now: Seconds of the Unix epoch.
            awaits_reply: Whether the peer is to reply; the reply arrives as `ReplyReceived`.

        Raises:
            EncodeError: As `serialize_envelope`.
            LocalProtocolError: ERR_NOT_CONNECTED, too many texts are queued.
        """
        message_id = message.message_id or f"msg_{self._new_id()}"
        if (first := self._sent.get(message_id)) is not None:
            return SendResult(message_id=message_id, server_seq=first, text=None)
        number = self._server_seq + 1
        filled = replace(
            message,
            message_id=message_id,
            server_seq=number,
            ts=timestamp(now) if message.ts is None else message.ts,
            sender=message.sender or self._card.name,
            correlation_id=message_id if awaits_reply else message.correlation_id,
        )
        text = self._send_or_queue(serialize_envelope(filled, limit=self._limit))
        self._server_seq = number
        self._sent.put(message_id, number)
        if awaits_reply:
            self._awaited.put(message_id, True)
        return SendResult(message_id=message_id, server_seq=number, text=text)

    def reply(self, message: AcpMessage, parts: tuple[Part, ...]) -> str | None:
        """Return the text of the reply to a message that awaits one, None where it is queued.

        Raises:
            LocalProtocolError: ERR_INVALID_REQUEST, the message awaits no reply; as `send`.
        """
        if message.correlation_id is None:
            raise LocalProtocolError(
                "expected a message that awaits a reply, found one without a correlation_id",
                code=AcpError.INVALID_REQUEST,
            )
        answer = AcpReply(correlation_id=message.correlation_id, parts=parts, message_id=f"msg_{self._new_id()}")
        return self._send_or_queue(serialize_envelope(answer, limit=self._limit))

    def receive(self, text: str) -> AcpEvent:
        """Return the event of a text of the peer; raises for no text."""
        try:
            envelope = parse_envelope(text, limit=self._limit)
            if isinstance(envelope, CardMessage):
                self.peer = AgentCard.from_json(envelope.card)
                return CardReceived(card=self.peer)
        except DecodeError as error:
            return Refused(code=error.code, reason=error.reason)
        except ValueError as error:
            return Refused(code=AcpError.INVALID_REQUEST, reason=str(error))
        if isinstance(envelope, AcpMessage):
            return self._message(envelope)
        if isinstance(envelope, ErrorMessage):
            return ErrorReceived(code=envelope.code)
        if isinstance(envelope, AcpReply) and self._awaited.pop(envelope.correlation_id, False):
            return ReplyReceived(reply=envelope)
        return UnknownReceived(message=envelope)

    def _message(self, message: AcpMessage) -> AcpEvent:
        if message.message_id is not None:
            if self._received.get(message.message_id):
                return DuplicateDropped(message_id=message.message_id)
            self._received.put(message.message_id, True)
        awaits = message.correlation_id is not None and message.correlation_id == message.message_id
        return AcpMessageReceived(message=message, awaits_reply=awaits)

    def _send_or_queue(self, text: str) -> str | None:
        if self.connected:
            return text
        if len(self._waiting) >= self._max_waiting:
            raise LocalProtocolError(
                f"expected at most {self._max_waiting} queued messages, found more", code=AcpError.NOT_CONNECTED
            )
        self._waiting.append(text)
        return None
