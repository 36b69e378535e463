"""The exchange with one peer, over one transport connection after the other, each of any binding.

    send, request ──► Connection (numbers, keeps) ──► writer ──► channel
    channel ──► reader ──► Connection (once, in order) ──► inbox ──► the agent, or who iterates

A connection that ends takes nothing with it: the next one begins with the cards, which say what each side has.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Final, TypeAlias, TypeVar

from accp_adapters.bindings.acp.sessions.channel import REPLACED, Channel, ChannelClosed, EndOfInput
from accp_adapters.bindings.acp.sessions.content import Content, to_message, to_parts
from accp_adapters.bindings.acp.sessions.kept import Kept, size_of_parts
from accp_adapters.bindings.acp.sessions.limits import DEFAULT_ACP_LIMITS, AcpLimits
from accp_adapters.bindings.acp.sessions.signal import Signal
from accp_adapters.bindings.acp.sessions.writing import Writer
from accp_adapters.bindings.clock import SteadyClock
from accp_adapters.bindings.identity import ANONYMOUS, Principal
from accp_adapters.serving.bodies import ByteBudget, ByteLease, weight_of
from accp_adapters.serving.rates import RateLimit
from accp_adapters.wire_log import log_frame
from accp_core.accp.debug import Direction
from accp_core.acp import (
    AcpError,
    AcpEvent,
    AcpMessage,
    AcpMessageReceived,
    AgentCard,
    Connection,
    DuplicateDropped,
    ErrorReceived,
    Part,
    Refused,
    ReplyReceived,
    SendResult,
)
from accp_core.errors import DecodeError, LocalProtocolError, ProtocolError, RemoteProtocolError

__all__ = ["FATAL_CODES", "AcpHandler", "AcpSession"]

_LOGGER: Final = logging.getLogger("accp.acp")
_RETRY_SECONDS: Final = 0.5
"""Between two looks for memory, which others may free."""

FATAL_CODES: Final = frozenset({"invalid_token", "duplicate_connection"})
"""Errors of a peer that end a connection."""

T = TypeVar("T")
E = TypeVar("E", bound=AcpEvent)
AcpHandler: TypeAlias = "Callable[[AcpMessage, AcpSession], Awaitable[Content | None]]"
"""Handles a message of the peer; what it returns is sent as the reply."""


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
        memory: ByteBudget | None = None,
        make_room: Callable[[AcpSession], bool] = lambda _: False,
    ) -> None:
        """Exchange messages for the agent of `card`.

        Args:
            card: The card of our agent.
            name: What the peer is called here; unique on a server.
            principal: Whom the transport has authenticated.
            handler: Handles messages one after the other; None: `messages` yields them.
            limits: What the peer may use.
            memory: The bytes of all sessions of the agent; None: those of this one.
            make_room: Ends another session of the principal that waits in vain; returns whether there was one.
        """
        self.name = name
        self.principal = principal
        self.limits = limits
        self.connection = Connection(
            card,
            new_id=lambda: secrets.token_hex(6),
            max_waiting=limits.window,
            limit=limits.message_bytes,
        )
        self.changed = Signal()
        """Notified when there is something to write, room to send, or another connection."""
        self._handler = handler
        self._worker: asyncio.Task[None] | None = None
        self._inbox: deque[tuple[AcpMessageReceived, int]] = deque()
        self._replies: dict[str, asyncio.Future[tuple[Part, ...]]] = {}
        self._memory: Final = memory or ByteBudget(limits.kept_bytes)
        self._make_room: Final = make_room
        self._log: Final = ByteLease(self._memory, principal.name)
        self._results: Final[Kept[asyncio.Future[tuple[Part, ...]]]] = self.keeping(limits.inbox)
        self.rate = RateLimit(limits.rate, 2 * limits.rate)
        """The messages that the peer may still send."""
        self._channel: Channel | None = None
        self._writer: Final = Writer(self.connection, limits, self.changed, lambda each: each is self._channel)
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

    async def send(self, content: Content | AcpMessage, *, wait: bool = True) -> SendResult:
        """Send a message, or keep it for the next connection; return its id and its server_seq.

        Args:
            content: A text, parts, or a message with fields of its own.
            wait: Whether to wait while the peer has not received the messages before.

        Raises:
            EncodeError: ERR_MSG_TOO_LARGE, ERR_INVALID_REQUEST: it is no message.
            LocalProtocolError: ERR_NOT_CONNECTED: the session has ended, or it would have to wait.
        """
        return await self._send(to_message(content), wait=wait)

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
                message_id = (await self._send(to_message(content), future=future)).message_id
                return await future
        except TimeoutError:
            reason = f"expected a reply within {seconds:g} seconds, found none"
            raise RemoteProtocolError(reason, code=AcpError.TIMEOUT, reply=None) from None
        finally:
            self._replies.pop(message_id, None)
            self.connection.forget(message_id)

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

    def reply(self, message: AcpMessage, content: Content) -> None:
        """Reply to a message that awaits it, see `messages`; raises as `Connection.reply`."""
        self.connection.reply(message, to_parts(content))
        self.changed.notify()

    async def run(self, channel: Channel, first: str | None = None) -> ChannelClosed:
        """Exchange messages over a connection until it ends, and close it; return why it ended.

        Args:
            channel: The connection; one that was in use is closed.
            first: The first text of the peer, where it was read already.
        """
        await self._take_over(channel)
        writing = self._writer.write_all(channel, self.connection.opened(self._clock()))
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
        self._log.resize(0)
        self._results.clear()
        self._memory.take(self.principal.name, -sum(weight for _, weight in self._inbox))
        self._inbox.clear()
        self.changed.notify()

    async def take(self, text: str) -> AcpEvent:
        """Take a text of the peer, and wait while its inbox is full; return what it was."""
        log_frame(Direction.RECEIVED, "acp", text)
        weight = await weight_of(text.encode("utf-8", "surrogatepass"))
        if weight > self.limits.kept_bytes // 4:
            return Refused(code=AcpError.TOO_LARGE, reason="expected a message of fewer values")
        while not self._memory.take(self.principal.name, weight):
            await self.changed.wait(_RETRY_SECONDS)
        event = self.take_event(self.connection.receive(text), weight)
        while self.is_full and not self._ended:
            await self.changed.wait()
        return event

    def take_message(self, message: AcpMessage, weight: int) -> AcpMessageReceived | DuplicateDropped:
        """Take a message that was read already, and takes `weight` bytes; ERR_NOT_CONNECTED: there is no memory."""
        if not self._memory.take(self.principal.name, weight):
            raise LocalProtocolError("expected fewer messages at once", code=AcpError.NOT_CONNECTED)
        return self.take_event(self.connection.receive_message(message), weight)

    @property
    def is_full(self) -> bool:
        """Whether too many messages of the peer wait for the agent."""
        return len(self._inbox) > self.limits.inbox

    def keeping(self, count: int) -> Kept[Any]:
        """Return a place for at most `count` things of the peer, whose bytes count as its own."""
        return Kept(self._memory, self.principal.name, count)

    def take_event(self, event: E, weight: int = 0) -> E:
        """Do what an event of the connection asks for; return it. `weight` bytes are held for it until it is done."""
        if isinstance(event, AcpMessageReceived):
            self._inbox.append((event, weight))
            self._work()
        else:
            self._memory.take(self.principal.name, -weight)
        match event:
            case ReplyReceived():
                self._resolve(event.reply.correlation_id, event.reply.parts)
            case ErrorReceived(correlation_id=str() as message_id):
                reason = event.reason or "the peer could not handle the message"
                self._resolve(message_id, RemoteProtocolError(reason, code=event.code, reply=None))
        self.changed.notify()
        return event

    def result_of(self, message_id: str) -> asyncio.Future[tuple[Part, ...]]:
        """Return what the handler will have returned for a message; its reply is then not sent to the peer."""
        if message_id not in self._results:
            future: asyncio.Future[tuple[Part, ...]] = asyncio.get_running_loop().create_future()
            future.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._results.put(message_id, future)
        return self._results[message_id]

    async def _send(
        self, message: AcpMessage, *, wait: bool = True, future: asyncio.Future[tuple[Part, ...]] | None = None
    ) -> SendResult:
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
                result = self._logged(send)
            except LocalProtocolError as error:
                if not wait or error.code != AcpError.NOT_CONNECTED:
                    raise
                await self.changed.wait(_RETRY_SECONDS)
                continue
            self.changed.notify()
            return result

    def _logged(self, send: Callable[[], T]) -> T:
        """Return what `send` returns, which adds a text to those that wait for the peer, if there is memory for it."""
        while not self._log.resize(4 * (self.connection.characters + self.limits.message_bytes)):
            if not self._make_room(self):
                raise LocalProtocolError("expected a peer that reads", code=AcpError.NOT_CONNECTED)
        try:
            return send()
        finally:
            self._log.resize(4 * self.connection.characters)  # of up to four bytes each

    async def _take_over(self, channel: Channel) -> None:
        before, self._channel = self._channel, channel
        if before is not None:
            self.connection.closed()
            self.changed.notify()
            await before.aclose(REPLACED)

    async def _leave(self, channel: Channel, tasks: list[asyncio.Task[ChannelClosed]]) -> None:
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
                    await self._writer.refuse(channel, event.code, event.reason, last=refusals > self.limits.refusals)
                if isinstance(event, ErrorReceived) and event.code in FATAL_CODES:
                    return ChannelClosed(event.reason or f"the peer refused us: {event.code}", code=event.code)
        except EndOfInput as end:
            await self._drain()
            return end
        except ChannelClosed as closed:
            return closed
        except DecodeError as error:
            await self._writer.refuse(channel, error.code, error.reason, last=False)
            await channel.aclose(error.code)
            return ChannelClosed(error.reason, code=error.code)
        return ChannelClosed("another connection took over")

    async def _drain(self) -> None:
        """Wait until what the peer has said is answered and written; `agent_a | agent_b` ends its input first."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.limits.reply_seconds):
                while self._handler and (self._inbox or self._is_handling or self.connection.waiting(1)):
                    await self.changed.wait()

    def _resolve(self, message_id: str, result: tuple[Part, ...] | Exception) -> None:
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
        except Exception:
            _LOGGER.exception("the agent failed to handle a message of %s", self.name)
            await self._fail(message, "the agent failed to handle the message")
            return
        parts = () if content is None else to_parts(content)
        result = self._open_result(message)
        if result is not None:
            result.set_result(parts)
            self._results.put(str(message.message_id), result, size_of_parts(parts))
        elif parts and received.awaits_reply:
            await self._when_room(lambda: self.connection.reply(message, parts))
        elif parts:
            await self._send(AcpMessage(parts=parts, role="agent", correlation_id=message.message_id))

    async def _fail(self, message: AcpMessage, reason: str) -> None:
        result = self._open_result(message)
        if result is not None:
            result.set_exception(RemoteProtocolError(reason, code=AcpError.INTERNAL, reply=None))
        else:
            await self._when_room(lambda: self.connection.fail(message, AcpError.INTERNAL, reason))

    def _open_result(self, message: AcpMessage) -> asyncio.Future[tuple[Part, ...]] | None:
        result = self._results.get(message.message_id or "")
        return None if result is None or result.done() else result
