"""Two agents over one connection: cards, messages, replies, reconnection (ACP transport 0.3, section 3.3).

    opened ──► our card; waiting ──► texts         closed ──► `next_link`: three attempts, then the relay
    receive(text) ──► one event                    send(message, now) ──► it waits for who takes the texts that wait

The card says which message was received last, and of which log. A peer that reads that sends the ones after it again,
so that none is lost with a connection; to a peer that says nothing of it, only what waited is sent. Between two peers
that both say it, acknowledgements (`acp.ack`) free the log; a peer that never sent such a card is never sent one.

A message_id is received once; sending one again returns the first server_seq and no second text. There are no sockets,
no clock and no randomness: the owner of the connection provides all three.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from accp_core.acp.card import AgentCard
from accp_core.acp.document import MAX_ACP_BYTES, Json, write_object
from accp_core.acp.envelope import (
    AcpMessage,
    AcpReply,
    CardMessage,
    ErrorMessage,
    UnknownMessage,
    parse_envelope,
    serialize_envelope,
    timestamp,
)
from accp_core.acp.error_codes import AcpError
from accp_core.acp.events import (
    Acknowledged,
    AcpEvent,
    AcpMessageReceived,
    CardReceived,
    DuplicateDropped,
    ErrorReceived,
    Refused,
    ReplyReceived,
    UnknownReceived,
)
from accp_core.acp.outgoing import Outgoing
from accp_core.acp.parts import Part
from accp_core.bounded import BoundedDict
from accp_core.errors import DecodeError, LocalProtocolError

__all__ = ["CLOSE_INVALID_TOKEN", "Connection", "SendResult"]

CLOSE_INVALID_TOKEN: Final = 4401
"""The WebSocket close code for a guest with a wrong token."""

MEAN_CHARACTERS: Final = 4_096
"""Characters of a text that is kept, on average at most; one may have the whole limit."""
TOKEN_HEADER: Final = "x-acp-token"
CURSOR: Final = "last_server_seq"
"""Our field of the message with a card: the number of the last message that its sender has received."""
RESUME: Final = "resume"
"""Our other field there: `log`, the sender's log; `peer_log`, the log that the number is of; `window`, its length."""
ACK: Final = "acp.ack"
"""The type of an acknowledgement: CURSOR and `log`, both of the log that it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendResult:
    """The result of `Connection.send`."""

    message_id: str
    """The id of the message."""
    server_seq: int
    """Its number among the messages of this connection."""


class Connection:
    """The exchange with one peer, over one transport connection after the other."""

    def __init__(
        self,
        card: AgentCard,
        *,
        new_id: Callable[[], str],
        max_ids: int = 10_000,
        max_waiting: int = 1_000,
        limit: int = MAX_ACP_BYTES,
    ) -> None:
        """Exchange messages for the agent of `card`.

        Args:
            card: The card of our agent.
            new_id: Returns 12 hex digits that cannot be guessed, such as `lambda: secrets.token_hex(6)`.
            max_ids: Message ids that are remembered in each direction.
            max_waiting: Texts that wait while there is no connection, and that are kept to be sent again.
            limit: Bytes of a message in UTF-8.
        """
        self._card = card
        self._new_id = new_id
        self._limit = limit
        self._max_waiting = max_waiting
        self._received: BoundedDict[str, int] = BoundedDict(max_ids)
        self._sent: BoundedDict[str, int] = BoundedDict(max_ids)
        self._awaited: BoundedDict[str, int] = BoundedDict(max_ids)
        self._log = Outgoing(window=max_waiting, characters=max_waiting * MEAN_CHARACTERS + limit)
        self._count_received = self._ack_every = self._acknowledged = 0
        self._is_resuming = False
        self._connections = 0
        self.peer: AgentCard | None = None
        """The card of the peer, None before it sent one."""
        self.log_id = new_id()
        """The name of the log of this connection's messages."""
        self.peer_log: str | None = None
        """The name of the peer's log, None where it has not said it."""
        self.last_received = 0
        """The highest server_seq that was received."""
        self.connected = False
        """Whether there is a connection."""

    def opened(self, now: float) -> str:
        """Report a new connection; return the text to write first: our card.

        On another connection than the first one, texts wait for the peer's card, which says what it has received.
        """
        self._connections += 1
        self.connected, self._is_resuming = True, self._connections > 1
        card = CardMessage(
            card=self._card.to_json(),
            message_id=f"card_{self._new_id()}",
            ts=timestamp(now),
            extra={
                CURSOR: self.last_received,
                RESUME: {"log": self.log_id, "peer_log": self.peer_log, "window": self._max_waiting},
            },
        )
        return serialize_envelope(card, limit=self._limit)

    def closed(self) -> None:
        """Report the loss of the connection; texts wait from now on."""
        self.connected = False

    def waiting(self, limit: int | None = None) -> list[tuple[int, str]]:
        """Return the messages to write now with their numbers, oldest first; none without connection.

        The owner reports those that it has written to `mark_written`.
        """
        return [] if not self.connected or self._is_resuming else self._log.waiting(limit)

    def mark_written(self, number: int) -> None:
        """Report that the messages up to `number` were written, or read by a peer that asked for them."""
        self._log.mark_written(number)

    def acknowledgement(self) -> str | None:
        """Return the acknowledgement to write now; None: none is due, or the peer would not know what it is."""
        due = self._ack_every and self.last_received - self._acknowledged >= self._ack_every
        if not due or not self.connected:
            return None
        self._acknowledged = self.last_received
        return write_object({"type": ACK, CURSOR: self.last_received, "log": self.peer_log})

    def has_room(self, size: int = 0) -> bool:
        """Return whether a message of `size` characters can be sent without losing one that the peer may not have."""
        return self._log.has_room(size)

    @property
    def characters(self) -> int:
        """The characters of the texts that are kept for the peer."""
        return self._log.characters

    @property
    def sent(self) -> int:
        """The server_seq of the last message that was sent, written or not."""
        return self._log.last

    @property
    def written(self) -> int:
        """The server_seq of the last message that was written, see `mark_written`."""
        return self._log.written

    @property
    def acknowledged(self) -> int:
        """The server_seq of the last message that the peer is known to have."""
        return self._log.acknowledged

    def acknowledge(self, number: int) -> None:
        """Report that the peer has our messages up to `number`, and that it will go on saying so."""
        self._log.acknowledge(number)

    @property
    def in_flight(self) -> int:
        """How many messages were written and not acknowledged; 0 for a peer that does not acknowledge."""
        return self._log.in_flight

    def sent_after(self, cursor: int, limit: int | None = None) -> list[tuple[int, str]]:
        """Return the texts after server_seq `cursor` with their numbers, for a reader such as `GET /stream?since=`."""
        return self._log.after(cursor, limit)

    def send(self, message: AcpMessage, now: float, *, awaits_reply: bool = False) -> SendResult:
        """Keep the text of a message, completed by id, time, sender and server_seq, to be written; see `waiting`.

        Args:
            message: The message; one whose id was sent before is not sent again.
            now: Seconds of the Unix epoch.
            awaits_reply: Whether the peer is to reply; the reply arrives as `ReplyReceived`.

        Raises:
            EncodeError: As `serialize_envelope`.
            LocalProtocolError: ERR_NOT_CONNECTED, too many texts wait, see `has_room`.
        """
        message_id = message.message_id or f"msg_{self._new_id()}"
        if (first := self._sent.get(message_id)) is not None:
            return SendResult(message_id=message_id, server_seq=first)
        number = self._log.last + 1
        filled = replace(
            message,
            message_id=message_id,
            server_seq=number,
            ts=timestamp(now) if message.ts is None else message.ts,
            sender=message.sender or self._card.name,
            correlation_id=message_id if awaits_reply else message.correlation_id,
        )
        self._keep(serialize_envelope(filled, limit=self._limit))
        self._sent.put(message_id, number)
        if awaits_reply:
            self._awaited.put(message_id, number)
        return SendResult(message_id=message_id, server_seq=number)

    def reply(self, message: AcpMessage, parts: tuple[Part, ...]) -> None:
        """Keep the reply to a message that awaits one, to be written.

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
        self._keep(serialize_envelope(answer, limit=self._limit))

    def fail(self, message: AcpMessage, code: str, reason: str) -> None:
        """Keep the error for a message that cannot be handled, to be written; raises as `send`."""
        extra: dict[str, Json] = {"error": reason, "server_seq": self._log.last + 1}
        if message.message_id is not None:
            extra["correlation_id"] = message.message_id
        self._keep(serialize_envelope(ErrorMessage(code=code, extra=extra), limit=self._limit))

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
        match envelope:
            case AcpMessage():
                return self.receive_message(envelope)
            case ErrorMessage():
                return self._error(envelope)
            case AcpReply():
                self._count(envelope.extra.get("server_seq"))
                if self._awaited.pop(envelope.correlation_id, None) is not None:
                    return ReplyReceived(reply=envelope)
                return UnknownReceived(message=envelope)
        return self._acknowledge(envelope)

    def forget(self, message_id: str) -> None:
        """Await no reply to a message any more; a later one is reported as unknown."""
        self._awaited.pop(message_id, None)

    def _take_card(self, envelope: CardMessage) -> CardReceived:
        """Take the peer's card, and send again from the message after the last one that it has received."""
        self.peer = AgentCard.from_json(envelope.card)
        cursor, resume = envelope.extra.get(CURSOR), envelope.extra.get(RESUME)
        knows_us = self._take_resume(resume) if isinstance(resume, dict) else True
        lost = 0
        if self._is_resuming and not knows_us:
            lost = self._log.restart(self._awaited.values())
        elif type(cursor) is int and 0 <= cursor <= self._log.last and (self._is_resuming or self._ack_every):
            lost = self._log.resume_after(cursor) if self._is_resuming else 0
            if self._ack_every and knows_us:
                self._log.acknowledge(cursor)
        self._is_resuming = False
        return CardReceived(card=self.peer, lost=lost)

    def _take_resume(self, resume: Mapping[str, object]) -> bool:
        """Take what the peer says of the two logs; return whether it knows ours."""
        log, window = resume.get("log"), resume.get("window")
        if isinstance(log, str) and type(window) is int and window > 0:
            if log != self.peer_log:
                self.peer_log, self.last_received, self._acknowledged = log, 0, 0
            self._ack_every = max(1, window // 4)
            self._log.is_acknowledging = True
        return resume.get("peer_log") == self.log_id

    def _acknowledge(self, envelope: UnknownMessage) -> AcpEvent:
        number = envelope.raw.get(CURSOR)
        if envelope.type != ACK or envelope.raw.get("log") != self.log_id or type(number) is not int:
            return UnknownReceived(message=envelope)
        self._log.acknowledge(number)
        return Acknowledged(server_seq=number)

    def _error(self, envelope: ErrorMessage) -> ErrorReceived:
        about, reason = envelope.extra.get("correlation_id"), envelope.extra.get("error")
        message_id = about if isinstance(about, str) else None
        if message_id is not None:
            self._count(envelope.extra.get("server_seq"))
            self._awaited.pop(message_id, None)
        return ErrorReceived(
            code=envelope.code, reason=reason if isinstance(reason, str) else "", correlation_id=message_id
        )

    def _count(self, server_seq: object) -> None:
        """Remember the highest number that was received."""
        if type(server_seq) is int:
            self.last_received = max(self.last_received, server_seq)

    def receive_message(self, message: AcpMessage) -> AcpMessageReceived | DuplicateDropped:
        """Return the event of a message of the peer that was read already, such as by `read_request`."""
        self._count(message.server_seq)
        self._count_received += 1
        if message.message_id is not None:
            if first := self._received.get(message.message_id):
                self._count_received -= 1
                return DuplicateDropped(message_id=message.message_id, number=first)
            self._received.put(message.message_id, self._count_received)
        awaits = message.correlation_id is not None and message.correlation_id == message.message_id
        return AcpMessageReceived(message=message, awaits_reply=awaits, number=self._count_received)

    def _keep(self, text: str) -> None:
        """Number a text that is to be written."""
        if not self._log.has_room(len(text)):
            raise LocalProtocolError(
                f"expected at most {self._max_waiting} messages that wait, found more", code=AcpError.NOT_CONNECTED
            )
        self._log.append(text)
