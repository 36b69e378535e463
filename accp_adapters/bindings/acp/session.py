"""The exchange with one peer, over one transport connection after the other, each of any binding (section 3.3).

    send, request ──► Connection (numbers, keeps) ──► writer ──► channel
    channel ──► reader ──► Connection (once, in order) ──► inbox ──► the agent, or who iterates

A connection that ends takes nothing with it: the next one begins with the cards, which say what each side has.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias, TypeVar

from accp_adapters.bindings.clock import SteadyClock
from accp_adapters.bindings.identity import ANONYMOUS, Principal
from accp_adapters.serving.limits import Quota, RateLimit, TooMany, weight_of
from accp_adapters.serving.threads import OWNER, off_loop
from accp_adapters.wire_log import log_frame
from accp_core.accp.debug import Direction
from accp_core.acp import (
    AcpError,
    AcpEvent,
    AcpMessage,
    AcpMessageReceived,
    AgentCard,
    Binding,
    Connection,
    DataPart,
    ErrorMessage,
    ErrorReceived,
    FilePart,
    OpaquePart,
    Part,
    Refused,
    ReplyReceived,
    SendResult,
    TextPart,
    serialize_envelope,
)
from accp_core.acp.envelope import MAX_ACP_BYTES, AcpEnvelope, Json
from accp_core.errors import DecodeError, LocalProtocolError, ProtocolError, RemoteProtocolError

__all__ = [
    "DEFAULT_ACP_LIMITS", "DUPLICATE", "FATAL_CODES", "REPLACED", "TOKEN_REFUSED", "UNTRUSTED", "AcpHandler",
    "AcpLimits", "AcpSession", "Channel", "ChannelClosed", "Content", "EndOfInput", "Signal", "to_parts",
]  # fmt: skip

_LOGGER: Final = logging.getLogger("accp.acp")
T = TypeVar("T")
REPLACED: Final = "replaced"
"""The code for `Channel.aclose` where a newer connection of the same peer takes over."""
TOKEN_REFUSED: Final = "invalid_token"
"""The code of a server that does not know us, or not any more."""
UNTRUSTED: Final = "untrusted_certificate"
"""Our own code for a server whose certificate TLS does not accept; trying again does not help."""
DUPLICATE: Final = "duplicate_connection"
"""The error of a peer whose token is in use on another connection."""
FATAL_CODES: Final = frozenset({TOKEN_REFUSED, DUPLICATE})
"""Errors of a peer that end a connection."""
_BATCH: Final = 16
"""Messages that are taken from the log at a time."""
_MAX_REFUSALS: Final = 20
"""Texts that are no messages, until a connection is closed."""
_RETRY_SECONDS: Final = 0.5
"""Between two looks for memory, which others may free."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AcpLimits:
    """The limits of a server or a client of ACP. Times are in seconds."""

    message_bytes: int = MAX_ACP_BYTES
    """Bytes of a message in UTF-8; more is refused by ERR_MSG_TOO_LARGE."""
    window: int = 256
    """Messages for a peer that it has not received, and of a peer that the agent has not handled; then both wait."""
    kept_bytes: int = 128 << 20
    """Bytes of the messages that wait for an agent, a quarter of them those of one principal; then nothing is read."""
    connections: int = 1_000
    """Connections and event streams at the same time, three quarters of them of one principal; more are refused by
    ERR_NOT_CONNECTED."""
    sessions: int = 1_000
    """Sessions that are kept, connected or not; the one unused for longest is forgotten for another."""
    rate: float = 5_000.0
    """Messages of a peer for each second, after a burst of twice as many; then it is read more slowly, or refused."""
    body_seconds: float = 10.0
    """Until the body of a request, a TLS handshake, or the first text of a connection with a token has arrived."""
    write_seconds: float = 60.0
    """Until a text is taken by the connection; after that the peer counts as gone."""
    keepalive_seconds: float = 20.0
    """Between signs of life on a connection where nothing else is written."""
    reply_seconds: float = 30.0
    """Until the reply to a message; longer is ERR_TIMEOUT."""


DEFAULT_ACP_LIMITS: Final = AcpLimits()


class ChannelClosed(Exception):
    """The connection is over; `code` is the peer's error code or empty."""

    def __init__(self, reason: str, *, code: str = "") -> None:
        """Say why, and with which code of the peer."""
        super().__init__(reason)
        self.code = code


class EndOfInput(ChannelClosed):
    """The peer writes nothing more, but may still read."""


class Channel(Protocol):
    """One connection with a peer. Texts are envelopes of ACP, whole and in order."""

    binding: Binding
    """The binding that it is of."""
    window: int | None
    """Messages that may be under way without acknowledgement; None: as many as the session allows."""

    async def send(self, text: str) -> None:
        """Write a text.

        Raises:
            ChannelClosed: The connection is over; the text may have arrived or not.
        """

    async def receive(self) -> str:
        """Return the next text of the peer.

        Raises:
            ChannelClosed: The connection is over.
            DecodeError: The peer broke the framing, so that the connection cannot go on.
        """

    async def keep_alive(self) -> None:
        """Show the peer that we are there, where the binding does not do that by itself; raises as `send`."""

    async def aclose(self, code: str = "") -> None:
        """Close the connection; `code` is an error code for the peer, where the binding can say it. Never raises."""


class Signal:
    """Tasks of one event loop wait for the next `notify`; later tasks wait for the one after."""

    def __init__(self) -> None:
        """Start without waiting tasks."""
        self._event = asyncio.Event()

    def notify(self) -> None:
        """Wake all who wait."""
        self._event.set()
        self._event = asyncio.Event()

    async def wait(self, seconds: float | None = None) -> bool:
        """Return whether there was a `notify` within `seconds`; None: wait for it as long as it takes."""
        event = self._event
        try:
            async with asyncio.timeout(seconds):
                await event.wait()
        except TimeoutError:
            return False
        return True


Content: TypeAlias = "str | Part | Sequence[Part]"
"""What a message holds, as a caller says it."""
AcpHandler: TypeAlias = "Callable[[AcpMessage, AcpSession], Awaitable[Content | None]]"
"""Handles a message of the peer; what it returns is sent as the reply."""


def to_parts(content: Content) -> tuple[Part, ...]:
    """Return the parts of `content`: a text is one text part."""
    if isinstance(content, str):
        return (TextPart(content=content),)
    return (content,) if isinstance(content, (TextPart, FilePart, DataPart, OpaquePart)) else tuple(content)


class AcpSession:
    """One peer: `send` and `request` to it, `messages` from it."""

    def __init__(
        self,
        card: AgentCard,
        *,
        name: str = "",
        principal: Principal = ANONYMOUS,
        handler: AcpHandler | None = None,
        limits: AcpLimits = DEFAULT_ACP_LIMITS,
        memory: Quota | None = None,
        is_server: bool = False,
    ) -> None:
        """Exchange messages for the agent of `card`.

        Args:
            card: The card of our agent.
            name: What the peer is called here; unique on a server.
            principal: Whom the transport has authenticated.
            handler: Handles messages one after the other; None: `messages` yields them.
            limits: What the peer may use.
            memory: The bytes of all sessions of the agent; None: those of this one.
            is_server: Whether `to_peer` of a message must be our agent.
        """
        self.name = name
        self.principal = principal
        self.limits = limits
        self.connection = Connection(
            card, new_id=lambda: secrets.token_hex(6), max_waiting=limits.window, limit=limits.message_bytes
        )
        self.changed = Signal()
        """Notified when there is something to write, room to send, or another connection."""
        self.heard = 0.0
        """When the peer was heard last, on the clock of `time.monotonic`."""
        self.rate = RateLimit(limits.rate, 2 * limits.rate)
        """The messages that the peer may still send."""
        self._own_name = card.name if is_server else None
        self._handler = handler
        self._worker: asyncio.Task[None] | None = None
        self._inbox: deque[tuple[AcpMessageReceived, int]] = deque()
        self._replies: dict[str, asyncio.Future[tuple[Part, ...]]] = {}
        self._memory: Final = memory or Quota(limits.kept_bytes, limits.kept_bytes, "bytes of messages")
        self._channel: Channel | None = None
        self._is_handling = self._ended = False
        self._clock = SteadyClock()

    @property
    def peer(self) -> AgentCard | None:
        """The card of the peer, None before it sent one."""
        return self.connection.peer

    @property
    def channel(self) -> Channel | None:
        """The connection in use, None where there is none."""
        return self._channel

    @property
    def is_full(self) -> bool:
        """Whether too many messages of the peer wait for the agent."""
        return len(self._inbox) > self.limits.window

    # --- sending ------------------------------------------------------------------------------------------------------

    async def send(self, content: Content | AcpMessage, *, wait: bool = True) -> SendResult:
        """Send a message, or keep it for the next connection; return its id and its server_seq.

        Args:
            content: A text, parts, or a message with fields of its own.
            wait: Whether to wait while the peer has not received the messages before.

        Raises:
            EncodeError: ERR_MSG_TOO_LARGE, ERR_INVALID_REQUEST: it is no message.
            LocalProtocolError: ERR_NOT_CONNECTED: the session has ended, or it would have to wait.
        """
        return await self._send(content, wait=wait)

    async def request(self, content: Content | AcpMessage, *, timeout: float | None = None) -> tuple[Part, ...]:
        """Send a message and return the parts of the reply.

        Args:
            content: A text, parts, or a message with fields of its own.
            timeout: Seconds for all of it; None: `AcpLimits.reply_seconds`.

        Raises:
            RemoteProtocolError: ERR_TIMEOUT: no reply in time; the code that the peer answered with.
            EncodeError, LocalProtocolError: As `send`.
        """
        seconds = self.limits.reply_seconds if timeout is None else timeout
        future: asyncio.Future[tuple[Part, ...]] = asyncio.get_running_loop().create_future()
        message_id = ""
        try:
            async with asyncio.timeout(seconds):
                message_id = (await self._send(content, future=future)).message_id
                return await future
        except TimeoutError:
            reason = f"expected a reply within {seconds:g} seconds, found none"
            raise RemoteProtocolError(reason, code=AcpError.TIMEOUT, reply=None) from None
        finally:
            self._replies.pop(message_id, None)
            self.connection.forget(message_id)

    def reply(self, message: AcpMessage, content: Content) -> None:
        """Reply to a message that awaits it, see `messages`; raises as `Connection.reply`."""
        self.connection.reply(message, to_parts(content))
        self.changed.notify()

    async def _send(
        self,
        content: Content | AcpMessage,
        *,
        wait: bool = True,
        future: asyncio.Future[tuple[Part, ...]] | None = None,
    ) -> SendResult:
        message = content if isinstance(content, AcpMessage) else AcpMessage(parts=to_parts(content))

        def send() -> SendResult:
            result = self.connection.send(message, self._clock(), awaits_reply=future is not None)
            if future is not None:
                self._replies[result.message_id] = future
            return result

        return await self._when_room(send, wait=wait)

    async def _when_room(self, send: Callable[[], T], *, wait: bool = True) -> T:
        """Return what `send` returns, called again after each change while too many messages wait."""
        while True:
            if self._ended:
                raise LocalProtocolError("expected a session that goes on, found its end", code=AcpError.NOT_CONNECTED)
            try:
                result = send()
            except LocalProtocolError as error:
                if not wait or error.code != AcpError.NOT_CONNECTED:
                    raise
                await self.changed.wait(_RETRY_SECONDS)
                continue
            self.changed.notify()
            return result

    # --- receiving ----------------------------------------------------------------------------------------------------

    async def messages(self) -> AsyncIterator[AcpMessage]:
        """Yield the messages of the peer in order, each once; end when the session ends."""
        while self._inbox or not self._ended:
            if not self._inbox:
                await self.changed.wait()
                continue
            received, weight = self._inbox.popleft()
            self._memory.take(self.principal.name, -weight)
            self.changed.notify()
            yield received.message

    async def take(self, text: str, *, wait: bool = True) -> AcpEvent:
        """Take a text of the peer; return what it was.

        Args:
            text: The text.
            wait: Whether to wait while its inbox is full; False: a text too many is refused by ERR_NOT_CONNECTED.
        """
        log_frame(Direction.RECEIVED, "acp", text)
        self.heard = time.monotonic()
        OWNER.set(self.principal.name)
        weight, envelope = await off_loop(len(text), self._parse, text)
        while not self._takes(weight):
            if not wait:
                return Refused(code=AcpError.NOT_CONNECTED, reason="expected fewer messages at once")
            await self.changed.wait(_RETRY_SECONDS)
        event = self._misdirected(envelope) or self.connection.take(envelope)
        if isinstance(event, AcpMessageReceived):
            self._inbox.append((event, weight))
            self._work()
        else:
            self._memory.take(self.principal.name, -weight)
            self._resolve(event)
        self.changed.notify()
        while wait and self.is_full and not self._ended:
            await self.changed.wait()
        return event

    def _takes(self, weight: int) -> bool:
        try:
            self._memory.take(self.principal.name, weight)
        except TooMany:
            return False
        return True

    def _parse(self, text: str) -> tuple[int, AcpEnvelope | Refused]:
        weight = weight_of(text)
        if weight > self.limits.kept_bytes // 4:
            return 0, Refused(code=AcpError.TOO_LARGE, reason="expected a message of fewer values")
        return weight, self.connection.read(text)

    # "to_peer: Directed send target (multi-session)" (section 8); a server here passes nothing on to other peers.
    def _misdirected(self, envelope: AcpEnvelope | Refused) -> AcpEvent | None:
        """Return the refusal of a message for another agent; None: it is for ours."""
        if self._own_name is None or not isinstance(envelope, AcpMessage):
            return None
        if envelope.to_peer in (None, self._own_name, self.name):
            return None
        reason = f"to_peer: expected {self._own_name!r}, found {envelope.to_peer!r:.100}; messages are not passed on"
        return Refused(code=AcpError.NOT_FOUND, reason=reason, correlation_id=envelope.message_id)

    def _resolve(self, event: AcpEvent) -> None:
        """Give who awaits a reply what the peer says."""
        result: tuple[Part, ...] | Exception
        match event:
            case ReplyReceived():
                message_id, result = str(event.reply.correlation_id), event.reply.parts
            case ErrorReceived(correlation_id=str() as message_id):
                reason = event.reason or "the peer could not handle the message"
                result = RemoteProtocolError(reason, code=event.code, reply=None)
            case _:
                return
        future = self._replies.pop(message_id, None)
        if future is None or future.done():
            return
        if isinstance(result, Exception):
            future.set_exception(result)
        else:
            future.set_result(result)

    def _work(self) -> None:
        if self._handler is not None and (self._worker is None or self._worker.done()):
            self._worker = asyncio.create_task(self._handle_all(self._handler))

    async def _handle_all(self, handler: AcpHandler) -> None:
        while self._inbox:
            received, weight = self._inbox.popleft()
            self._is_handling = True
            self.changed.notify()
            try:
                await self._handle(handler, received)
            except ProtocolError as error:
                _LOGGER.warning("no reply to %s: %s", self.name, error)
            finally:
                self._is_handling = False
                self._memory.take(self.principal.name, -weight)
        self.changed.notify()

    async def _handle(self, handler: AcpHandler, received: AcpMessageReceived) -> None:
        message = received.message
        try:
            content = await handler(message, self)
            parts = () if content is None else to_parts(content)
        except Exception:
            _LOGGER.exception("the agent failed to handle a message of %s", self.name)
            reason = "the agent failed to handle the message"
            await self._when_room(lambda: self.connection.fail(message, AcpError.INTERNAL, reason))
            return
        if parts and received.awaits_reply:
            await self._when_room(lambda: self.connection.reply(message, parts))
        elif parts:
            answer = AcpMessage(
                parts=parts,
                role="agent",
                correlation_id=message.message_id,
                task_id=message.task_id,
                context_id=message.context_id,
            )
            await self._send(answer)

    # --- connections --------------------------------------------------------------------------------------------------

    async def run(self, channel: Channel, first: str | None = None) -> ChannelClosed:
        """Exchange messages over a connection until it ends, and close it; return why it ended.

        Args:
            channel: The connection; one that was in use is closed.
            first: The first text of the peer, where it was read already.
        """
        before, self._channel = self._channel, channel
        self.heard = time.monotonic()
        if before is not None:
            self.connection.closed()
            self.changed.notify()
            await before.aclose(REPLACED)
        writing = self._write(channel, self.connection.opened(self._clock()))
        tasks = [asyncio.create_task(each) for each in (writing, self._read(channel, first))]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            return next(iter(done)).result()
        finally:
            await self._leave(channel, tasks)

    def end(self, reason: str = "the session has ended") -> None:
        """End the session for good: nothing more is sent, and `messages` ends."""
        self._ended = True
        for future in self._replies.values():
            if not future.done():
                future.set_exception(RemoteProtocolError(reason, code=AcpError.NOT_CONNECTED, reply=None))
        if self._worker is not None:
            self._worker.cancel()
        self._memory.take(self.principal.name, -sum(weight for _, weight in self._inbox))
        self._inbox.clear()
        self.changed.notify()

    async def _leave(self, channel: Channel, tasks: Sequence[asyncio.Task[ChannelClosed]]) -> None:
        for task in tasks:
            task.cancel()
        if self._channel is channel:
            self._channel = None
            self.connection.closed()
            self.changed.notify()
        await asyncio.gather(*tasks, return_exceptions=True)
        await channel.aclose()

    async def _read(self, channel: Channel, first: str | None) -> ChannelClosed:
        refusals = 0
        try:
            while self._channel is channel:
                text = await channel.receive() if first is None else first
                first = None
                await self.rate.wait()
                if self._channel is not channel:
                    break
                event = await self.take(text)
                if isinstance(event, Refused):
                    refusals += 1
                    await self._refuse(channel, event, last=refusals > _MAX_REFUSALS)
                if isinstance(event, ErrorReceived) and event.code in FATAL_CODES:
                    return ChannelClosed(event.reason or f"the peer refused us: {event.code}", code=event.code)
        except EndOfInput as end:
            await self._drain()
            return end
        except ChannelClosed as closed:
            return closed
        except DecodeError as error:
            with contextlib.suppress(ChannelClosed):
                await self._refuse(channel, Refused(code=error.code, reason=error.reason), last=True)
            await channel.aclose(error.code)
            return ChannelClosed(error.reason, code=error.code)
        return ChannelClosed("another connection took over")

    async def _drain(self) -> None:
        """Wait until what the peer has said is answered and written; `agent_a | agent_b` ends its input first."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.limits.reply_seconds):
                while self._handler and (self._inbox or self._is_handling or self.connection.waiting(1)):
                    await self.changed.wait()

    async def _write(self, channel: Channel, card: str) -> ChannelClosed:
        """Write our card and what waits, as long as the connection is that of the session; return why it ended."""
        try:
            await self._put(channel, card)
            while self._channel is channel:
                seconds = self.limits.keepalive_seconds
                if not await self._write_waiting(channel) and not await self.changed.wait(seconds):
                    await channel.keep_alive()
        except ChannelClosed as closed:
            return closed
        return ChannelClosed("another connection took over")

    async def _write_waiting(self, channel: Channel) -> bool:
        """Write what waits; return whether there was anything."""
        acknowledgement = self.connection.acknowledgement()
        if acknowledgement is not None:
            await self._put(channel, acknowledgement)
        is_full = channel.window is not None and self.connection.log.in_flight >= channel.window
        waiting = [] if is_full else self.connection.waiting(_BATCH)
        for number, text in waiting:
            await self._put(channel, text)
            if self._channel is not channel:
                return True
            self.connection.mark_written(number)
        if waiting:
            self.changed.notify()
        return bool(waiting) or acknowledgement is not None

    async def _refuse(self, channel: Channel, refused: Refused, *, last: bool) -> None:
        """Tell the peer that its text is refused; a text that is too large, or the last one of many, is the end.

        Raises:
            ChannelClosed: It is the end.
        """
        about: dict[str, Json] = {"correlation_id": refused.correlation_id} if refused.correlation_id else {}
        error = ErrorMessage(code=refused.code, extra={"error": refused.reason, **about})
        await self._put(channel, serialize_envelope(error))
        if last or refused.code == AcpError.TOO_LARGE:
            raise ChannelClosed(refused.reason, code=refused.code)

    async def _put(self, channel: Channel, text: str) -> None:
        seconds = self.limits.write_seconds
        try:
            async with asyncio.timeout(seconds):
                log_frame(Direction.SENT, "acp", text)
                await channel.send(text)
        except TimeoutError:
            raise ChannelClosed(f"the peer took nothing for {seconds:g} seconds") from None
