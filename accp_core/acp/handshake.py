"""Two agents over one connection: cards, messages, replies, reconnection (ACP transport 0.3, section 3.3).

    opened ──► our card, then the queued texts     closed ──► `next_attempt`: 2 s, 4 s, then the relay
    receive(text) ──► one event                    send(message, now) ──► a text, or it waits for the next connection

The card says which message was received last. A peer that reads that sends the ones after it again, so that none is
lost with a connection; to a peer that says nothing of it, only what waited is sent.

A message_id is received once; sending one again returns the first server_seq and no second text. There are no sockets,
no clock and no randomness: the owner of the connection provides all three.
"""

from __future__ import annotations

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
    ReplyMissed,
    ReplyReceived,
    UnknownReceived,
)
from accp_core.acp.link import same_token
from accp_core.acp.parts import Part
from accp_core.acp.sent_log import SentLog
from accp_core.bounded import BoundedDict
from accp_core.errors import DecodeError, LocalProtocolError

__all__ = ["CLOSE_INVALID_TOKEN", "INVALID_TOKEN", "Connection", "SendResult", "is_admitted"]

INVALID_TOKEN: Final = write_object({"type": "error", "code": "invalid_token"})
"""The text for a guest with a wrong token, before the connection is closed."""
CLOSE_INVALID_TOKEN: Final = 4401
"""The WebSocket close code after it."""

MEAN_CHARACTERS: Final = 4_096
"""Characters of a text that is kept, on average at most; one may have the whole limit."""
TOKEN_HEADER: Final = "x-acp-token"
CURSOR: Final = "last_server_seq"
"""Our field of the message with a card: the number of the last message that its sender has received."""


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
        reply_timeout: float = 30.0,
    ) -> None:
        """Exchange messages for the agent of `card`.

        Args:
            card: The card of our agent.
            new_id: Returns 12 hex digits that cannot be guessed, such as `lambda: secrets.token_hex(6)`.
            max_ids: Message ids that are remembered in each direction.
            max_waiting: Texts that wait while there is no connection, and that are kept to be sent again.
            limit: Bytes of a message in UTF-8.
            reply_timeout: Seconds that a message waits for its reply.
        """
        self._card = card
        self._new_id = new_id
        self._limit = limit
        self._max_waiting = max_waiting
        self._received: BoundedDict[str, bool] = BoundedDict(max_ids)
        self._sent: BoundedDict[str, int] = BoundedDict(max_ids)
        self._awaited: BoundedDict[str, float] = BoundedDict(max_ids)
        self._reply_timeout = reply_timeout
        self._log = SentLog(entries=max_waiting, characters=max_waiting * MEAN_CHARACTERS + limit)
        self._handed_out = 0
        self._last_received = 0
        self._is_resuming = False
        self._connections = 0
        self.peer: AgentCard | None = None
        """The card of the peer, None before it sent one."""
        self.connected = False
        """Whether there is a connection."""

    def opened(self, now: float) -> list[str]:
        """Report a new connection; return the texts to write first: our card, then the texts that wait, in order.

        On another connection than the first one, texts wait for the peer's card, which says what it has received.
        """
        self._connections += 1
        self.connected, self._is_resuming = True, self._connections > 1
        card = CardMessage(
            card=self._card.to_json(),
            message_id=f"card_{self._new_id()}",
            ts=timestamp(now),
            extra={CURSOR: self._last_received},
        )
        return [serialize_envelope(card, limit=self._limit), *self.texts_to_send()]

    def closed(self) -> None:
        """Report the loss of the connection; texts wait from now on."""
        self.connected = False

    def texts_to_send(self) -> list[str]:
        """Return the texts to write now, such as those to send again after `CardReceived`; none without connection."""
        if not self.connected or self._is_resuming:
            return []
        waiting = self._log.after(self._handed_out)
        self._handed_out = self._log.last
        return [text for _, text in waiting]

    def sent_after(self, cursor: int, limit: int | None = None) -> list[tuple[int, str]]:
        """Return the texts after server_seq `cursor` with their numbers, for a reader such as `GET /stream?since=`."""
        return self._log.after(cursor, limit)

    def send(self, message: AcpMessage, now: float, *, awaits_reply: bool = False) -> SendResult:
        """Return the text to write for a message, completed by id, time, sender and server_seq.

        Args:
            message: The message; one whose id was sent before is not sent again.
            now: Seconds of the Unix epoch.
            awaits_reply: Whether the peer is to reply; the reply arrives as `ReplyReceived`.

        Raises:
            EncodeError: As `serialize_envelope`.
            LocalProtocolError: ERR_NOT_CONNECTED, too many texts wait.
        """
        message_id = message.message_id or f"msg_{self._new_id()}"
        if (first := self._sent.get(message_id)) is not None:
            return SendResult(message_id=message_id, server_seq=first, text=None)
        number = self._log.last + 1
        filled = replace(
            message,
            message_id=message_id,
            server_seq=number,
            ts=timestamp(now) if message.ts is None else message.ts,
            sender=message.sender or self._card.name,
            correlation_id=message_id if awaits_reply else message.correlation_id,
        )
        text = self._send_or_queue(serialize_envelope(filled, limit=self._limit))
        self._sent.put(message_id, number)
        if awaits_reply:
            self._awaited.put(message_id, now + self._reply_timeout)
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
        answer = AcpReply(
            correlation_id=message.correlation_id,
            parts=parts,
            message_id=f"msg_{self._new_id()}",
            extra={"server_seq": self._log.last + 1},
        )
        return self._send_or_queue(serialize_envelope(answer, limit=self._limit))

    def receive(self, text: str) -> AcpEvent:
        """Return the event of a text of the peer; raises for no text."""
        try:
            envelope = parse_envelope(text, limit=self._limit)
            if isinstance(envelope, CardMessage):
                return self._take_card(envelope)
        except DecodeError as error:
            return Refused(code=error.code, reason=error.reason)
        except ValueError as error:
            return Refused(code=AcpError.INVALID_REQUEST, reason=str(error))
        self._is_resuming = False  # this peer sends no card
        if isinstance(envelope, AcpMessage):
            return self._message(envelope)
        if isinstance(envelope, ErrorMessage):
            return ErrorReceived(code=envelope.code)
        if isinstance(envelope, AcpReply):
            self._count(envelope.extra.get("server_seq"))
            if self._awaited.pop(envelope.correlation_id, None) is not None:
                return ReplyReceived(reply=envelope)
        return UnknownReceived(message=envelope)

    def get_timer(self) -> float | None:
        """Return when to call `handle_timer`, in seconds of the Unix epoch; None: no reply is awaited."""
        return min(self._awaited.values(), default=None)

    def handle_timer(self, now: float) -> list[AcpEvent]:
        """Return the messages whose reply is overdue; a later reply to them is not awaited any more."""
        overdue = [message_id for message_id, deadline in self._awaited.items() if deadline <= now]
        for message_id in overdue:
            del self._awaited[message_id]
        return [ReplyMissed(message_id=message_id) for message_id in overdue]

    def _take_card(self, envelope: CardMessage) -> CardReceived:
        """Take the peer's card, and send again from the message after the last one that it has received."""
        self.peer = AgentCard.from_json(envelope.card)
        cursor, lost = envelope.extra.get(CURSOR), 0
        if self._is_resuming and type(cursor) is int and 0 <= cursor <= self._log.last:
            lost = max(0, self._log.oldest - 1 - cursor)
            self._handed_out = cursor
        self._is_resuming = False
        return CardReceived(card=self.peer, lost=lost)

    def _count(self, server_seq: object) -> None:
        """Remember the highest number that was received."""
        if type(server_seq) is int:
            self._last_received = max(self._last_received, server_seq)

    def _message(self, message: AcpMessage) -> AcpEvent:
        self._count(message.server_seq)
        if message.message_id is not None:
            if self._received.get(message.message_id):
                return DuplicateDropped(message_id=message.message_id)
            self._received.put(message.message_id, True)
        awaits = message.correlation_id is not None and message.correlation_id == message.message_id
        return AcpMessageReceived(message=message, awaits_reply=awaits)

    def _send_or_queue(self, text: str) -> str | None:
        """Number a text; return it where it may be written now, None where it waits."""
        writable = self.connected and not self._is_resuming
        if not writable and self._log.last - self._handed_out >= self._max_waiting:
            raise LocalProtocolError(
                f"expected at most {self._max_waiting} messages that wait, found more", code=AcpError.NOT_CONNECTED
            )
        number = self._log.append(text)
        if writable:
            self._handed_out = number
        return text if writable else None
