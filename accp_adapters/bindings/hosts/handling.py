"""The handlers that a worker runs, and how their answers get into the log.

An answer counts only while its request is open and this worker's: one that another worker has taken over meanwhile, or
that the peer has cancelled, is dropped. So each request has one recorded answer, however often its handler ran.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias

from accp_adapters.bindings.hosts.journal import Journal, SessionPlace
from accp_adapters.bindings.hosts.options import HostLimits
from accp_adapters.bindings.hosts.replica import Replica
from accp_adapters.bindings.hosts.requests import Handler, Request, answers_of, failure_of
from accp_adapters.bindings.hosts.steps import SessionStep, StepKind
from accp_adapters.serving.off_loop import size_of
from accp_core.accp.message import Message
from accp_core.accp.session.options import whole_seconds
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError, WindowFull
from accp_core.strict_json import compact_json

__all__ = ["Handling"]

_INTERNAL: Final = ProtocolError("internal error", code=ErrorCode.INTERNAL_ERROR)

_Recorded: TypeAlias = tuple[int, list[object]]

_LOG: Final = logging.getLogger(__name__)


def _content(message: Message) -> object:
    """Return what two messages must have in common to be the same answer."""
    payload = {"is_final": False, **message.payload}
    return message.intent, message.operation, compact_json(payload, sort_keys=True, default=str)


def _recorded(replica: Replica, mid: str) -> _Recorded:
    """Return how many answers of a request an earlier run has recorded, and which, where that is known."""
    entry = replica.open[mid]
    known = [_content(each) for each in replica.answers(entry)]
    is_exact = len(known) == entry.sent and replica.session.codec.decimal == "exact"
    return entry.sent, known if is_exact else []


async def _without_exit(answers: AsyncIterator[Message]) -> AsyncIterator[Message]:
    """Yield the answers of a handler; one that wants to end the process only ends itself."""
    try:
        async for answer in answers:
            yield answer
    except SystemExit as error:
        raise RuntimeError(f"expected an answer, found {error!r:.100}") from error


def _is_cancelled() -> bool:
    """Return whether this task was asked to end."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class _NotOurs(Exception):
    """The request is not this worker's any more."""


class Handling:
    """The running handlers of one worker."""

    def __init__(
        self,
        handler: Handler,
        journal: Journal,
        limits: HostLimits,
        worker: str,
        agent: str,
        clock: Callable[[], float],
    ) -> None:
        """Start without requests."""
        self._handler: Final = handler
        self._journal: Final = journal
        self._limits: Final = limits
        self._worker: Final = worker
        self._agent: Final = agent
        self._clock: Final = clock
        self._slots: Final = asyncio.Semaphore(limits.handlers)
        self._runs: Final[dict[tuple[str, str], tuple[SessionPlace, asyncio.Task[None]]]] = {}
        self._recording: Final[set[tuple[str, str]]] = set()
        """Requests of which an answer is being recorded: their handlers learn that it was, and end by themselves."""
        self._is_closed = False
        journal.on_current = self._tend

    def places(self) -> list[SessionPlace]:
        """Return the sessions in which handlers run, and those in which some may have to."""
        running = {place.name: place for place, _ in self._runs.values()}
        return list({**running, **{place.name: place for place in self._journal.unsure()}}.values())

    def _tend(self, place: SessionPlace, replica: Replica) -> None:
        """Begin to handle the requests that are ours, and stop the handlers of those that are not any more."""
        ours = {mid for mid, entry in replica.open.items() if entry.request and entry.worker == self._worker}
        for (name, mid), (_, task) in list(self._runs.items()):
            if name == place.name and mid not in ours and (name, mid) not in self._recording:
                task.cancel()
        for mid in ours:
            if (place.name, mid) not in self._runs and not self._is_closed:
                task = asyncio.ensure_future(
                    self._run(place, mid, self._request(replica, mid), _recorded(replica, mid))
                )
                self._runs[place.name, mid] = place, task
                task.add_done_callback(partial(self._finished, (place.name, mid)))

    def taken_over(self, other: str, replica: Replica) -> SessionStep | None:
        """Return the step that takes over the requests of a worker that is gone, None where it has none."""
        if not any(entry.request and entry.worker == other for entry in replica.open.values()):
            return None
        return self._step(replica, StepKind.TAKE_OVER, name=other)

    async def aclose(self) -> None:
        """Stop all handlers, and begin no more."""
        self._is_closed = True
        tasks = [task for _, task in self._runs.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _request(self, replica: Replica, mid: str) -> Request:
        entry = replica.open[mid]
        assert entry.request is not None
        return Request(
            agent=self._agent,
            message=entry.request,
            idempotency_key=mid,
            session_id=replica.session.session_id,
            principal=replica.principal,
            runs=entry.runs,
        )

    async def _run(self, place: SessionPlace, mid: str, request: Request, known: _Recorded) -> None:
        async with self._slots:
            failure: Exception
            try:
                async with asyncio.timeout(self._limits.handler_time):
                    # A task of its own: when it ends as cancelled while this one was not, the handler did that.
                    await asyncio.ensure_future(self._answer(place, mid, request, known))
                return
            except _NotOurs:
                return
            except asyncio.CancelledError:
                if _is_cancelled():
                    raise
                failure = RuntimeError("the handler ended as cancelled")
            except Exception as error:  # whatever a handler raises is the peer's answer, and the log's
                failure = error
            _LOG.warning("session %r: the handler of %r failed: %r", request.session_id, mid, failure, exc_info=failure)
            with suppress(_NotOurs):
                await self._fail(place, mid, request, failure)

    async def _fail(self, place: SessionPlace, mid: str, request: Request, failure: Exception) -> None:
        """Record a failure; one that cannot be carried is an internal error, and where not even that can, nothing."""
        for message in (failure_of(request, failure), failure_of(request, _INTERNAL)):
            try:
                await self._record(place, mid, message)
                return
            except ProtocolError as error:
                _LOG.error("session %r: the failure of %r could not be recorded: %r", request.session_id, mid, error)
        await self._journal.commit(place, partial(self._given_up, mid))

    def _given_up(self, mid: str, replica: Replica) -> SessionStep | None:
        """Return the step that closes a request without an answer."""
        return self._step(replica, StepKind.GIVE_UP, name=mid) if mid in replica.open else None

    async def _answer(self, place: SessionPlace, mid: str, request: Request, recorded: _Recorded) -> None:
        """Record the answers of a handler; those that an earlier run has recorded must come again."""
        number, (sent, known) = 0, recorded
        async for message in _without_exit(answers_of(self._handler, request)):
            if number >= sent:
                await self._record(place, mid, message, number)
            elif number < len(known) and known[number] != _content(message):
                reason = "expected the chunks of the run before, which was cut off, found others"
                raise ProtocolError(reason, code=ErrorCode.INTERNAL_ERROR)
            number += 1
        replica = place.replica or await self._journal.refresh(place)
        entry = replica.open.get(mid)
        # Left open, the request would be handled again at the next look at the log.
        if entry is not None and entry.request is not None and entry.worker == self._worker:
            raise ProtocolError("the handler ended without an answer", code=ErrorCode.INTERNAL_ERROR)

    async def _record(self, place: SessionPlace, mid: str, message: Message, number: int | None = None) -> None:
        """Record one message, as soon as the peer has room for it and the log is within reach.

        Args:
            place: The session.
            mid: The msg_id of the request.
            message: The message.
            number: Which answer of the request it is, from 0; None: its last one, whatever was sent before.
        """
        size = size_of(message.payload)
        while True:
            self._recording.add((place.name, mid))
            try:
                await self._journal.commit(place, partial(self._sent, mid, message, number), size=size)
                return
            except WindowFull:
                await place.wait(self._limits.idle_poll)
                await self._journal.refresh(place)
            except ProtocolError as error:
                if error.code != ErrorCode.TIMEOUT:
                    raise
                # Perhaps it was recorded: then the log says so when it is read again.
                _LOG.warning("the answer to %r waits for the log: %s", mid, error)
                await asyncio.sleep(self._limits.lease / 10)
            finally:
                self._recording.discard((place.name, mid))

    def _sent(self, mid: str, message: Message, number: int | None, replica: Replica) -> SessionStep | None:
        """Return the step that answers a request, None for an answer that was recorded already.

        Raises:
            _NotOurs: It was cancelled, answered or taken over.
        """
        entry = replica.open.get(mid)
        if entry is None or entry.request is None or entry.worker != self._worker:
            raise _NotOurs
        if number is not None and entry.sent > number:
            return None
        text = replica.to_log(message)
        return replace(self._step(replica, StepKind.SEND, name=mid, text=text), message=message)

    def _step(self, replica: Replica, kind: StepKind, *, name: str, text: str = "") -> SessionStep:
        now = whole_seconds(replica.time(self._clock()))
        return SessionStep(kind=kind, now=now, worker=self._worker, name=name, text=text)

    def _finished(self, key: tuple[str, str], task: asyncio.Task[None]) -> None:
        self._runs.pop(key, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            _LOG.error("the answer to %r could not be recorded", key[1], exc_info=error)
