"""The client of a session: sends messages, receives answers, and survives lost connections (ACCP section 3.7)."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Final, Self

from accp_adapters.bindings.accp.answers import Answers, RequestFailed, SessionLost, join_parts
from accp_adapters.bindings.clock import SteadyClock
from accp_adapters.serving.threads import off_loop, size_of
from accp_core.accp.codec import Codec
from accp_core.accp.frame import Envelope, Intent, Message
from accp_core.accp.parser import frame_head
from accp_core.accp.session.delivery import FrameText
from accp_core.accp.session.events import (
    Event,
    ExchangeOpened,
    FrameHeld,
    FrameRefused,
    HeartbeatMissed,
    RefsNeeded,
    ResumeImpossible,
    SessionOptions,
    Writable,
)
from accp_core.accp.session.session import Session
from accp_core.bounded import BoundedDict
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError, ProtocolError, WindowFull
from accp_core.ports import ColdStore

__all__ = ["ClientSession"]

_LOG: Final = logging.getLogger(__name__)
_MAX_MESSAGES: Final = 1_024
_SEEN: Final = 512
"""Received frames that are remembered: those of the answers that may be asked for again."""


class ClientSession:
    """One session, as `async with connect(...)` gives it.

    Its methods are called from one event loop. What was sent arrives once and in order; where that becomes impossible,
    every method raises `SessionLost`, with the code E3003 where the server does not keep what is missing.
    """

    def __init__(
        self,
        new_session: Callable[[], Session],
        store: ColdStore,
        resuming: SessionOptions,
        agreed: Codec | None = None,
        *,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """Start without a connection; `connect` does that.

        Args:
            new_session: Returns a session, which behaves as with a server that does not resume.
            store: Where cold texts are.
            resuming: How it behaves with a server that does.
            agreed: How it writes to such a server; None: as before.
            clock: The time; None: a `SteadyClock`.
        """
        self._new_session: Final = new_session
        self._session = new_session()
        self._resuming, self._agreed = resuming, agreed
        self.resumes: bool | None = None
        """Whether the server resumes sessions; None before its first answer."""
        self._store: Final = store
        self._clock: Final = clock or SteadyClock()
        self._is_open = False
        self._answers: Final = Answers()
        self._messages: Final[asyncio.Queue[Message | None]] = asyncio.Queue(_MAX_MESSAGES + 1)
        self._lost: ProtocolError | None = None
        self._writable: Final = asyncio.Event()
        self._seen: Final[BoundedDict[str, str]] = BoundedDict(_SEEN)
        self._turn: Final = asyncio.Lock()
        """Held while the session is used: a thread may work on a long frame."""
        self._outgoing: Final[deque[FrameText]] = deque()
        self.has_outgoing: Final = asyncio.Event()
        """Whether `take_outgoing` returns something."""
        self.max_outgoing: int | None = None
        """Frames that may wait to be sent, where no window bounds them; then senders wait."""
        self.posted: int | None = None
        """Frames that were sent and whose own answer is not complete; None: no frame has an answer of its own."""
        self.on_silence: Callable[[], None] = lambda: None
        """Called when nothing was received for two heartbeats."""

    @property
    def session_id(self) -> str:
        """The id of the session."""
        return self._session.session_id

    @property
    def codec(self) -> Codec:
        """The codec, with the schemas that are known now."""
        return self._session.codec

    async def send(self, message: Message) -> None:
        """Send a message, as soon as the window has room for it; no answer is waited for.

        Raises:
            SessionLost: The session is over.
            ProtocolError: As `Session.send`; nothing was sent.
        """
        await self._send(message)

    async def request(self, message: Message) -> Message:
        """Send a request and return its answer; the chunks of a stream are joined.

        Raises:
            RequestFailed: The answer is a failure, or none came in time (E3001).
            SessionLost: The session is over.
            ProtocolError: As `Session.send`; nothing was sent.
        """
        async with aclosing(self.stream(message)) as parts:
            return join_parts([part async for part in parts])

    async def stream(self, message: Message) -> AsyncGenerator[Message, None]:
        """Send a request and yield its answer part by part, as it arrives.

        A caller that stops early cancels the request.

        Raises:
            RequestFailed, SessionLost, ProtocolError: As `request`.
        """
        chain = await self._send(message)
        pending = self._answers.expect(chain)
        try:
            while (part := await pending.next_part()) is not None:
                yield part
        finally:
            if self._answers.forget(chain) and self._lost is None:
                await self._cancel(chain)

    def __aiter__(self) -> Self:
        """Return itself: it yields the messages that answer no request of ours."""
        return self

    async def __anext__(self) -> Message:
        """Return the next message that answers no request; the iteration ends when the session is closed.

        Raises:
            SessionLost: The session is over for another reason.
        """
        message = await self._messages.get()
        if message is not None:
            return message
        self._messages.put_nowait(None)
        if isinstance(self._lost, SessionLost):
            raise self._lost
        raise StopAsyncIteration

    async def _send(self, message: Message) -> str:
        """Send a message; return the correlation_id of what answers it, "" where nothing will."""
        size = size_of(message.payload)
        while True:
            self.check()
            self._writable.clear()
            async with self._turn:
                if not self._is_crowded():
                    with suppress(WindowFull):
                        return await self._send_now(message, size)
            await self._writable.wait()

    async def _send_now(self, message: Message, size: int) -> str:
        frames = await off_loop(size, self._session.send, message, self._clock())
        events = self._session.handle_timer(self._clock())
        opened = next((event.chain for event in events if isinstance(event, ExchangeOpened)), "")
        self._queue(frames)
        await self._take([event for event in events if not isinstance(event, ExchangeOpened)])
        return opened

    # "Frames MUST be processed in ascending "seq" order" (section 3.7): a server that has not said that it puts frames
    # in order, or counts for both ends, gets the next frame when it has answered the one before.
    def _is_crowded(self) -> bool:
        """Return whether a message has to wait: for its turn, or for room."""
        is_full = self.max_outgoing is not None and len(self._outgoing) >= self.max_outgoing
        waits_for_posts = self.posted is not None and not self.resumes and bool(self.posted or self._outgoing)
        waits_for_answers = self._session.is_shared and len(self._answers) + len(self._outgoing) > 0
        return is_full or waits_for_posts or waits_for_answers

    def count_posted(self, change: int) -> None:
        """Count a frame as sent, or as answered."""
        self.posted = (self.posted or 0) + change
        self._writable.set()

    async def _cancel(self, chain: str) -> None:
        message = Message(sender="", intent=Intent.CANCEL, operation="request", envelope=Envelope(correlation_id=chain))
        async with self._turn:
            with suppress(ProtocolError):
                self._queue(self._session.send(message, self._clock()))

    def check(self) -> None:
        """Return if the session is open, else raise why it is not."""
        if self._lost is not None:
            raise self._lost

    # What follows is for the carrier of the frames.

    async def open(self) -> None:
        """Announce the registry, where no connection does that."""
        async with self._turn:
            self._open()

    def _open(self) -> None:
        if not self._is_open:
            self._is_open = True
            self._queue(self._session.open(self._clock()))

    def meet(self, resumes: bool) -> None:
        """Take from the server's first answer whether it resumes sessions."""
        if self.resumes is None:
            self.resumes = self._answers.may_go_on = resumes
            if resumes:
                self._session.expect_numbers(self._resuming)
                self._session.encode_with(self._agree)

    def _agree(self, known: Codec) -> Codec:
        if (agreed := self._agreed) is None:
            return known
        return replace(known, limits=agreed.limits, ascii_only=agreed.ascii_only, decimal=agreed.decimal)

    # "Session established by the first sync:registry frame from the initiator" (section 11.2)
    def _begin_again(self) -> None:
        """Begin another session, as the server has not said that it resumes one."""
        reason = "expected the connection to last, as the server does not resume sessions; found that it was lost"
        self._answers.fail(RequestFailed(reason, code=ErrorCode.TIMEOUT))
        self._session, self._is_open, self.resumes = self._new_session(), False, None

    async def connected(self) -> None:
        """Take a new connection: what the server misses is sent again."""
        async with self._turn:
            if self.resumes is False:
                self._begin_again()
            self._outgoing.clear()
            self._queue(self._session.connected(self._clock()))
            self._open()

    async def disconnected(self) -> None:
        """Take the loss of the connection: frames wait for the next one."""
        async with self._turn:
            self._outgoing.clear()
            self._session.disconnected(self._clock())

    async def receive(self, text: str, *, answered: str = "") -> None:
        """Take a received frame, once: what was asked for again comes with what was received before.

        `answered` is the correlation_id of the request that it answers where it names none.
        """
        async with self._turn:
            await self._receive(text, answered)

    async def _receive(self, text: str, answered: str) -> None:
        try:
            envelope = frame_head(text).envelope
        except DecodeError:
            envelope = Envelope()
        mid, number = envelope.msg_id or "", envelope.sequence or 0
        if self._seen.get(mid) == text:
            return
        expected = self._session.received + 1
        if self.resumes and 0 < number < expected:
            reason = f"expected frame {expected} of a session that goes on, found {number} of a new one"
            self.lose(SessionLost(reason, code=ErrorCode.SEQUENCE_GAP))
            return
        events = await off_loop(len(text), self._session.receive, text, self._clock())
        # A frame that came too early and was not held is sent again.
        if number <= self._session.received or any(isinstance(event, FrameHeld) for event in events):
            self._seen.put(mid, text)
        await self._take(events, answered)

    async def tick(self) -> None:
        """Do what is due; to be called every second."""
        async with self._turn:
            timer = self._session.get_timer()
            if timer is not None and timer <= self._clock():
                await self._take(self._session.handle_timer(self._clock()))

    def take_outgoing(self) -> list[FrameText]:
        """Return the frames to send now, each once."""
        frames = list(self._outgoing)
        self._outgoing.clear()
        self.has_outgoing.clear()
        self._writable.set()
        return frames

    def lose(self, error: ProtocolError | None) -> None:
        """End the session: by its user for None, else for the reason that everybody who waits is told."""
        if self._lost is not None:
            return
        self._lost = error or ProtocolError("expected an open session, found a closed one", code=ErrorCode.TIMEOUT)
        self._answers.fail(self._lost)
        self._writable.set()
        self.has_outgoing.set()
        if self._messages.full():
            self._messages.get_nowait()
        self._messages.put_nowait(None)

    @property
    def is_lost(self) -> bool:
        """Whether the session is over."""
        return self._lost is not None

    async def _take(self, events: list[Event], answered: str = "") -> None:
        """Take the events of a step, with those that follow once the texts of the cold store are there."""
        taken = list(events)
        while needed := [key for event in events if isinstance(event, RefsNeeded) for key in event.keys]:
            texts = {key: self._store.get(key.session_id, key.key) for key in needed}
            size = sum(len(text or "") for text in texts.values())
            events = await off_loop(size, self._session.resolve, texts, self._clock())
            taken += events
        self._queue(self._session.frames_to_send())
        for message in self._answers.take(taken, answered):
            self._deliver(message)
        self._writable.set()
        for event in taken:
            self._note(event)

    def _deliver(self, message: Message) -> None:
        if self._messages.qsize() >= _MAX_MESSAGES:
            reason = f"expected `async for` to take the messages: {_MAX_MESSAGES} wait"
            self.lose(SessionLost(reason, code=ErrorCode.BUDGET_EXCEEDED))
        elif self._lost is None:
            self._messages.put_nowait(message)

    def _note(self, event: Event) -> None:
        if isinstance(event, Writable):
            self._writable.set()
        elif isinstance(event, HeartbeatMissed):
            self.on_silence()
        elif isinstance(event, FrameRefused):
            _LOG.warning("session %s: a frame was refused: %s %s", self.session_id, event.code, event.reason)
        elif isinstance(event, ResumeImpossible):
            reason = f"expected to go on with frame {event.expected}, found {event.oldest} as the first that is kept"
            self.lose(SessionLost(reason, code=ErrorCode.SEQUENCE_GAP))

    def _queue(self, frames: list[FrameText]) -> None:
        """Queue frames; what they refer to is stored first."""
        for stored in self._session.texts_to_store():
            self._store.put(self.session_id, stored.key, stored.text)
        if frames:
            self._outgoing.extend(frames)
            self.has_outgoing.set()
