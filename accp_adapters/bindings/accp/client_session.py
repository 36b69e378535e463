"""The client of a session: sends messages, receives answers, and survives lost connections (ACCP section 3.7)."""

from __future__ import annotations

import asyncio
import logging
import math
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Self, TypeAlias
from urllib.parse import urlsplit, urlunsplit

from accp_adapters.bindings.clock import SteadyClock
from accp_adapters.serving.principals import check_token
from accp_adapters.serving.threads import off_loop, size_of
from accp_core.accp.codec import Codec
from accp_core.accp.frame import Envelope, Intent, Message
from accp_core.accp.parser import frame_head
from accp_core.accp.profiles import read_error, reply_correlation
from accp_core.accp.session import events as session_events
from accp_core.accp.session.delivery import FrameText
from accp_core.accp.session.session import Session
from accp_core.bounded import BoundedDict
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError, LocalProtocolError, ProtocolError, WindowFull, WouldRound
from accp_core.ports import ColdStore

__all__ = [
    "FRAMES_PATH", "RESUME_FIELD", "WEBSOCKET_PATH", "Answers", "ClientSession", "ConnectionRefused",
    "PendingAnswer", "RequestFailed", "SessionLost", "TokenSource", "join_parts", "parse_address",
]  # fmt: skip


# What can go wrong for a client of ACCP over a network (ACCP section 10.4).


class SessionLost(ProtocolError):
    """The session is over: nothing else is sent or received in it."""


class ConnectionRefused(SessionLost):
    """The server does not let this client in, or cannot be reached; another attempt would end alike."""

    def __init__(self, reason: str, *, status: int | None = None, code: str = ErrorCode.POLICY_DENIED) -> None:
        """Refuse, and say why; `status` is that of the server's HTTP response."""
        super().__init__(reason, code=code)
        self.status: Final = status


class RequestFailed(ProtocolError):
    """The answer to a request is a failure, or there is none in time (E3001)."""

    def __init__(self, reason: str, *, code: str, message: Message | None = None) -> None:
        """Fail with the code of the answer."""
        super().__init__(reason, code=code)
        self.message: Final = message
        """The answer; None where there is none."""


_ANSWERING: Final = frozenset({Intent.COMPLETE, Intent.FAILURE, Intent.STREAM, Intent.END_STREAM, Intent.WAITING})
# The request that these errors name goes on.
_STILL_OPEN: Final = frozenset({ErrorCode.DUPLICATE, ErrorCode.SEQUENCE_GAP})


@dataclass(slots=True)
class PendingAnswer:
    """A request without a complete answer."""

    parts: asyncio.Queue[Message | ProtocolError | None] = field(default_factory=asyncio.Queue)
    """What was received of it; then None, or why there is no more."""
    closed: session_events.ExchangeClosed | None = None
    """How its exchange ended, while the last message was not reported."""


class Answers:
    """The requests that wait for an answer; a caller takes the parts of the answer as they arrive."""

    def __init__(self) -> None:
        """Start without requests."""
        self._pending: dict[str, PendingAnswer] = {}
        self.may_go_on = True
        """Whether a request goes on after E3002 and E3003, because what is missing is sent again."""

    def __len__(self) -> int:
        """Return the number of requests."""
        return len(self._pending)

    def expect(self, chain: str) -> PendingAnswer:
        """Expect the answer of a request that was sent; `chain` is the correlation_id of its frames."""
        self._pending[chain] = PendingAnswer()
        return self._pending[chain]

    def forget(self, chain: str) -> bool:
        """Stop to wait; return whether the answer was not complete."""
        return self._pending.pop(chain, None) is not None

    def only(self) -> str:
        """Return the correlation_id of the only request; "" where there is none, or another one."""
        return next(iter(self._pending)) if len(self._pending) == 1 else ""

    def take(self, events: Iterable[session_events.Event]) -> list[Message]:
        """Take what belongs to requests; return the other messages, in order."""
        others = [
            event.message
            for event in events
            if not self._take(event) and isinstance(event, session_events.MessageReceived)
        ]
        for chain, pending in list(self._pending.items()):
            if pending.closed is not None:
                self._end(chain, _failure(pending.closed))
        return others

    def fail(self, error: ProtocolError) -> None:
        """End all requests: the session is over."""
        for chain in list(self._pending):
            self._end(chain, error)

    def _take(self, event: session_events.Event) -> bool:
        if isinstance(event, session_events.MessageReceived):
            return self._take_message(event.message)
        if isinstance(event, session_events.FrameRefused):
            return self._take_refused(event)
        if not isinstance(
            event, session_events.StreamChunkReceived | session_events.StreamEnded | session_events.ExchangeClosed
        ):
            return False
        pending = self._pending.get(event.chain)
        if pending is None:
            return False
        if isinstance(event, session_events.StreamChunkReceived):
            pending.parts.put_nowait(event.message)
        elif isinstance(event, session_events.StreamEnded):
            self._end(event.chain, None)
        else:
            pending.closed = event
        return True

    # Nothing is sent again to us, or by us: without this the request would wait until its time is over.
    def _take_refused(self, event: session_events.FrameRefused) -> bool:
        if self.may_go_on or event.code not in _STILL_OPEN:
            return False
        chain = event.frame.envelope.correlation_id if event.frame else None
        for each in [chain] if chain in self._pending else list(self._pending):
            self._end(f"{each}", RequestFailed(event.reason, code=event.code))
        return True

    def _take_message(self, message: Message) -> bool:
        chain = reply_correlation(message.envelope) or ""
        pending, error = self._pending.get(chain), read_error(message)
        if pending is None:
            return False
        if self.may_go_on and error is not None and error.code in _STILL_OPEN:
            return True
        if message.intent is Intent.FAILURE:
            code, reason = (error.code, error.message) if error else (ErrorCode.INTERNAL_ERROR, "the request failed")
            self._end(chain, RequestFailed(reason, code=code, message=message))
            return True
        pending.parts.put_nowait(message)
        if pending.closed is not None:
            self._end(chain, None)
        return True

    def _end(self, chain: str, result: ProtocolError | None) -> None:
        pending = self._pending.pop(chain, None)
        if pending is not None:
            pending.parts.put_nowait(result)


def _failure(closed: session_events.ExchangeClosed) -> RequestFailed | None:
    """Return the failure of an exchange that ended without a last message; None for one that ended well."""
    if closed.cancelled:
        return RequestFailed("the request was cancelled", code=ErrorCode.TIMEOUT)
    return RequestFailed("expected an answer in time", code=closed.code) if closed.code else None


def join_parts(parts: list[Message]) -> Message:
    """Return the answer of which `parts` were received: the last one, or the chunks of a stream as one."""
    chunks = [part for part in parts if part.schema == "ST"]
    if not chunks or chunks[-1] is not parts[-1]:
        return parts[-1]
    data = [chunk.payload.get("data", "") for chunk in chunks]
    if len(data) > 1 and data[-1] == "":
        data.pop()
    is_text = all(isinstance(each, str) for each in data)
    joined = "".join(map(str, data)) if is_text else data
    payload = {"data": joined, "total_chunks": len(data), "is_final": True}
    return replace(parts[-1], intent=Intent.COMPLETE, payload=payload, schema=None, defaulted=frozenset())


# Where a client connects to, and what it may send there (ACCP sections 11.1 and 11.2).

# "Method: POST /accp/v1/frames" (section 11.1); the draft gives the WebSocket no path.
FRAMES_PATH: Final = "/accp/v1/frames"
WEBSOCKET_PATH: Final = "/accp/v1/ws"
RESUME_FIELD: Final = "accp-resume"
"""Our header field, of requests and answers: this end counts from 1, and knows a frame that comes again."""
_PATHS: Final = {"http": FRAMES_PATH, "https": FRAMES_PATH, "ws": WEBSOCKET_PATH, "wss": WEBSOCKET_PATH}

TokenSource: TypeAlias = str | Callable[[], str] | None
"""A bearer token, or what returns the one that is valid now."""


def parse_address(url: str, *, token: TokenSource, allow_plain_text: bool = False) -> str:
    """Return the whole URL for `url`; the draft's path is added where `url` does not end with it.

    Args:
        url: An http, https, ws or wss URL, such as "wss://agents.example" or "https://example.org/crm".
        token: What will be sent there.
        allow_plain_text: Whether a token may be sent to another machine without TLS.

    Raises:
        ValueError: It is another URL, it holds user info or a query, which stand in logs, or as `check_token`. The
            message shows neither.
    """
    parts = urlsplit(url)
    if parts.scheme not in _PATHS or not parts.hostname:
        raise ValueError(f"expected an http, https, ws or wss URL with a host, found the scheme {parts.scheme!r:.20}")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("expected a URL without user info, query and fragment; a token is an argument of its own")
    if token is not None:
        check_token(token() if callable(token) else token, url, allow_plain_text=allow_plain_text)
    suffix = _PATHS[parts.scheme]
    path = parts.path.rstrip("/")
    path = path if path.endswith(suffix) else path + suffix
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def token_fields(token: TokenSource) -> dict[str, str]:
    """Return the header field for a token."""
    current = token() if callable(token) else token
    return {"authorization": f"Bearer {current}"} if current else {}


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
        resuming: session_events.SessionOptions,
        agreed: Codec,
    ) -> None:
        """Start without a connection; `connect` does that.

        Args:
            new_session: Returns a session, which behaves as with a server that does not resume.
            store: Where cold texts are.
            resuming: How it behaves with a server that does.
            agreed: How it writes to such a server.
        """
        self._new_session: Final = new_session
        self._session = new_session()
        self._resuming, self._agreed = resuming, agreed
        self.resumes: bool | None = None
        """Whether the server resumes sessions; None before its first answer."""
        self._store: Final = store
        self._clock: Final = SteadyClock()
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
            while (part := await pending.parts.get()) is not None:
                if isinstance(part, ProtocolError):
                    raise part
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
        if message.sender not in ("", own := self._session.agent_id):
            reason = f"expected a message of {own!r}, the agent_id of this connection, found one of {message.sender!r}"
            raise LocalProtocolError(reason, code=ErrorCode.POLICY_DENIED)
        size, until = size_of(message.payload), self._clock() + (self._resuming.timeout or math.inf)
        while True:
            self.check()
            self._writable.clear()
            async with self._turn:
                if not self._is_crowded():
                    try:
                        with suppress(WindowFull):
                            return await self._send_now(message, size)
                    except WouldRound:  # it waits until the server has said what it reads
                        if self._clock() >= until:
                            raise
            await self._writable.wait()

    async def _send_now(self, message: Message, size: int) -> str:
        is_known = self.resumes is not False
        send = self._session.send if is_known else partial(self._session.send_literal, tell=_LOG.warning)
        frames = await off_loop(size, send, message, self._clock())
        events = self._session.handle_timer(self._clock())
        opened = next((event.chain for event in events if isinstance(event, session_events.ExchangeOpened)), "")
        self._queue(frames)
        await self._take([event for event in events if not isinstance(event, session_events.ExchangeOpened)])
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
            self._writable.set()
            if resumes:
                self._session.expect_numbers(self._resuming)
                self._session.encode_with(self._agree)

    def _agree(self, known: Codec) -> Codec:
        agreed = self._agreed
        return replace(known, limits=agreed.limits, ascii_only=agreed.ascii_only, decimal=agreed.decimal)

    # "Session established by the first sync:registry frame from the initiator" (section 11.2)
    async def connected(self) -> None:
        """Take a new connection: what the server misses is sent again; one that does not resume gets a new session."""
        async with self._turn:
            if self.resumes is False:
                reason = "expected a connection that lasts, as the server resumes no sessions; found that it was lost"
                self._answers.fail(RequestFailed(reason, code=ErrorCode.TIMEOUT))
                self._session, self._is_open, self.resumes = self._new_session(), False, None
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
            envelope = Envelope()
            with suppress(DecodeError):
                head = frame_head(text)
                envelope = head.envelope
                chain = answered or self._answers.only()
                # "cid ... SHOULD" (section 3.5): an answer without one is that of the only request that it can be of.
                if chain and not self.resumes and envelope.correlation_id is None and head.intent in _ANSWERING:
                    text = f"{text[:-1]},cid:{chain}]"
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
            if number <= self._session.received or any(isinstance(event, session_events.FrameHeld) for event in events):
                self._seen.put(mid, text)
            await self._take(events)

    async def tick(self) -> None:
        """Do what is due; to be called every second."""
        self._writable.set()
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

    async def _take(self, events: list[session_events.Event]) -> None:
        """Take the events of a step, with those that follow once the texts of the cold store are there."""
        taken = list(events)
        while needed := [key for event in events if isinstance(event, session_events.RefsNeeded) for key in event.keys]:
            texts = {key: self._store.get(key.session_id, key.key) for key in needed}
            size = sum(len(text or "") for text in texts.values())
            events = await off_loop(size, self._session.resolve, texts, self._clock())
            taken += events
        self._queue(self._session.frames_to_send())
        for message in self._answers.take(taken):
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

    def _note(self, event: session_events.Event) -> None:
        if isinstance(event, session_events.HeartbeatMissed):
            self.on_silence()
        elif isinstance(event, session_events.FrameRefused):
            _LOG.warning("session %s: a frame was refused: %s %s", self.session_id, event.code, event.reason)
        elif isinstance(event, session_events.ResumeImpossible):
            reason = f"expected to go on with frame {event.expected}, found {event.oldest} as the first that is kept"
            self.lose(SessionLost(reason, code=ErrorCode.SEQUENCE_GAP))

    def _queue(self, frames: list[FrameText]) -> None:
        """Queue frames; what they refer to is stored first."""
        for stored in self._session.texts_to_store():
            self._store.put(self.session_id, stored.key, stored.text)
        if frames:
            self._outgoing.extend(frames)
            self.has_outgoing.set()
