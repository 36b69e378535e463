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
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, NoReturn, TypeAlias, TypeVar

import anyio

from accp_adapters.bindings.clock import Signal, SteadyClock
from accp_adapters.serving.limits import Quota, RateLimit, ServerLimits, weight_of
from accp_adapters.serving.principals import ANONYMOUS, Principal
from accp_adapters.serving.threads import OWNER, off_loop
from accp_adapters.wire_log import log_frame
from accp_core import acp
from accp_core.accp.debug import Direction
from accp_core.acp.connection import Complete
from accp_core.acp.envelope import AcpEnvelope, Json
from accp_core.errors import DecodeError, EncodeError, LocalProtocolError, ProtocolError, RemoteProtocolError

__all__ = [
    "DUPLICATE", "HOPELESS", "IDLE_SECONDS", "KEEPALIVE_SECONDS", "MISDIRECTED", "REPLACED", "TOKEN_REFUSED",
    "UNTRUSTED", "AcpHandler", "AcpSession", "Channel", "ChannelClosed", "Content", "EndOfInput", "to_parts",
]  # fmt: skip

_LOGGER: Final = logging.getLogger("accp.acp")
T = TypeVar("T")
REPLACED: Final = "replaced"
"""The code for `Channel.aclose` where a newer connection of the same peer takes over."""
TOKEN_REFUSED: Final = "invalid_token"
"""The code of a server that does not know us, or not any more."""
UNTRUSTED: Final = "untrusted_certificate"
"""Our own code for a server whose certificate TLS does not accept; trying again does not help."""
MISDIRECTED: Final = "misdirected"
"""Our own code for a server that does not serve the name by which it is reached."""
DUPLICATE: Final = "duplicate_connection"
"""The error of a peer whose token is in use on another connection."""
FATAL_CODES: Final = frozenset({TOKEN_REFUSED, DUPLICATE})
"""Errors of a peer that end a connection."""
HOPELESS: Final = frozenset({TOKEN_REFUSED, UNTRUSTED, MISDIRECTED})
"""Codes after which another attempt would end the same way."""
_BATCH: Final = 16
"""Messages that are taken from the log at a time."""
_MAX_REFUSALS: Final = 20
"""Texts that are no messages, until a connection is closed."""
_RETRY_SECONDS: Final = 0.5
"""Between two looks for memory, which others may free."""
_ROOM_SECONDS: Final = 1.0
"""For which a message over HTTP may wait for room."""
_REPLY_SECONDS: Final = 30.0
"""Until the reply to a message; longer is ERR_TIMEOUT."""
_TAKEN_SECONDS: Final = 10.0
"""For which a peer that has ended its input may take nothing of what is written."""
IDLE_SECONDS: Final = 0.1
"""Without anything to write, until what is handled is acknowledged: most often a reply does that."""
KEEPALIVE_SECONDS: Final = 20.0
"""Between signs of life on a connection where nothing else is written."""


class ChannelClosed(Exception):
    """The connection is over; `code` is the peer's error code or empty."""

    def __init__(self, reason: str, *, code: str = "") -> None:
        """Say why, and with which code of the peer."""
        super().__init__(reason)
        self.code = code


class EndOfInput(ChannelClosed):
    """The peer writes nothing more, but may still read."""


class Channel(ABC):
    """One connection with a peer. Texts are envelopes of ACP, whole and in order."""

    binding: acp.Binding
    """The binding that it is of."""
    window: int | None = None
    """Messages that may be under way without acknowledgement; None: as many as the session allows."""

    @abstractmethod
    async def send(self, text: str) -> None:
        """Write a text.

        Raises:
            ChannelClosed: The connection is over; the text may have arrived or not.
        """

    @abstractmethod
    async def receive(self) -> str:
        """Return the next text of the peer.

        Raises:
            ChannelClosed: The connection is over.
            DecodeError: The peer broke the framing, so that the connection cannot go on.
        """

    async def keep_alive(self) -> None:  # noqa: B027  # most bindings do that by themselves
        """Show the peer that we are there; raises as `send`."""

    @abstractmethod
    async def aclose(self, code: str = "") -> None:
        """Close the connection; `code` is an error code for the peer, where the binding can say it. Never raises."""


Content: TypeAlias = "str | acp.Part | Sequence[acp.Part]"
"""What a message holds, as a caller says it."""
AcpHandler: TypeAlias = "Callable[[acp.AcpMessage, AcpSession], Awaitable[Content | None]]"
"""Handles a message of the peer; what it returns is sent as the reply."""


def to_parts(content: Content) -> tuple[acp.Part, ...]:
    """Return the parts of `content`: a text is one text part; raises TypeError for anything else."""
    if isinstance(content, str):
        return (acp.TextPart(content=content),)
    parts = tuple(content) if isinstance(content, (list, tuple)) else (content,)
    for part in parts:
        if not isinstance(part, acp.Part):
            raise TypeError(f"expected a text, or parts such as TextPart(…) and DataPart(…), found {part!r:.80}")
    return parts


class AcpSession:
    """One peer: `send` and `request` to it, `messages` from it."""

    def __init__(
        self,
        card: acp.AgentCard,
        *,
        name: str = "",
        principal: Principal = ANONYMOUS,
        handler: AcpHandler | None = None,
        limits: ServerLimits | None = None,
        memory: Quota | None = None,
        is_server: bool = False,
    ) -> None:
        """Exchange messages for the agent of `card`.

        Args:
            card: The card of our agent.
            name: What the peer is called here; unique on a server.
            principal: Whom the transport has authenticated.
            handler: Handles messages one after the other; None: `messages` yields them.
            limits: What the peer may use; None: the defaults.
            memory: The bytes of all sessions of the agent; None: those of this one.
            is_server: Whether `to_peer` of a message must be our agent.
        """
        self.name = name
        self.principal = principal
        self.limits = limits = limits or ServerLimits()
        self.connection = acp.Connection(
            card, new_id=lambda: secrets.token_hex(6), max_waiting=limits.window, limit=limits.frame_bytes
        )
        self.changed = Signal()
        """Notified when there is something to write, room to send, or another connection."""
        self.heard = 0.0
        """When the peer was heard last, on the clock of `time.monotonic`."""
        self.rate = RateLimit(limits.rate, limits.burst)
        """The messages that the peer may still send."""
        self.channel: Channel | None = None
        """The connection in use, None where there is none."""
        self._own_name = card.name if is_server else None
        self._handler = handler
        self._worker: asyncio.Task[None] | None = None
        self._inbox: deque[tuple[acp.AcpMessage, int]] = deque()
        """Messages that wait for the agent, each with its weight in memory; the one being handled stays the first."""
        self._replies: dict[str, asyncio.Future[tuple[acp.Part, ...]]] = {}
        self._memory: Final = memory or Quota(limits.buffered_bytes, limits.buffered_bytes, "bytes of messages")
        self._ended = False
        self._told = RateLimit(1, 20)
        self._clock = SteadyClock()

    @property
    def peer(self) -> acp.AgentCard | None:
        """The card of the peer, None before it sent one."""
        return self.connection.peer

    @property
    def is_full(self) -> bool:
        """Whether too many messages of the peer wait for the agent."""
        return len(self._inbox) > self.limits.window

    # --- sending ------------------------------------------------------------------------------------------------------

    async def send(self, content: Content | acp.AcpMessage, *, wait: bool = True) -> acp.SendResult:
        """Send a message, or keep it for the next connection; return its id and its server_seq.

        Args:
            content: A text, parts, or a message with fields of its own.
            wait: Whether to wait while the peer has not received the messages before.

        Raises:
            EncodeError: ERR_MSG_TOO_LARGE, ERR_INVALID_REQUEST: it is no message.
            LocalProtocolError: ERR_NOT_CONNECTED: the session has ended, or it would have to wait.
        """
        return await self._when_room(partial(self.connection.send, _message(content)), wait=wait)

    async def request(
        self, content: Content | acp.AcpMessage, *, timeout: float = _REPLY_SECONDS
    ) -> tuple[acp.Part, ...]:
        """Send a message and return the parts of the reply, which may take `timeout` seconds.

        Raises:
            RemoteProtocolError: ERR_TIMEOUT: no reply in time; the code that the peer answered with.
            EncodeError, LocalProtocolError: As `send`.
        """
        message = _message(content)
        message_id = message.message_id or f"msg_{secrets.token_hex(6)}"
        asked = partial(self.connection.send, replace(message, message_id=message_id), awaits_reply=True)
        reply: asyncio.Future[tuple[acp.Part, ...]] = asyncio.get_running_loop().create_future()
        self._replies[message_id] = reply
        self.changed.notify()
        try:
            async with asyncio.timeout(timeout):
                await self._when_room(asked)
                return await reply
        except TimeoutError:
            found = "none" if self.peer else "no peer: nobody has said who they are; is the token right?"
            reason = f"expected a reply within {timeout:g} seconds, found {found}"
            raise RemoteProtocolError(reason, code=acp.AcpError.TIMEOUT, reply=None) from None
        finally:
            self._replies.pop(message_id, None)
            self.connection.forget(message_id)

    async def reply(self, message: acp.AcpMessage, content: Content) -> acp.SendResult:
        """Send the reply to a message, raises as `send`."""
        return await self._when_room(partial(self.connection.reply, message, to_parts(content)))

    async def _when_room(self, send: Callable[..., T], *, wait: bool = True) -> T:
        """Return `send(now=…)`, called again after each change while too many messages wait."""
        while True:
            if self._ended:
                reason = "expected a session that goes on, found its end"
                raise LocalProtocolError(reason, code=acp.AcpError.NOT_CONNECTED)
            try:
                result = send(now=self._clock())
            except LocalProtocolError as error:
                if not wait or error.code != acp.AcpError.NOT_CONNECTED:
                    raise
                await self.changed.wait(_RETRY_SECONDS)
                continue
            self.changed.notify()
            return result

    # --- receiving ----------------------------------------------------------------------------------------------------

    async def messages(self) -> AsyncIterator[acp.AcpMessage]:
        """Yield the messages of the peer in order, each once; end when the session ends."""
        while self._inbox or not self._ended:
            if not self._inbox:
                await self.changed.wait()
                continue
            message = self._inbox[0][0]
            self._taken()
            yield message

    def acknowledgement(self, *, at_once: bool = False) -> str | None:
        """Return the acknowledgement of what is handled, to be written now; None: none is due.

        Args:
            at_once: As `Connection.acknowledgement`.
        """
        # Who waits for the peer must not keep it waiting: then what is only received counts as well.
        is_waiting = bool(self._replies) or not self.connection.log.has_room(self.limits.frame_bytes)
        waiting = self._inbox[0][0].server_seq if self._inbox and (at_once or not is_waiting) else None
        return None if self._ended else self.connection.acknowledgement(waiting and waiting - 1, at_once=at_once)

    def _taken(self) -> None:
        """Remove the first message of the inbox."""
        self._memory.take(self.principal.name, -self._inbox.popleft()[1])
        self.changed.notify()

    async def take(self, text: str, complete: Complete = dict, *, wait: bool = True) -> acp.AcpEvent:
        """Take a text of the peer; return what it was.

        Args:
            text: The text.
            complete: As `Connection.read`.
            wait: Whether to wait while its inbox is full; False: a text too many is refused by ERR_NOT_CONNECTED.
        """
        log_frame(Direction.RECEIVED, "acp", text)
        self.heard = time.monotonic()
        OWNER.set(self.principal.name)
        weight, envelope = await off_loop(len(text), self._parse, text, complete)
        while not self._memory.has_room(self.principal.name, weight):
            if not wait:
                return acp.Refused(code=acp.AcpError.NOT_CONNECTED, reason="expected fewer messages at once")
            await self.changed.wait(_RETRY_SECONDS)
        self._memory.take(self.principal.name, weight)
        event = self._misdirected(envelope) or self.connection.take(envelope)
        if isinstance(event, acp.AcpMessageReceived):
            self._inbox.append((event.message, weight))
            if self._handler is not None and (self._worker is None or self._worker.done()):
                self._worker = asyncio.create_task(self._handle_all(self._handler))
        else:
            self._memory.take(self.principal.name, -weight)
            self._resolve(event)
        self.changed.notify()
        # An awaited reply may stand behind a full inbox: read on, as far as the limit of memory allows.
        while wait and self.is_full and not self._ended and not self._replies:
            await self.changed.wait()
        return event

    async def until_room(self, size: int) -> None:
        """Wait until the peer may send a text of about `size` bytes, for which nothing is read or kept meanwhile.

        Raises:
            LocalProtocolError: ERR_NOT_CONNECTED, there is no room within a second.
        """
        try:
            async with asyncio.timeout(_ROOM_SECONDS):
                await self.rate.wait()
                weight = min(2 * size, self.limits.buffered_bytes // 4)
                while self.is_full or not self._memory.has_room(self.principal.name, weight):
                    await self.changed.wait(_RETRY_SECONDS)
        except TimeoutError:
            raise LocalProtocolError("expected fewer messages at once", code=acp.AcpError.NOT_CONNECTED) from None

    def _parse(self, text: str, complete: Complete) -> tuple[int, AcpEnvelope | acp.Refused]:
        weight = weight_of(text)
        if weight > self.limits.buffered_bytes // 4:
            return 0, acp.Refused(code=acp.AcpError.TOO_LARGE, reason="expected a message of fewer values")
        return weight, self.connection.read(text, complete)

    # "to_peer: Directed send target (multi-session)" (section 8); a server here passes nothing on to other peers.
    def _misdirected(self, envelope: AcpEnvelope | acp.Refused) -> acp.AcpEvent | None:
        """Return the refusal of a message for another agent; None: it is for ours."""
        if self._own_name is None or not isinstance(envelope, acp.AcpMessage):
            return None
        if envelope.to_peer in (None, self._own_name, self.name):
            return None
        reason = f"to_peer: expected {self._own_name!r}, found {envelope.to_peer!r:.100}; messages are not passed on"
        return acp.Refused(code=acp.AcpError.NOT_FOUND, reason=reason, correlation_id=envelope.message_id)

    def _resolve(self, event: acp.AcpEvent) -> None:
        """Give who awaits a reply what the peer says."""
        if isinstance(event, acp.Refused):
            self._warn(f"refused a message: {event.reason}")
        elif isinstance(event, acp.ReplyReceived) and (reply := self._awaiting(event.reply.correlation_id)):
            reply.set_result(event.reply.parts)
        elif isinstance(event, acp.ErrorReceived) and (reply := self._awaiting(event.correlation_id)):
            reason = event.reason or "the peer could not handle the message"
            reply.set_exception(RemoteProtocolError(reason, code=event.code, reply=None))

    def _awaiting(self, message_id: str | None) -> asyncio.Future[tuple[acp.Part, ...]] | None:
        reply = self._replies.get(message_id or "")
        return None if reply is None or reply.done() else reply

    def _warn(self, text: str) -> None:
        """Log a warning about the peer, if there were not too many."""
        if not self._told.take():
            _LOGGER.warning("%s: %s", self.name, text)

    async def _handle_all(self, handler: AcpHandler) -> None:
        while self._inbox:
            try:
                await self._handle(handler, self._inbox[0][0])
            except ProtocolError as error:
                self._warn(f"no reply: {error}")
            finally:
                if self._inbox:
                    self._taken()

    async def _handle(self, handler: AcpHandler, message: acp.AcpMessage) -> None:
        code, reason = "", "the agent failed to handle the message"
        try:
            content = await handler(message, self)
            parts = None if content is None else to_parts(content)
        except Exception:
            _LOGGER.exception("the agent failed to handle a message of %s", self.name)
            code = acp.AcpError.INTERNAL
        else:
            try:
                # "Links a reply to its original message" (section 8): replies to replies would have no end.
                if parts is not None and message.correlation_id in (None, message.message_id):
                    await self.reply(message, parts)
            except EncodeError as error:
                self._warn(f"no reply: {error}")
                code, reason = error.code, f"the agent's reply: {error.reason}"
        if code:
            await self._when_room(lambda now: self.connection.fail(message, code, reason))

    # --- connections --------------------------------------------------------------------------------------------------

    async def run(self, channel: Channel, first: str | None = None) -> ChannelClosed:
        """Exchange messages over a connection until it ends, and close it; return why it ended.

        Args:
            channel: The connection; one that was in use is closed.
            first: The first text of the peer, where it was read already.
        """
        before, self.channel = self.channel, channel
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
        except ChannelClosed as closed:
            return closed
        finally:
            for task in tasks:
                task.cancel()
            last_words = None
            if self.channel is channel:
                last_words = self.acknowledgement(at_once=True)
                self.channel = None
                self.connection.closed()
                self.changed.notify()
            await asyncio.gather(*tasks, return_exceptions=True)
            if last_words:
                with anyio.move_on_after(_RETRY_SECONDS, shield=True), contextlib.suppress(ChannelClosed):
                    await channel.send(last_words)
            await channel.aclose()

    def end(self, reason: str = "the session has ended") -> None:
        """End the session for good: nothing more is sent, and `messages` ends."""
        self._ended = True
        for future in self._replies.values():
            if not future.done():
                future.set_exception(RemoteProtocolError(reason, code=acp.AcpError.NOT_CONNECTED, reply=None))
        if self._worker is not None:
            self._worker.cancel()
        while self._inbox:
            self._taken()
        self.changed.notify()

    async def _read(self, channel: Channel, first: str | None) -> NoReturn:
        refusals = 0
        try:
            text = await channel.receive() if first is None else first
            while self.channel is channel:
                await self.rate.wait()
                event = await self.take(text)
                if isinstance(event, acp.Refused):
                    refusals += 1
                    await self._refuse(channel, event, last=refusals > _MAX_REFUSALS)
                if isinstance(event, acp.ErrorReceived) and event.code in FATAL_CODES:
                    raise ChannelClosed(event.reason or f"the peer refused us: {event.code}", code=event.code)
                text = await channel.receive()
        except EndOfInput:
            await self._drain()
            raise
        except DecodeError as error:
            with contextlib.suppress(ChannelClosed):
                await self._refuse(channel, acp.Refused(code=error.code, reason=error.reason), last=True)
            await channel.aclose(error.code)
            raise ChannelClosed(error.reason, code=error.code) from None
        raise ChannelClosed("another connection took over")

    async def _drain(self) -> None:
        """Wait until what the peer has said is answered and written; `agent_a | agent_b` ends its input first."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_REPLY_SECONDS):
                while self._handler and (self._inbox or self.connection.waiting(1)):
                    if not await self.changed.wait(_TAKEN_SECONDS) and self.connection.waiting(1):
                        return

    async def _write(self, channel: Channel, card: str) -> NoReturn:
        """Write our card and what waits, as long as the connection is that of the session."""
        await self._put(channel, card)
        while self.channel is channel:
            if not await self._write_waiting(channel) and not await self.changed.wait(IDLE_SECONDS):
                if acknowledgement := self.acknowledgement(at_once=True):
                    await self._put(channel, acknowledgement)
                elif not await self.changed.wait(KEEPALIVE_SECONDS):
                    await channel.keep_alive()
        raise ChannelClosed("another connection took over")

    async def _write_waiting(self, channel: Channel) -> bool:
        """Write what waits; return whether there was anything."""
        acknowledgement = self.acknowledgement()
        if acknowledgement is not None:
            await self._put(channel, acknowledgement)
        is_full = channel.window is not None and self.connection.log.in_flight >= channel.window
        waiting = [] if is_full else self.connection.waiting(_BATCH)
        for number, text in waiting:
            await self._put(channel, text)
            if self.channel is not channel:
                return True
            self.connection.mark_written(number)
        if waiting:
            self.changed.notify()
        return bool(waiting) or acknowledgement is not None

    async def _refuse(self, channel: Channel, refused: acp.Refused, *, last: bool) -> None:
        """Tell the peer that its text is refused; a text that is too large, or the last one of many, is the end.

        Raises:
            ChannelClosed: It is the end.
        """
        about: dict[str, Json] = {"correlation_id": refused.correlation_id[:200]} if refused.correlation_id else {}
        error = acp.ErrorMessage(code=refused.code, extra={"error": refused.reason, **about})
        await self._put(channel, acp.serialize_envelope(error))
        if last or refused.code == acp.AcpError.TOO_LARGE:
            raise ChannelClosed(refused.reason, code=refused.code)

    async def _put(self, channel: Channel, text: str) -> None:
        try:
            async with asyncio.timeout(self.limits.write_time):
                log_frame(Direction.SENT, "acp", text)
                await channel.send(text)
        except TimeoutError:
            raise ChannelClosed(f"the peer took nothing for {self.limits.write_time:g} seconds") from None


def _message(content: Content | acp.AcpMessage) -> acp.AcpMessage:
    return content if isinstance(content, acp.AcpMessage) else acp.AcpMessage(parts=to_parts(content))
