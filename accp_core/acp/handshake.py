"""Two agents over one connection, whatever carries it: cards, messages, replies, loss (ACP transport 0.3, section 3.3).

    opened ──► our card, then what waited          closed ──► retry_delay: 2 s, 4 s, then by relay
    receive(text) ──► one event                    send(message, now) ──► a text, or it waits for the next `opened`

A message is taken once, by its message_id; sending one id again gives the first server_seq and no second text. No
sockets, no clock, no randomness: who owns the connection brings all three.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

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
from accp_core.errors import DecodeError, LocalProtocolError

__all__ = ["CLOSE_INVALID_TOKEN", "INVALID_TOKEN", "Connection", "SendResult", "is_admitted", "retry_delay"]

INVALID_TOKEN: Final = write_object({"type": "error", "code": "invalid_token"})
"""What a guest with a wrong token is told before the connection is closed."""
CLOSE_INVALID_TOKEN: Final = 4401
"""The WebSocket close code that goes with it."""

TOKEN_HEADER: Final = "x-acp-token"
WAITS: Final = (2.0, 4.0)
"""Seconds before the second and the third attempt."""

T = TypeVar("T")


# "X-ACP-Token  Guest → Host  Alternative to token-in-URL; some reverse proxies strip path segments" (section 3.6)
def is_admitted(token: str, path: str, headers: Mapping[str, str]) -> bool:
    """Return whether a guest that asks for `path` may come in; `headers` have names in lower case."""
    by_path = same_token(token, path.partition("?")[0].rpartition("/")[2])
    by_header = same_token(token, headers.get(TOKEN_HEADER, ""))
    return by_path or by_header


# "The reference relay auto-falls back to Binding C after 3 failed P2P attempts." (section 5.1)
def retry_delay(failures: int) -> float | None:
    """Return the seconds to wait after so many failures; None when it is time for a relay."""
    return WAITS[failures - 1] if 0 < failures <= len(WAITS) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SendResult:
    """What became of a message that was to be sent."""

    message_id: str
    server_seq: int
    text: str | None
    """What to write now; None when it waits for a connection, or was sent before."""


class _Memory(Generic[T]):
    """The last entries only: a peer must not fill the memory."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._entries: OrderedDict[str, T] = OrderedDict()

    def get(self, key: str) -> T | None:
        """Return what is known of `key`."""
        return self._entries.get(key)

    def put(self, key: str, value: T) -> None:
        """Remember it, and forget the oldest if there are too many."""
        self._entries[key] = value
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)

    def take(self, key: str) -> T | None:
        """Return what is known of `key`, and forget it."""
        return self._entries.pop(key, None)


class Connection:
    """One peer, over as many connections as it takes."""

    def __init__(
        self,
        card: AgentCard,
        *,
        new_id: Callable[[], str],
        max_ids: int = 10_000,
        max_waiting: int = 1_000,
        limit: int = MAX_MESSAGE_BYTES,
    ) -> None:
        """Speak for the agent of `card`.

        `new_id` gives 12 hex digits that nobody guesses, such as `secrets.token_hex(6)`. The last `max_ids` ids are
        remembered in each direction; at most `max_waiting` messages wait for a connection.
        """
        self._card = card
        self._new_id = new_id
        self._limit = limit
        self._most_waiting = max_waiting
        self._received: _Memory[bool] = _Memory(max_ids)
        self._sent: _Memory[int] = _Memory(max_ids)
        self._awaited: _Memory[bool] = _Memory(max_ids)
        self._waiting: deque[str] = deque()
        self._server_seq = 0
        self.peer: AgentCard | None = None
        """Who is at the other end, as far as it has said."""
        self.connected = False
        """Whether what is sent leaves at once."""

    def opened(self, now: float) -> list[str]:
        """Take note of a new connection; return what to write first: our card, then what waited, in order."""
        self.connected = True
        card = CardMessage(card=self._card.to_json(), message_id=f"card_{self._new_id()}", ts=timestamp(now))
        texts = [serialize_envelope(card, limit=self._limit), *self._waiting]
        self._waiting.clear()
        return texts

    def closed(self) -> None:
        """Take note that the connection is gone; what is sent waits from now on."""
        self.connected = False

    def send(self, message: AcpMessage, now: float, *, awaits_reply: bool = False) -> SendResult:
        """Return what to write for a message; who waits for a reply gets it as `ReplyReceived`.

        Id, time, sender and server_seq are filled in. An id that was sent before is not sent again.

        Raises: EncodeError as `serialize_envelope`; LocalProtocolError ERR_NOT_CONNECTED when too many messages wait.
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
        text = self._leave(serialize_envelope(filled, limit=self._limit))
        self._server_seq = number
        self._sent.put(message_id, number)
        if awaits_reply:
            self._awaited.put(message_id, True)
        return SendResult(message_id=message_id, server_seq=number, text=text)

    def reply(self, message: AcpMessage, parts: tuple[Part, ...]) -> str | None:
        """Return what to write as the answer to a message that awaits one; None when it waits for a connection.

        Raises: LocalProtocolError ERR_INVALID_REQUEST for a message that awaits none; as `send`.
        """
        if message.correlation_id is None:
            raise LocalProtocolError("nobody waits for a reply to this message", code=AcpError.INVALID_REQUEST)
        answer = AcpReply(correlation_id=message.correlation_id, parts=parts, message_id=f"msg_{self._new_id()}")
        return self._leave(serialize_envelope(answer, limit=self._limit))

    def receive(self, text: str) -> AcpEvent:
        """Return what a text of the peer comes to; never raises for anything that a peer may write."""
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
        if isinstance(envelope, AcpReply) and self._awaited.take(envelope.correlation_id):
            return ReplyReceived(reply=envelope)
        return UnknownReceived(message=envelope)

    def _message(self, message: AcpMessage) -> AcpEvent:
        if message.message_id is not None:
            if self._received.get(message.message_id):
                return DuplicateDropped(message_id=message.message_id)
            self._received.put(message.message_id, True)
        awaits = message.correlation_id is not None and message.correlation_id == message.message_id
        return AcpMessageReceived(message=message, awaits_reply=awaits)

    def _leave(self, text: str) -> str | None:
        if self.connected:
            return text
        if len(self._waiting) >= self._most_waiting:
            raise LocalProtocolError("too many messages wait for a connection", code=AcpError.NOT_CONNECTED)
        self._waiting.append(text)
        return None
