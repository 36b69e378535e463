"""Two agents over one connection: cards, messages, replies, reconnection (ACP transport 0.3, section 3.3).

    opened ──► our card; waiting ──► texts         closed ──► `next_link`: three attempts, then the relay
    receive(text) ──► one event                    send(message, now) ──► it waits for who takes the texts that wait

The card says which message was received last, and of which log. A peer that reads that sends the ones after it again,
so that none is lost with a connection; to a peer that says nothing of it, only what waited is sent. Between two peers
that both say it, acknowledgements (`acp.ack`) free the log; a peer that never sent such a card is never sent one. The
reply to a message shows that the peer has this message: to a peer that starts again, it is not sent again.

A message_id is received once; sending one again returns the first server_seq and no second text. There are no sockets,
no clock and no randomness: the owner of the connection provides all three.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from accp_core.acp import envelope as envelopes
from accp_core.acp.card import AgentCard
from accp_core.bounded import BoundedDict
from accp_core.errors import DecodeError, LocalProtocolError

__all__ = [
    "CLOSE_INVALID_TOKEN", "Acknowledged", "AcpEvent", "AcpMessageReceived", "CardReceived", "Connection",
    "DuplicateDropped", "ErrorReceived", "Refused", "ReplyReceived", "SendResult", "UnknownReceived",
]  # fmt: skip

Complete: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]
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


# --- what a connection reports ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class CardReceived:
    """The peer sent its card."""

    card: AgentCard
    """The card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcpMessageReceived:
    """The peer sent a new message."""

    message: envelopes.AcpMessage
    """The message."""
    number: int
    """How many messages the peer has sent up to this one, repeated ones not counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyReceived:
    """The peer replied to a message of ours that awaits a reply."""

    reply: envelopes.AcpMessage
    """The reply: a message with the correlation_id of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateDropped:
    """The peer sent a message again."""

    message_id: str
    """The id of the message."""
    number: int
    """The number that the message had when it was new, see `AcpMessageReceived`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledged:
    """The peer has our messages up to a number."""

    server_seq: int
    """That number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorReceived:
    """The peer reported an error; the message that it names awaits no reply any more."""

    code: str
    """A code such as "invalid_token"."""
    reason: str = ""
    """What the peer expected and found; empty where it does not say so."""
    correlation_id: str | None = None
    """The message_id of the message that it is about, None where it names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownReceived:
    """The peer sent a message of an unknown type, or a reply that is not awaited; the connection goes on."""

    message: envelopes.UnknownMessage | envelopes.AcpMessage
    """The message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The peer sent a text that is no envelope; the connection goes on."""

    code: str
    """The code to answer with, see `AcpError`."""
    reason: str
    """What was expected and found."""
    correlation_id: str | None = None
    """The message_id of the text, where it could be read."""


AcpEvent: TypeAlias = (
    "CardReceived | AcpMessageReceived | ReplyReceived | DuplicateDropped | Acknowledged"
    " | ErrorReceived | UnknownReceived | Refused"
)


# --- the texts for a peer ---------------------------------------------------------------------------------------------


class Outgoing:
    """The last texts, numbered without gaps; of these, the last one written, and the last one that the peer has.

    For a peer that acknowledges, no text is dropped before it has it. For any other peer, what
    was written counts as received.
    """

    def __init__(self, *, window: int, characters: int) -> None:
        """Start empty; keep at most `window` texts and `characters` characters."""
        self._window = window
        self._characters = characters
        self._texts: deque[str] = deque()
        self._ends: deque[int] = deque()
        self._dropped = self._total = 0
        self._skipped: tuple[int, frozenset[int]] = 0, frozenset()
        self._answered: set[int] = set()
        """Texts after `acknowledged` that the peer has answered."""
        self.last = 0
        """The number of the last text."""
        self.written = 0
        """The number of the last text that was written."""
        self.acknowledged = 0
        """The number of the last text that the peer is known to have."""
        self.is_acknowledging = False
        """Whether the peer says what it has received."""

    @property
    def in_flight(self) -> int:
        """How many texts were written and not acknowledged; 0 for a peer that does not acknowledge."""
        return max(0, self.written - self.acknowledged) if self.is_acknowledging else 0

    @property
    def characters(self) -> int:
        """The characters of the texts that are kept."""
        return self._total - self._dropped

    def has_room(self, size: int = 0) -> bool:
        """Return whether a text of `size` characters can be kept without dropping one that the peer may not have.

        One text has room where nothing else waits, however long it is.
        """
        base = self.acknowledged if self.is_acknowledging else self.written
        waiting = self.last - base
        return not waiting or (waiting < self._window and self._characters_after(base) + size <= self._characters)

    def append(self, text: str) -> int:
        """Keep a text; return its number."""
        self._total += len(text)
        self._texts.append(text)
        self._ends.append(self._total)
        self.last += 1
        while len(self._texts) > self._window or self.characters > self._characters:
            self._answered.discard(self._oldest)
            self._texts.popleft()
            self._dropped = self._ends.popleft()
        return self.last

    def waiting(self, limit: int | None = None) -> list[tuple[int, str]]:
        """Return the texts that are not written yet, with their numbers, oldest first."""
        below, kept = self._skipped
        texts = [each for each in self.after(self.written) if each[0] > below or each[0] in kept]
        return [each for each in texts if each[0] not in self._answered][:limit]

    def after(self, cursor: int, limit: int | None = None) -> list[tuple[int, str]]:
        """Return the texts after number `cursor` that are kept, whether they were written or not."""
        first = max(cursor + 1, self._oldest)
        return [(number, self._texts[number - self._oldest]) for number in range(first, self.last + 1)[:limit]]

    def mark_written(self, number: int) -> None:
        """Report that the texts up to `number` were written."""
        self.written = max(self.written, min(number, self.last))

    def acknowledge(self, number: int) -> None:
        """Report that the peer has the texts up to `number`, and that it says so."""
        self.is_acknowledging = True
        self._has(range(self.acknowledged + 1, min(number, self.last) + 1))

    def answer(self, number: int) -> None:
        """Report that the peer has answered the text of this number, and so has it."""
        self._has((number,))

    def restart(self, unanswered: Collection[int]) -> None:
        """Send again, to a peer that has forgotten everything, what was not acknowledged and what awaits a reply."""
        self._skipped = self.acknowledged, frozenset(unanswered)
        self.written = min([self.acknowledged, *(number - 1 for number in unanswered)])

    def _has(self, numbers: Iterable[int]) -> None:
        self._answered.update(number for number in numbers if number > self.acknowledged)
        while self.acknowledged + 1 in self._answered:
            self.acknowledged += 1
            self._answered.discard(self.acknowledged)

    @property
    def _oldest(self) -> int:
        """The number of the first text that is kept; of the next text where none is."""
        return self.last - len(self._texts) + 1

    def _characters_after(self, cursor: int) -> int:
        """Return the characters of the texts after number `cursor` that are kept."""
        kept = cursor - self._oldest
        return self._total - (self._ends[kept] if kept >= 0 else self._dropped)


# --- the exchange -----------------------------------------------------------------------------------------------------


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
        limit: int = envelopes.MAX_ACP_BYTES,
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
        self.log = Outgoing(window=max_waiting, characters=max_waiting * MEAN_CHARACTERS + limit)
        """The texts for the peer."""
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
        return self.greeting(now)

    def greeting(self, now: float) -> str:
        """Return the text with our card, and with what we have received; what is handled is acknowledged after it."""
        self._acknowledged = 0
        card = envelopes.CardMessage(
            card=self._card.to_json(),
            message_id=f"card_{self._new_id()}",
            ts=envelopes.timestamp(now),
            extra={
                CURSOR: self.last_received,
                RESUME: {"log": self.log_id, "peer_log": self.peer_log, "window": self._max_waiting},
            },
        )
        return envelopes.serialize_envelope(card, limit=self._limit)

    def closed(self) -> None:
        """Report the loss of the connection; texts wait from now on."""
        self.connected = False

    def waiting(self, limit: int | None = None) -> list[tuple[int, str]]:
        """Return the messages to write now with their numbers, oldest first; none without connection.

        The owner reports those that it has written to `mark_written`.
        """
        return [] if not self.connected or self._is_resuming else self.log.waiting(limit)

    def mark_written(self, number: int) -> None:
        """Report that the messages up to `number` were written, or read by a peer that asked for them."""
        self.log.mark_written(number)

    def acknowledgement(self, handled: int | None = None, *, at_once: bool = False) -> str | None:
        """Return the acknowledgement to write now; None: none is due, or the peer would not know what it is.

        Args:
            handled: The number of the last message to acknowledge; None: that of the last one received.
            at_once: Whether a single message is due, in place of a quarter of the peer's window.
        """
        due = self.last_received if handled is None else handled
        least = 1 if at_once else self._ack_every
        if not self._ack_every or due - self._acknowledged < least:
            return None
        self._acknowledged = due
        return envelopes.write_object({"type": ACK, CURSOR: due, "log": self.peer_log})

    def send(self, message: envelopes.AcpMessage, now: float, *, awaits_reply: bool = False) -> SendResult:
        """Keep the text of a message, completed by id, time, sender and server_seq, to be written; see `waiting`.

        Args:
            message: The message; one whose id was sent before is not sent again.
            now: Seconds of the Unix epoch.
            awaits_reply: Whether the peer is to reply; the reply arrives as `ReplyReceived`.

        Raises:
            EncodeError: As `serialize_envelope`.
            LocalProtocolError: ERR_NOT_CONNECTED, too many texts wait, see `Outgoing.has_room`.
        """
        message_id = message.message_id or f"msg_{self._new_id()}"
        if (first := self._sent.get(message_id)) is not None:
            return SendResult(message_id=message_id, server_seq=first)
        # Writing a long text takes long: one without room is not written again and again.
        self._check_room(sum(len(part.content) for part in message.parts if isinstance(part, envelopes.TextPart)))
        number = self.log.last + 1
        filled = replace(
            message,
            message_id=message_id,
            server_seq=number,
            ts=envelopes.timestamp(now) if message.ts is None else message.ts,
            sender=message.sender or self._card.name,
            correlation_id=message_id if awaits_reply else message.correlation_id,
        )
        self._keep(envelopes.serialize_envelope(filled, limit=self._limit))
        self._sent.put(message_id, number)
        if awaits_reply:
            self._awaited.put(message_id, number)
        return SendResult(message_id=message_id, server_seq=number)

    def reply(self, message: envelopes.AcpMessage, parts: tuple[envelopes.Part, ...], now: float) -> SendResult:
        """Keep the reply to a message, which says its ids, to be written; raises as `send`."""
        answer = envelopes.AcpMessage(
            parts=parts,
            role="agent",
            task_id=message.task_id,
            context_id=message.context_id,
            correlation_id=message.message_id,
            is_reply=message.correlation_id is not None and message.correlation_id == message.message_id,
        )
        return self.send(answer, now)

    def fail(self, message: envelopes.AcpMessage, code: str, reason: str) -> None:
        """Keep the error for a message that cannot be handled, to be written; raises as `send`."""
        ids = {"task_id": message.task_id, "context_id": message.context_id, "correlation_id": message.message_id}
        extra: dict[str, envelopes.Json] = {name: value for name, value in ids.items() if value is not None}
        extra |= {"error": reason, "server_seq": self.log.last + 1}
        self._keep(envelopes.serialize_envelope(envelopes.ErrorMessage(code=code, extra=extra), limit=self._limit))

    def receive(self, text: str) -> AcpEvent:
        """Return the event of a text of the peer; raises for no text."""
        return self.take(self.read(text))

    def read(self, text: str, complete: Complete = dict) -> envelopes.AcpEnvelope | Refused:
        """Return the envelope of a text for `take`; it changes nothing, so any thread may read.

        Args:
            text: The text.
            complete: Returns the object of the text with what a binding does not write.
        """
        try:
            data = complete(envelopes.read_object(text, limit=self._limit))
            return envelopes.envelope_from_json(data)
        except DecodeError as error:
            return Refused(code=error.code, reason=error.reason)
        except ValueError as error:
            about = data.get("message_id")
            about = about if isinstance(about, str) else None
            return Refused(code=envelopes.AcpError.INVALID_REQUEST, reason=str(error), correlation_id=about)

    def take(self, envelope: envelopes.AcpEnvelope | Refused) -> AcpEvent:
        """Return the event of an envelope of the peer."""
        if isinstance(envelope, Refused):
            return envelope
        if isinstance(envelope, envelopes.CardMessage):
            try:
                return self._take_card(envelope)
            except ValueError as error:
                return Refused(code=envelopes.AcpError.INVALID_REQUEST, reason=str(error))
        self._is_resuming = False  # this peer sends no card
        match envelope:
            case envelopes.AcpMessage():
                return self._message(envelope)
            case envelopes.ErrorMessage():
                return self._error(envelope)
        return self._acknowledge(envelope)

    def forget(self, message_id: str) -> None:
        """Await no reply to a message any more; a later one is reported as unknown."""
        self._awaited.pop(message_id, None)

    def _take_card(self, envelope: envelopes.CardMessage) -> CardReceived:
        """Take the peer's card, and send again from the message after the last one that it has received."""
        self.peer = AgentCard.from_json(envelope.card)
        cursor, resume = envelope.extra.get(CURSOR), envelope.extra.get(RESUME)
        knows_us = self._take_resume(resume) if isinstance(resume, dict) else True
        # A peer that misses what it has acknowledged has started again, even where it knows us since.
        has_less = type(cursor) is int and 0 <= cursor < self.log.acknowledged
        if self._is_resuming and (has_less or not knows_us):
            self.log.restart(self._awaited.values())
        elif self._is_resuming and type(cursor) is int and 0 <= cursor <= self.log.last:
            self.log.written = cursor
        self._is_resuming = False
        return CardReceived(card=self.peer)

    def _take_resume(self, resume: Mapping[str, object]) -> bool:
        """Take what the peer says of the two logs; return whether it knows ours."""
        log, window = resume.get("log"), resume.get("window")
        if isinstance(log, str) and type(window) is int and window > 0:
            if log != self.peer_log:
                self.peer_log, self.last_received, self._acknowledged = log, 0, 0
            self._ack_every = max(1, window // 4)
            self.log.is_acknowledging = True
        return resume.get("peer_log") == self.log_id

    def _acknowledge(self, envelope: envelopes.UnknownMessage) -> AcpEvent:
        number = envelope.raw.get(CURSOR)
        if envelope.type != ACK or envelope.raw.get("log") != self.log_id or type(number) is not int:
            return UnknownReceived(message=envelope)
        self.log.acknowledge(number)
        return Acknowledged(server_seq=number)

    def _error(self, envelope: envelopes.ErrorMessage) -> ErrorReceived:
        about, reason = envelope.extra.get("correlation_id"), envelope.extra.get("error")
        message_id = about if isinstance(about, str) else None
        if message_id is not None:
            self._count(envelope.extra.get("server_seq"))
            self._answer(message_id)
        return ErrorReceived(
            code=envelope.code, reason=reason if isinstance(reason, str) else "", correlation_id=message_id
        )

    def _count(self, server_seq: object) -> None:
        """Remember the highest number that was received."""
        if type(server_seq) is int:
            self.last_received = max(self.last_received, server_seq)

    # "correlation_id: Links a reply to its original message" (section 8)
    def _message(self, message: envelopes.AcpMessage) -> AcpEvent:
        self._count(message.server_seq)
        known = None if message.message_id is None else self._received.get(message.message_id)
        if known:
            return DuplicateDropped(message_id=str(message.message_id), number=known)
        self._count_received += 1
        if message.message_id is not None:
            self._received.put(message.message_id, self._count_received)
        if message.correlation_id is not None and self._answer(message.correlation_id):
            return ReplyReceived(reply=message)
        if message.is_reply:
            return UnknownReceived(message=message)
        return AcpMessageReceived(message=message, number=self._count_received)

    def _answer(self, message_id: str) -> bool:
        """Note that the peer has answered a message of ours; return whether it awaited that."""
        if (number := self._sent.get(message_id)) is not None:
            self.log.answer(number)
        return self._awaited.pop(message_id, None) is not None

    def _keep(self, text: str) -> None:
        """Number a text that is to be written."""
        self._check_room(len(text))
        self.log.append(text)

    def _check_room(self, size: int) -> None:
        if not self.log.has_room(size):
            raise LocalProtocolError(
                f"expected at most {self._max_waiting} messages that wait, found more",
                code=envelopes.AcpError.NOT_CONNECTED,
            )
