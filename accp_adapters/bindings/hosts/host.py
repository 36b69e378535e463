"""The host of the sessions: frames in, frames out, and a handler for the requests (ACCP sections 3.7 and 11).

It knows no transport. Any number of hosts, one in each worker, serve the same sessions where they share a log: any of
them may take any frame of any session.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, Final, Self

from accp_adapters.bindings.clock import SteadyClock
from accp_adapters.bindings.hosts.agreement import Agreement
from accp_adapters.bindings.hosts.attachment import Attachment
from accp_adapters.bindings.hosts.handling import Handling
from accp_adapters.bindings.hosts.incoming import digest_of
from accp_adapters.bindings.hosts.journal import Journal, SessionPlace
from accp_adapters.bindings.hosts.names import (
    attachment_name,
    check_session_id,
    connection_name,
    foreign_session,
    is_older,
    sender_name,
    session_name,
)
from accp_adapters.bindings.hosts.options import HOST_SESSION, HostLimits, SessionKind
from accp_adapters.bindings.hosts.replica import Replica
from accp_adapters.bindings.hosts.requests import Handler
from accp_adapters.bindings.hosts.steps import SessionStep, StepKind
from accp_adapters.bindings.hosts.workers import Worker, end_task
from accp_adapters.bindings.identity import Principal
from accp_adapters.bindings.logs import FrameLog, MemoryFrameLog
from accp_adapters.serving.off_loop import off_loop
from accp_adapters.stores import embedded_store
from accp_adapters.tokens import o200k_base
from accp_core.accp.codec import Codec
from accp_core.accp.frame import Envelope, Frame
from accp_core.accp.head import frame_head
from accp_core.accp.profiles import error_message
from accp_core.accp.session.delivery import SequenceScope
from accp_core.accp.session.options import SessionOptions, whole_seconds
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import ColdStore

__all__ = ["SessionHost"]

_LOG: Final = logging.getLogger(__name__)
_MAX_REASON_CHARS: Final = 200


class SessionHost:
    """Serves sessions of one agent.

    Use it as an asynchronous context manager, or call `aclose`.
    """

    def __init__(
        self,
        handler: Handler,
        *,
        agent_id: str = "agent",
        log: FrameLog | None = None,
        codec: Codec | None = None,
        options: SessionOptions = HOST_SESSION,
        sequence: SequenceScope | str = SequenceScope.RECOGNIZED,
        limits: HostLimits | None = None,
        store: ColdStore | None = None,
        secret: bytes = b"accp",
        clock: Callable[[], float] | None = None,
    ) -> None:
        """Serve with `handler`; nothing is opened before the first frame.

        Args:
            handler: The application: answers requests and queries.
            agent_id: The agent that it is.
            log: Where sessions are kept; None: in the memory of this process.
            codec: Encodes and decodes; None: one that counts with `o200k_base` and keeps to the limits of Table 3.
            options: Limits and times of a session.
            sequence: How peers count that have not said that they resume: "received", one count an end; "shared", one
                count a session; "recognized", as their first numbers show.
            limits: Limits and times of the host.
            store: Where the cold texts of the sessions are; all workers need the same one. None: in this process.
            secret: The key of the msg_ids that the host gives; the same in all workers.
            clock: Returns the time in seconds of the Unix epoch; None: a `SteadyClock`, which no change of the wall
                clock disturbs.
        """
        self.agent_id: Final = agent_id
        """The agent at our end of each session."""
        self.limits: Final = limits or HostLimits()
        """Limits and times."""
        self._log: Final = MemoryFrameLog() if log is None else log
        self._clock: Final = clock or SteadyClock()
        self._codec: Final = codec or Codec(counter=o200k_base())
        kind = SessionKind(
            agent=agent_id,
            codec=self._codec,
            options=options,
            secret=secret,
            answers=self.limits.answers,
            answer_characters=self.limits.answer_characters,
            store=store or embedded_store(),
            sequence=SequenceScope(sequence),
        )
        self._worker: Final = Worker(self._log, self.limits.lease)
        self._agreement: Final = Agreement(
            self._log, self.limits, worker=self._worker.name, agent=agent_id, secret=secret
        )
        self._journal: Final = Journal(self._log, kind, self.limits, self._worker.name)
        self._handling: Final = Handling(handler, self._journal, self.limits, self._worker.name, agent_id, self._clock)
        self._ticker: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Give the first sign of life.

        Raises:
            OtherWorkers: The log is that of workers with another agent_id or secret.
            ProtocolError: E3001, the log is unreachable.
        """
        await self._start()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close as `aclose`."""
        await self.aclose()

    async def aclose(self) -> None:
        """Stop all handlers; other workers take over what has no answer. The log stays open: it is the caller's."""
        if self._ticker is not None:
            await end_task(self._ticker)
        await self._handling.aclose()
        await self._journal.aclose()
        await self._worker.stop()

    async def frames(self, principal: Principal, text: str, *, resumes: bool = True) -> list[str]:
        """Take one frame; return the frames that answer it, all of them where it is a request (section 11.1).

        Args:
            principal: Whose frame it is.
            text: The frame. The same text again gets the same frames, and nothing is done again.
            resumes: Whether the peer has asked for that, and begins to count with 1. Else the first number may be any,
                and the same text again gets E3002, as section 3.7 has it.

        Raises:
            DecodeError: E1001, E1002 or E1004, the head of the frame cannot be read; no session is involved.
            ProtocolError: E1001, the session id has more than 64 characters; E5001, the sender is no agent of the
                principal's; E3001, there is no answer in time, the store is unreachable, or another worker holds the
                session: send the same text again.
        """
        return [frame async for frame in self.stream(principal, text, resumes=resumes)]

    async def stream(self, principal: Principal, text: str, *, resumes: bool = True) -> AsyncIterator[str]:
        """Yield the frames of `frames`, each as soon as it is recorded (section 10.4).

        Raises:
            ProtocolError: as `frames`.
        """
        await self._start()
        head = await off_loop(len(text), self.head, principal, text)
        place = self._place(principal, head)
        msg_id = head.envelope.msg_id or ""
        repeated = False

        def received(replica: Replica) -> SessionStep | None:
            nonlocal repeated
            repeated = not resumes and _is_known(replica, msg_id, text)
            return self._received(principal, msg_id, text, not resumes, replica)

        answered = await self._journal.commit(place, received, size=len(text))
        replica = place.replica or await self._journal.refresh(place)
        if not repeated and await off_loop(len(text), _is_known, replica, msg_id, text):
            async for frame in self._follow(place, msg_id):
                yield frame
        else:
            for frame in answered or ():
                yield frame

    @asynccontextmanager
    async def attached(
        self, principal: Principal, session_id: str | None, *, number: int = 0, resumes: bool = True
    ) -> AsyncIterator[Attachment]:
        """Attach a connection to a session: it yields the frames to send on it (section 11.2).

        A session has one connection: an earlier one is ended, on whichever worker it is.

        Args:
            principal: Whom the connection is of.
            session_id: The session of this principal; None: one of this connection, whose frames do not name it.
            number: The sequence number of its first frame. A worker that was stopped for a while takes up connections
                that their client has given up; they have lower numbers than that which is open, and do not end it.
            resumes: As `frames`.

        Raises:
            ProtocolError: as `frames`.
        """
        check_session_id(session_id or "")
        await self._start()
        name = attachment_name(self._worker.name, number)
        place = self._journal.place(
            connection_name(principal, name) if session_id is None else session_name(principal, session_id),
            name if session_id is None else session_id,
        )
        attachment = Attachment(name, partial(self._take, principal, place, not resumes))
        place.listeners.add(attachment.listen)
        watch = asyncio.ensure_future(self._watch(place))
        try:
            connected = partial(self._connected, principal, attachment.name, not resumes)
            if await self._journal.commit(place, connected) is None:
                attachment.end(is_replaced=True)
            yield attachment
        finally:
            place.listeners.discard(attachment.listen)
            await end_task(watch)
            with suppress(ProtocolError):
                await self._journal.commit(place, partial(self._disconnected, attachment.name))

    def head(self, principal: Principal, text: str) -> Frame:
        """Return the head of a frame that may be of a session of `principal`.

        Raises:
            ProtocolError: E5001, it may not send in that name; E1001, the session id is too long.
        """
        head = frame_head(text, limits=self._codec.grammar)
        check_session_id(head.envelope.session_id or "")
        if not principal.may_send_as(head.sender):
            raise foreign_session()
        return head

    async def check(self) -> None:
        """Return if the log can be reached.

        Raises:
            ProtocolError: E3001, it cannot.
        """
        await self._log.snapshot("w/ready")

    def refusal(self, error: ProtocolError, text: str = "") -> str:
        """Return the error frame for a frame that no session has taken; its sequence number is 0 (section 3.6)."""
        mid = None
        with suppress(ProtocolError):
            mid = frame_head(text, limits=self._codec.grammar).envelope.msg_id
        code = ErrorCode(error.code) if error.code in set(ErrorCode) else ErrorCode.INTERNAL_ERROR
        frame = self._codec.encode(error_message(self.agent_id, code, error.reason[:_MAX_REASON_CHARS])).frames[0]
        envelope = Envelope(
            msg_id=secrets.token_hex(6), sequence=0, timestamp=whole_seconds(self._clock()), correlation_id=mid
        )
        return self._codec.write(replace(frame, envelope=envelope))

    async def _start(self) -> None:
        if self._ticker is None:
            self._codec.counter("")  # a vocabulary may take seconds to load, which no lease should wait for
            await self._agreement.check()
        await self._worker.start()
        if self._ticker is None:
            self._ticker = asyncio.ensure_future(self._tick())

    async def _tick(self) -> None:
        """Give signs of life, and see which requests other workers have taken over."""
        clock = asyncio.get_running_loop().time
        written = clock()
        while True:
            await asyncio.sleep(self.limits.lease / 3)
            if clock() - written > self.limits.snapshot_age:
                written = clock()
                with _warned():
                    await self._agreement.refresh()
            with _warned():
                await self._worker.sign()
            for place in self._handling.places():
                with _warned():
                    await self._journal.refresh(place)

    def _place(self, principal: Principal, head: Frame) -> SessionPlace:
        """Return the place of a frame's session; frames without a session id have one of their principal and sender."""
        session_id = head.envelope.session_id
        if session_id is not None:
            return self._journal.place(session_name(principal, session_id), session_id)
        return self._journal.place(sender_name(principal, head.sender), head.sender)

    def _received(
        self, principal: Principal, msg_id: str, text: str, literal: bool, replica: Replica
    ) -> SessionStep | None:
        """Return the step that takes a frame, None for one that was taken and whose peer resumes."""
        if not literal and _is_known(replica, msg_id, text):
            return None
        return self._step(replica, StepKind.RECEIVE, principal, name=msg_id, text=text, literal=literal)

    def _connected(self, principal: Principal, name: str, literal: bool, replica: Replica) -> SessionStep | None:
        """Return the step that takes a connection, None for one that is older than that of the session."""
        if is_older(name, replica.connection):
            return None
        return self._step(replica, StepKind.CONNECT, principal, name=name, literal=literal)

    def _disconnected(self, name: str, replica: Replica) -> SessionStep | None:
        return self._step(replica, StepKind.DISCONNECT, name=name) if replica.connection == name else None

    def _timed(self, replica: Replica) -> SessionStep | None:
        """Return the step for a time that was reached."""
        timer = replica.session.get_timer()
        return None if timer is None or timer > replica.time(self._clock()) else self._step(replica, StepKind.TIMER)

    def _step(
        self, replica: Replica, kind: StepKind, principal: Principal | None = None, **details: Any
    ) -> SessionStep:
        return SessionStep(
            kind=kind,
            now=whole_seconds(replica.time(self._clock())),
            worker=self._worker.name,
            principal=principal.name if principal else "",
            agents=tuple(sorted(principal.agents)) if principal and principal.agents is not None else None,
            **details,
        )

    async def _take(self, principal: Principal, place: SessionPlace, literal: bool, text: str) -> None:
        """Take a frame of a connection."""
        head = await off_loop(len(text), self.head, principal, text)
        if head.envelope.session_id not in (None, place.session_id):
            raise foreign_session()
        decide = partial(self._received, principal, head.envelope.msg_id or "", text, literal)
        await self._journal.commit(place, decide, size=len(text))
        if place.replica is not None and place.replica.is_lost:
            raise ProtocolError("expected a session that can be resumed", code=ErrorCode.SEQUENCE_GAP)

    async def _follow(self, place: SessionPlace, msg_id: str) -> AsyncIterator[str]:
        """Yield the frames that answer a received frame until it is answered."""
        sent, refused, clock, entry = 0, -1, asyncio.get_running_loop().time, None
        until = clock() + self.limits.answer_wait
        while True:
            # An answer that other ones have displaced meanwhile is still in the entry that was found before.
            entry = (place.replica or await self._journal.refresh(place)).find(msg_id) or entry
            # A frame that comes again waits again: what names the missing one was recorded before.
            refused = len(entry.frames) if entry and refused < 0 else refused
            while entry is not None and sent < len(entry.frames):  # each `yield` lets more frames be recorded
                sent += 1
                yield entry.frames[sent - 1]
            if entry is None or not entry.is_open or (entry.is_held and sent > refused):
                return
            if clock() > until:
                raise ProtocolError("expected an answer in time", code=ErrorCode.TIMEOUT)
            await self._await_step(place)

    async def _watch(self, place: SessionPlace) -> None:
        """Follow a session that has a connection: steps of other workers, and times that are reached."""
        while True:
            try:
                await self._await_step(place)
            except ProtocolError as error:
                _LOG.warning("the log of the sessions is out of reach: %s", error)
                await asyncio.sleep(self.limits.lease / 3)

    async def _await_step(self, place: SessionPlace) -> None:
        """Return after the next step of a session, taken by any worker, or after some time."""
        replica = place.replica or await self._journal.refresh(place)
        others = {entry.worker for entry in replica.open.values() if entry.request} - {self._worker.name}
        waits_for_others = bool(others) or any(entry.is_held for entry in replica.open.values())
        timer = replica.session.get_timer()
        for other in others:
            if await self._worker.is_gone(other):
                await self._journal.commit(place, partial(self._handling.taken_over, other))
        due = self.limits.idle_poll if timer is None else max(0.0, timer - replica.time(self._clock()))
        pause = self.limits.poll if waits_for_others else max(due, self.limits.poll)
        if not await place.wait(min(pause, self.limits.idle_poll)):
            await self._journal.refresh(place)
        if timer is not None and timer <= replica.time(self._clock()):
            await self._journal.commit(place, self._timed)


@contextmanager
def _warned() -> Iterator[None]:
    """Log that the log of the sessions is out of reach, and go on."""
    try:
        yield
    except ProtocolError as error:
        _LOG.warning("the log of the sessions is out of reach: %s", error)


def _is_known(replica: Replica, msg_id: str, text: str) -> bool:
    """Return whether exactly this frame was received before."""
    entry = replica.find(msg_id)
    return entry is not None and entry.digest == digest_of(text)
