"""The host of the sessions: frames in, frames out, and a handler for the requests (ACCP sections 3.7 and 11).

It knows no transport. One worker has a session at a time; a store, if there is one, keeps it for the next worker. Each
step is saved by compare-and-set before anybody sees what it led to. A worker that loads a session claims it: the next
step of the worker that had it is refused, and that worker forgets the session and ends its handlers. What was answered
is answered again; what was open runs again, with its msg_id as idempotency key.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final, Self, TypeAlias, TypeVar
from weakref import WeakValueDictionary

from accp_adapters.bindings.clock import SteadyClock
from accp_adapters.bindings.hosts import slot as slots
from accp_adapters.serving.limits import Shares, TooMany
from accp_adapters.serving.principals import Principal
from accp_adapters.serving.requests import OutOfReach
from accp_adapters.serving.threads import in_thread, off_loop, size_of
from accp_adapters.stores import SessionStore, embedded_store
from accp_adapters.tokens import o200k_base
from accp_core.accp.budget import DRAFT_LIMITS, PRACTICAL_LIMITS
from accp_core.accp.codec import Codec
from accp_core.accp.frame import Envelope, Message
from accp_core.accp.parser import frame_envelope
from accp_core.accp.profiles import error_message
from accp_core.accp.session.events import Event, RefsNeeded, SessionOptions, whole_seconds
from accp_core.accp.session.parts import Peer
from accp_core.accp.session.session import Session
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError, ProtocolError, WindowFull
from accp_core.ports import ColdStore
from accp_core.references import StoredText
from accp_core.strict_json import compact_json

__all__ = ["SessionHost"]

_LOG: Final = logging.getLogger(__name__)
_MAX_REASON_CHARS: Final = 200
_POLL: Final = 0.02
_IDLE_POLL: Final = 1.0
_ATTEMPTS: Final = 3
_LEAST: Final = 4_096
"""About the characters that a session takes without any text."""
_PROBE_SECONDS: Final = 3.0
"""Within which the store has to show that it can be written."""
_INTERNAL: Final = ProtocolError("internal error", code=ErrorCode.INTERNAL_ERROR)

T = TypeVar("T")
_Act: TypeAlias = Callable[[Session], Awaitable[list[str] | None]]
"""Does something to a session; returns the frames to send, None where nothing was done."""


class _TakenOver(Exception):
    """Another worker has the session now."""


class SessionHost:
    """Serves sessions of one agent.

    Use it as an asynchronous context manager, or call `aclose`.
    """

    def __init__(
        self,
        handler: slots.Handler,
        *,
        agent_id: str = "agent",
        store: SessionStore | None = None,
        codec: Codec | None = None,
        options: SessionOptions = slots.HOST_SESSION,
        limits: slots.HostLimits | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """Serve with `handler`; nothing is opened before the first frame.

        Args:
            handler: The application: answers requests and queries.
            agent_id: The agent that it is.
            store: Where sessions and their cold texts are kept; all workers need the same one. None: in this process.
            codec: Encodes and decodes; None: one that counts with `o200k_base`, with `PRACTICAL_LIMITS` for peers that
                resume, which are programs of this library, and the limits of Table 3 for others.
            options: Limits and times of a session.
            limits: Limits and times of the host.
            clock: Returns the time in seconds of the Unix epoch; None: a `SteadyClock`, which no change of the wall
                clock disturbs.
        """
        self.agent_id: Final = agent_id
        """The agent at our end of each session."""
        self.limits: Final = limits or slots.HostLimits()
        """Limits and times."""
        self._handler, self._store = handler, store
        self._texts: Final[ColdStore] = store or embedded_store()
        self._codec: Final = codec or Codec(counter=o200k_base(), limits=PRACTICAL_LIMITS)
        self._clock: Final = clock or SteadyClock()
        literal = (codec or replace(self._codec, limits=DRAFT_LIMITS)).literal()  # "SHOULD be split" (section 3.4)
        self._kind: Final = slots.SessionKind(agent_id, self._codec, literal, options, self.limits)
        self._handlers: Final = asyncio.Semaphore(self.limits.handlers)
        self._handlers_each: Final = WeakValueDictionary[str, asyncio.Semaphore]()
        self._slots: Final[dict[str, slots.Slot]] = {}
        self._sessions: Final = Shares(self.limits.sessions, self.limits.sessions_each)
        self._memory: Final = Shares(self.limits.characters, self.limits.characters_each)
        self._steps: Final[set[asyncio.Task[Any]]] = set()
        self._probe: asyncio.Future[None] | None = None

    async def __aenter__(self) -> Self:
        """Return itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close as `aclose`."""
        await self.aclose()

    async def aclose(self) -> None:
        """Stop all handlers; what has no answer runs again where its request comes again. The store stays open."""
        tasks = [task for slot in self._slots.values() for task in slot.tasks.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, *self._steps, return_exceptions=True)
        for slot in self._slots.values():
            self._forget(slot)

    async def check(self) -> None:
        """Return if the store can be reached, and takes what is written within seconds.

        Raises:
            OutOfReach: E3001, it cannot, or does not.
        """
        if self._store is None:
            return
        if self._probe is None or self._probe.done():  # whoever waits for a lock of the store cannot be called off
            self._probe = asyncio.ensure_future(_stored(_write, self._store))
        done, _ = await asyncio.wait([self._probe], timeout=_PROBE_SECONDS)
        if not done:
            raise OutOfReach(f"expected the store to write within {_PROBE_SECONDS} s")
        done.pop().result()

    # Frames that come alone, as over HTTP.

    async def frames(self, principal: Principal, text: str, *, resumes: bool = True) -> list[str]:
        """Take one frame; return the frames that answer it, all of them where it is a request (section 11.1).

        Args:
            principal: Whose frame it is.
            text: The frame. The same text again gets the same frames, and nothing is done again.
            resumes: Whether the peer has asked for that, and begins to count with 1. Else the first number may be any,
                and the same text again gets E3002, as section 3.7 has it.

        Raises:
            DecodeError: E1001 or E1004, the head of the frame cannot be read; no session is involved.
            ProtocolError: E1001, the session id has more than 64 characters; E5001, the sender is no agent of the
                principal's; E3001, there is no answer in time, the store is unreachable, or another worker has the
                session: send the same text again.
        """
        return [frame async for frame in self.stream(principal, text, resumes=resumes)]

    async def stream(self, principal: Principal, text: str, *, resumes: bool = True) -> AsyncIterator[str]:
        """Yield the frames of `frames`, each as soon as it is recorded (section 10.4).

        Raises:
            ProtocolError: as `frames`.
        """
        sender, envelope = await off_loop(len(text), self.head, principal, text)
        # Frames without a session id have a session of their principal and sender.
        name, mid = slots.name_of(principal, envelope.session_id, sender), envelope.msg_id or ""
        slot = await self._slot(name, envelope.session_id or sender, len(text))
        entry = await self._receive(slot, principal, mid, text, is_literal=not resumes)
        try:
            async for frame in self._follow(slot, mid, entry):
                yield frame
        finally:
            if slot.is_literal and entry.request is not None:  # its peer has left, and cannot come back
                with suppress(_TakenOver, ProtocolError):
                    await self._drop(slot, mid)

    def head(self, principal: Principal, text: str) -> tuple[str, Envelope]:
        """Return sender and metadata of a frame that may be of a session of `principal`.

        Raises:
            ProtocolError: E5001, it may not send in that name; E1001, the session id is too long.
        """
        sender, envelope = frame_envelope(text, limits=self._codec.grammar)
        slots.check_session_id(envelope.session_id or "")
        if not principal.may_send_as(sender):
            own = ", ".join(sorted(principal.agents or ()))
            reason = f"expected frames of {own!r}, as whom the token may speak, found {sender!r}: give this agent_id"
            raise ProtocolError(reason, code=ErrorCode.POLICY_DENIED)
        return sender, envelope

    def refusal(self, error: ProtocolError, text: str = "") -> str:
        """Return the error frame for a frame of no session, whose number is therefore 0 (section 3.6)."""
        mid = None
        with suppress(ProtocolError):
            mid = frame_envelope(text, limits=self._codec.grammar)[1].msg_id
        code = ErrorCode(error.code) if error.code in set(ErrorCode) else ErrorCode.INTERNAL_ERROR
        frame = self._codec.encode(error_message(self.agent_id, code, error.reason[:_MAX_REASON_CHARS])).frames[0]
        envelope = Envelope(
            msg_id=secrets.token_hex(6), sequence=0, timestamp=whole_seconds(self._clock()), correlation_id=mid
        )
        return self._codec.write(replace(frame, envelope=envelope))

    async def _receive(
        self, slot: slots.Slot, principal: Principal, mid: str, text: str, *, is_literal: bool
    ) -> slots.Received:
        """Take a frame; return what answers it, which grows as long as it is open."""
        digest = await off_loop(len(text), slots.digest_of, text)
        found = slots.Received(digest)

        async def receive(session: Session) -> list[str] | None:
            nonlocal found
            known = slot.received.get(mid)
            if known is not None and known.digest == digest and not is_literal:
                found = known
                return []  # saved, which tells whether another worker has gone on
            found = slots.Received(digest, size=len(text))
            if mid and known is None:
                slot.received[mid] = found
            slot.principal = slot.principal or principal.name
            peer = None if principal.agents is None else Peer(principal=principal.name, agents=principal.agents)
            events = await off_loop(len(text), partial(session.receive, text, self._now(slot), peer=peer))
            for event in await self._resolved(slot, session, events):
                slot.note(event, text, session)
            frames: list[str] = [*session.frames_to_send()]
            found.frames += frames
            return frames

        await self._step(slot, receive, is_literal=is_literal, attempts=_ATTEMPTS, size=len(text))
        return found

    async def _resolved(self, slot: slots.Slot, session: Session, events: list[Event]) -> list[Event]:
        """Return the events with those that follow once the texts of the cold store were read."""
        taken = list(events)
        while keys := [key for event in events if isinstance(event, RefsNeeded) for key in event.keys]:
            texts = {key: await _stored(self._texts.get, slot.name, key.key) for key in keys}
            size = sum(len(text or "") for text in texts.values())
            events = await off_loop(size, session.resolve, texts, self._now(slot))
            taken += events
        return taken

    async def _follow(self, slot: slots.Slot, mid: str, entry: slots.Received) -> AsyncIterator[str]:
        """Yield the frames that answer a received frame until it is answered."""
        sent, refused, clock = 0, len(entry.frames), asyncio.get_running_loop().time
        until = clock() + self.limits.answer_wait
        while True:
            while sent < len(entry.frames):  # each `yield` lets more frames be recorded
                sent += 1
                yield entry.frames[sent - 1]
            # A frame that comes again waits again: what names the missing one was recorded before.
            if not entry.is_open or (entry.number and sent > refused):
                return
            if clock() > until:
                raise ProtocolError("expected an answer in time", code=ErrorCode.TIMEOUT)
            await self._wait(slot)
            if slot.session is None:
                entry = await self._answer_elsewhere(slot, mid)
            else:
                entry = slot.received.get(mid) or entry

    async def _answer_elsewhere(self, slot: slots.Slot, mid: str) -> slots.Received:
        """Return the answer that another worker records, which has taken over the session.

        Raises:
            ProtocolError: E3001, it does not in time: the same frame again takes the session back.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(self.limits.takeover_wait if self._store else 0):
                while self._store is not None:
                    found = await _stored(self._store.load_session, slot.name)
                    if found and (entry := slots.whole_answer(found[1], mid)) is not None:
                        return entry
                    await asyncio.sleep(_POLL)
        raise ProtocolError("expected an answer, found that another worker has the session", code=ErrorCode.TIMEOUT)

    async def _wait(self, slot: slots.Slot) -> None:
        """Return after the next step of a session, or after some time; do what is due then."""
        timer = slot.session.get_timer() if slot.session else None
        due = _IDLE_POLL if timer is None else timer - self._now(slot)
        await slot.changed.wait(min(max(due, _POLL), _IDLE_POLL))
        if timer is None or timer > self._now(slot) or slot.session is None:
            return

        async def handle_timer(session: Session) -> list[str] | None:
            if (session.get_timer() or timer) > self._now(slot):
                return None
            for event in session.handle_timer(self._now(slot)):
                slot.note(event, "", session)
            frames = session.frames_to_send()
            for frame in frames:
                if entry := slot.received.get(frame.envelope.correlation_id or ""):
                    entry.frames.append(frame)
            return [*frames]

        with suppress(_TakenOver):
            await self._step(slot, handle_timer)

    # Connections, as over WebSocket.

    @asynccontextmanager
    async def attached(
        self, principal: Principal, session_id: str | None, *, number: int = 0, resumes: bool = True
    ) -> AsyncIterator[slots.Connection]:
        """Attach a connection to a session: it yields the frames to send on it (section 11.2).

        A session has one connection: an earlier one is ended, on another worker with its next step.

        Args:
            principal: Whom the connection is of.
            session_id: The session of this principal; None: one of this connection, whose frames do not name it.
            number: The sequence number of its first frame. A worker that was stopped for a while takes up connections
                that their client has given up; they have lower numbers than that which is open, and do not end it.
            resumes: As `frames`.

        Raises:
            ProtocolError: as `frames`.
        """
        slots.check_session_id(session_id or "")
        own_name = secrets.token_hex(6)
        slot = await self._slot(slots.name_of(principal, session_id, f"/{own_name}"), session_id or own_name)
        connection = slots.Connection(number, partial(self._take, principal, slot, not resumes))
        await self._step(slot, partial(self._connect, slot, connection), is_literal=not resumes, attempts=_ATTEMPTS)
        watch = asyncio.ensure_future(self._watch(slot))
        try:
            yield connection
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)
            if slot.connection is connection:
                slot.connection = None
                with suppress(ProtocolError, _TakenOver):
                    if session_id is None:  # nobody can name it again
                        self._sessions.remove(slots.owner_of(slot.name), slot.name)
                        await self._give_up(self._slots.pop(slot.name))
                    else:
                        await self._step(slot, partial(self._disconnect, slot))

    async def _connect(self, slot: slots.Slot, connection: slots.Connection, session: Session) -> list[str] | None:
        if connection.number < slot.connected:
            connection.end(is_replaced=True)
            return None
        if slot.connection is not None:
            slot.connection.end(is_replaced=True)
        slot.connection, slot.connected = connection, connection.number
        return [] if slot.is_literal else [*session.connected(self._now(slot))]

    async def _disconnect(self, slot: slots.Slot, session: Session) -> list[str] | None:
        # Another connection may have come while this step waited for its turn.
        if slot.is_literal or slot.connection is not None:
            return None
        session.disconnected(self._now(slot))
        return []

    async def _take(self, principal: Principal, slot: slots.Slot, is_literal: bool, text: str) -> None:
        """Take a frame of a connection."""
        envelope = Envelope()
        with suppress(DecodeError):  # the session refuses it, by an error frame with the next number
            _, envelope = await off_loop(len(text), self.head, principal, text)
        if envelope.session_id not in (None, slot.session_id):
            raise ProtocolError("expected a session of this principal", code=ErrorCode.POLICY_DENIED)
        self._weigh(slot.name, _LEAST + len(text) + slot.characters)
        await self._receive(slot, principal, envelope.msg_id or "", text, is_literal=is_literal)
        if slot.is_lost:
            raise ProtocolError("expected a session that can be resumed", code=ErrorCode.SEQUENCE_GAP)

    async def _watch(self, slot: slots.Slot) -> None:
        """Do what is due in a session that has a connection."""
        while True:
            try:
                await self._wait(slot)
            except ProtocolError as error:
                _LOG.warning("session %r: %s", slot.name, error)

    # Handlers.

    def _start_handlers(self, slot: slots.Slot) -> None:
        for mid, entry in slot.received.items():
            if entry.request is not None and mid not in slot.tasks:
                request = slots.Request(
                    agent=self.agent_id,
                    message=entry.request,
                    idempotency_key=mid,
                    session_id=slot.session_id,
                    principal=slot.principal,
                    runs=entry.runs,
                )
                task = asyncio.ensure_future(self._run(slot, mid, request))
                slot.tasks[mid] = task
                task.add_done_callback(partial(_finished, slot, mid))

    async def _run(self, slot: slots.Slot, mid: str, request: slots.Request) -> None:
        own = asyncio.Semaphore((self.limits.handlers + 3) // 4)
        async with self._handlers_each.setdefault(slots.owner_of(slot.name), own), self._handlers:
            failure: Exception
            try:
                async with asyncio.timeout(self.limits.handler_time):
                    # A task of its own: when it ends as cancelled while this one was not, the handler did that.
                    await asyncio.ensure_future(self._answer(slot, mid, request))
                return
            except _TakenOver:
                return
            except asyncio.CancelledError:
                if (task := asyncio.current_task()) and task.cancelling():
                    raise
                failure = RuntimeError("the handler ended as cancelled")
            except Exception as error:  # whatever a handler raises is the peer's answer
                failure = error
            cause = None if isinstance(failure, ProtocolError) else failure
            _LOG.warning("session %r: the handler of %r failed: %r", request.session_id, mid, failure, exc_info=cause)
            with suppress(_TakenOver):
                await self._fail(slot, mid, request, failure)

    async def _answer(self, slot: slots.Slot, mid: str, request: slots.Request) -> None:
        """Record the answers of a handler; those that an earlier run has recorded must come again."""
        number = 0
        try:
            async for message in slots.answers_of(self._handler, request):
                await self._record(slot, mid, message, number)
                number += 1
        except SystemExit as error:  # it would end the event loop
            raise RuntimeError(f"expected an answer, found {error!r:.100}") from error
        entry = slot.received.get(mid)
        if entry is not None and entry.request is not None:
            raise ProtocolError("the handler ended without an answer", code=ErrorCode.INTERNAL_ERROR)

    async def _fail(self, slot: slots.Slot, mid: str, request: slots.Request, failure: Exception) -> None:
        """Record a failure; one that cannot be carried is an internal error, and where not even that can, nothing."""
        for message in (slots.failure_of(request, failure), slots.failure_of(request, _INTERNAL)):
            try:
                await self._record(slot, mid, message)
                return
            except ProtocolError as error:
                _LOG.error("session %r: the failure of %r could not be recorded: %r", request.session_id, mid, error)
        await self._drop(slot, mid)

    async def _drop(self, slot: slots.Slot, mid: str) -> None:
        """End a request without an answer."""

        async def drop(_: Session) -> list[str]:
            if entry := slot.received.get(mid):
                entry.request = None
            return []

        await self._step(slot, drop)

    async def _record(self, slot: slots.Slot, mid: str, message: Message, number: int | None = None) -> None:
        """Record one message, as soon as the peer has room for it.

        Args:
            slot: The session.
            mid: The msg_id of the request.
            message: The message.
            number: Which answer of the request it is, from 0; None: its last one, whatever was sent before.

        Raises:
            _TakenOver: The request was cancelled or answered, or another worker has it.
            ProtocolError: The message cannot be sent.
        """
        size = size_of(message.payload)
        while True:
            try:
                await self._step(slot, partial(self._send, slot, mid, message, number, size), recording=mid, size=size)
                return
            except WindowFull:
                await self._wait(slot)

    async def _send(
        self, slot: slots.Slot, mid: str, message: Message, number: int | None, size: int, session: Session
    ) -> list[str] | None:
        entry = slot.received.get(mid)
        if entry is None or entry.request is None:
            raise _TakenOver
        digest = await off_loop(size, _content, message)
        if number is not None and number < len(entry.sent):
            if entry.sent[number] == digest:
                return None
            reason = "expected the chunks of the run before, which was cut off, found others"
            raise ProtocolError(reason, code=ErrorCode.INTERNAL_ERROR)
        send = partial(session.send_literal, tell=_LOG.warning) if slot.is_literal else session.send
        frames: list[str] = [*await off_loop(size, send, message, self._now(slot))]
        for event in session.handle_timer(self._now(slot)):  # those of our own frames
            slot.note(event, "", session)
        entry.frames += frames
        entry.sent.append(digest)
        return frames

    # Steps.

    async def _step(
        self,
        slot: slots.Slot,
        act: _Act,
        *,
        is_literal: bool = False,
        attempts: int = 0,
        recording: str | None = None,
        size: int = 0,
    ) -> None:
        """Do something to a session, save it, and then send what it led to; a cancelled caller cuts no step in two.

        Args:
            slot: The session.
            act: What is done; it raises `ProtocolError` where nothing has changed.
            is_literal: Whether a new session is that of a peer that does not resume.
            attempts: How often the session may be loaded again; 0: only a session that is here is used.
            recording: The request whose handler waits for this step.
            size: About how many characters the step handles.

        Raises:
            _TakenOver: Another worker has the session.
            ProtocolError: What `act` raises; E3001, the store is unreachable, or other workers are always faster.
        """
        task = asyncio.ensure_future(self._take_step(slot, act, is_literal, attempts, recording, size))
        self._steps.add(task)
        task.add_done_callback(self._steps.discard)
        # If nobody waits for the step any more, asyncio would log its failure as one that was never looked at.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        await asyncio.shield(task)

    async def _take_step(
        self, slot: slots.Slot, act: _Act, is_literal: bool, attempts: int, recording: str | None, size: int
    ) -> None:
        async with slot.lock:
            while True:
                is_loaded = slot.session is None
                if is_loaded and not attempts:
                    raise _TakenOver
                session = await self._load(slot, is_literal)
                slot.recording = recording
                try:
                    await self._act(slot, session, act, is_loaded, size)
                    return
                except _TakenOver:
                    if slot.session is not None:
                        raise
                    attempts -= 1
                    if not attempts:
                        reason = "expected this session here, found that other workers take it again and again"
                        raise ProtocolError(reason, code=ErrorCode.TIMEOUT) from None
                finally:
                    slot.recording = None

    async def _act(self, slot: slots.Slot, session: Session, act: _Act, is_loaded: bool, size: int) -> None:
        try:
            frames = await act(session)
            if slot.session is not session:
                raise _TakenOver
            if frames is not None:
                slot.close_answered(session)
            if frames is not None or is_loaded:
                await self._save(slot, session, size)
        except (OutOfReach, asyncio.CancelledError):
            if self._store is not None:  # the store knows what was saved
                slot.forget()
            raise
        if frames and slot.connection is not None:
            slot.connection.push(frames)
        with suppress(TooMany):
            self._weigh(slot.name, _LEAST + slot.characters)
        self._start_handlers(slot)
        slot.changed.notify()

    async def _load(self, slot: slots.Slot, is_literal: bool) -> Session:
        if slot.session is None:
            found = None if self._store is None else await _stored(self._store.load_session, slot.name)
            slot.version = found[0] if found else 0
            if found:
                await off_loop(len(found[1]), slot.restore, found[1], self._clock())
            else:
                slot.start(is_literal=is_literal)
        assert slot.session is not None
        return slot.session

    async def _save(self, slot: slots.Slot, session: Session, size: int) -> None:
        """Store the texts of a step and the session itself.

        Raises:
            _TakenOver: Another worker has saved it meanwhile.
            OutOfReach: It may have been saved or not.
        """
        texts, slot.to_store = [*slot.to_store, *session.texts_to_store()], []
        if self._store is None:
            size = sum(len(each.text) for each in texts)
            slot.kept += size
            await off_loop(size, self._put, slot.name, texts)
            return
        if texts:
            await _stored(self._put, slot.name, texts)
        data = await off_loop(size + slot.characters, slot.snapshot, session, self._now(slot))
        if not await _stored(self._store.save_session, slot.name, slot.version + 1, data):
            slot.forget()
            raise _TakenOver
        slot.version += 1

    def _put(self, name: str, texts: list[StoredText]) -> None:
        for each in texts:
            self._texts.put(name, each.key, each.text)

    def _now(self, slot: slots.Slot) -> int:
        """Return the time, which goes on from the last step where the worker that took it was ahead of our clock."""
        return whole_seconds(self._clock() + slot.ahead)

    # Slots.

    async def _slot(self, name: str, session_id: str, size: int = 0) -> slots.Slot:
        """Return the slot of a session, by what it and a frame of `size` take; other sessions give way where needed.

        Raises:
            TooMany: E2003, its principal has its share, and all of it is in use.
        """
        owner, slot = slots.owner_of(name), self._slots.get(name)
        for each in self._sessions.admit(owner, name, self._is_busy):
            await self._give_up(self._slots.pop(each))
        characters = _LEAST + size + (slot.characters if slot else 0)
        self._weigh(name, characters)
        if name not in self._slots:
            self._slots[name] = slots.Slot(name, session_id, self._kind)
        return self._slots[name]

    def _weigh(self, name: str, characters: int) -> None:
        for each in self._memory.admit(slots.owner_of(name), name, self._is_busy, size=characters):
            self._forget(self._slots[each])

    def _forget(self, slot: slots.Slot) -> None:
        slot.forget()
        if self._store is None:
            self._texts.purge(slot.name)

    async def _give_up(self, slot: slots.Slot) -> None:
        """Remove a session, unless another worker has gone on with it."""
        version = slot.version
        self._forget(slot)
        self._memory.remove(slots.owner_of(slot.name), slot.name)
        if self._store is not None:
            try:
                await _stored(self._store.delete_session, slot.name, version)
            except ProtocolError as error:
                _LOG.warning("the session %r was not removed: %s", slot.name, error)  # it ends by itself

    def _is_busy(self, name: str) -> bool:
        return name in self._slots and self._slots[name].is_busy


def _content(message: Message) -> str:
    """Return what two messages must have in common to be the same answer."""
    payload = {"is_final": False, **message.payload}
    return slots.digest_of(compact_json([message.intent, message.operation, payload], sort_keys=True, default=str))


def _finished(slot: slots.Slot, mid: str, task: asyncio.Task[None]) -> None:
    if slot.tasks.get(mid) is task:
        del slot.tasks[mid]
    if not task.cancelled() and (error := task.exception()) is not None:
        _LOG.error("the answer to %r could not be recorded", mid, exc_info=error)


def _write(store: SessionStore) -> None:
    """Write a session and delete it; no peer can have one of this name."""
    store.load_session("ready")
    store.save_session("ready", 1, "")
    store.delete_session("ready", 1)


async def _stored(work: Callable[..., T], *arguments: Any) -> T:
    """Return what a method of the store returns.

    Raises:
        OutOfReach: The store is out of reach, which is no fault of the peer whose frame waits for it.
        ProtocolError: E2003, the text is longer than the store takes; E2001, what is stored there is none.
    """
    try:
        return await in_thread(work, *arguments)
    except ProtocolError as error:
        if error.code in (ErrorCode.BUDGET_EXCEEDED, ErrorCode.REF_NOT_FOUND):
            raise
        raise OutOfReach(error.reason) from error
    except (OSError, sqlite3.Error) as error:
        raise OutOfReach(str(error)) from error
