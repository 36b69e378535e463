"""The sessions of a worker, kept in step with the log that all workers share.

A step is taken under the lease of its session, after every step that other workers have logged, and it counts once it
is logged. Where it is not certain that it was, the replica is dropped: the log tells what happened.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, TypeVar

from accp_adapters.backoff import Backoff
from accp_adapters.bindings.hosts.names import owner_of
from accp_adapters.bindings.hosts.options import HostLimits, SessionKind
from accp_adapters.bindings.hosts.replica import Replica
from accp_adapters.bindings.hosts.steps import SessionStep
from accp_adapters.bindings.hosts.workers import end_task
from accp_adapters.bindings.logs import Fence, Fenced, FrameLog, MemoryFrameLog
from accp_adapters.serving.off_loop import LONG, off_loop
from accp_adapters.serving.shares import Shares
from accp_core.bounded import BoundedDict
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["Journal", "SessionPlace"]

T = TypeVar("T")

_LOG: Final = logging.getLogger(__name__)

_BACKOFF: Final = Backoff(first=0.002, longest=0.1)
_ATTEMPTS: Final = 3
_LEAST: Final = 4_096
"""About the characters that a session takes without any text."""


class SessionPlace:
    """Where a worker keeps one session."""

    def __init__(self, name: str, session_id: str) -> None:
        """Start without a replica."""
        self.name: Final = name
        self.session_id: Final = session_id
        self.lock: Final = asyncio.Lock()
        """Held while a step is taken."""
        self.replica: Replica | None = None
        """The session; None before it was read, and where it has to be read again."""
        self.listeners: Final[set[Callable[[str, list[str] | None], None]]] = set()
        """Called after each step with the connection of the session and the frames; None: frames were missed."""
        self.is_unsure = False
        """Whether a step may have been logged or not; cleared when the log was read."""
        self._announced = 0
        self._changed = asyncio.Event()

    @property
    def is_busy(self) -> bool:
        """Whether a step is being taken, a connection is open, or a request waits for its answer."""
        has_requests = self.replica is not None and bool(self.replica.open)
        return self.lock.locked() or bool(self.listeners) or has_requests

    def forget(self) -> None:
        """Forget the session, whose log is removed; its connection ends, and the peer connects again."""
        connection = self.replica.connection if self.replica is not None else ""
        self.replica, self._announced = None, 0
        for listener in list(self.listeners):
            listener(connection, None)

    def announce(self, replica: Replica, frames: list[str] | None) -> None:
        """Tell those who wait that a step was taken, once: where the log is read again, steps are taken again."""
        if replica.number <= self._announced:
            return
        self._announced = replica.number
        for listener in list(self.listeners):
            listener(replica.connection, frames)
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def wait(self, seconds: float) -> bool:
        """Return whether a step was taken within some time, as soon as it was."""
        with suppress(TimeoutError):
            return await asyncio.wait_for(self._changed.wait(), seconds)
        return False


class _OthersFirst(Exception):
    """The log has, or may have, steps of other workers."""


class Journal:
    """Takes steps, and follows those of other workers."""

    def __init__(self, log: FrameLog, kind: SessionKind, limits: HostLimits, worker: str) -> None:
        """Use `log` for sessions of one `kind`; `worker` is the name of this worker."""
        self._log: Final = log
        self._kind: Final = kind
        self._limits: Final = limits
        self._worker: Final = worker
        self.on_current: Callable[[SessionPlace, Replica], None] = lambda place, replica: None
        """Called with a session that has all logged steps, while its place is locked, after each look at the log."""
        self._places: Final[BoundedDict[str, SessionPlace]] = BoundedDict(limits.replicas)
        self._tasks: Final[set[asyncio.Task[Any]]] = set()
        self._shares: Final = Shares(limits.sessions, limits.sessions_each)
        self._characters: Final = Shares(limits.characters, limits.characters_each)
        self._kept: Final[BoundedDict[str, int]] = BoundedDict(limits.sessions)
        """About the characters that each session takes in memory."""
        self._numbers: Final[BoundedDict[str, int]] = BoundedDict(limits.sessions)
        """The number of the last step of each session, as far as this worker knows."""

    def place(self, name: str, session_id: str) -> SessionPlace:
        """Return the place of a session."""
        place = self._places.get(name) or SessionPlace(name, session_id)
        self._places.put(name, place)
        return place

    async def commit(
        self, place: SessionPlace, decide: Callable[[Replica], SessionStep | None], *, size: int = 0
    ) -> list[str] | None:
        """Take the step that `decide` returns for the session as it is now; return its frames, None without a step.

        A caller that is cancelled does not cut a step in two.

        Args:
            place: The session.
            decide: Returns the step, or None.
            size: About how many characters it handles; for many, it and the step run in a thread.

        Raises:
            ProtocolError: what `decide` or the step raises, nothing has changed then; E3001, another worker holds the
                session, or the store is unreachable: the step may have been taken or not.
        """
        for _ in range(_ATTEMPTS - 1):
            with suppress(Fenced):  # nothing was written: this worker was too slow, and others may have been here
                return await self._finish(self._commit(place, decide, size))
        return await self._finish(self._commit(place, decide, size))

    async def refresh(self, place: SessionPlace) -> Replica:
        """Return the session with the steps that were logged until now.

        Raises:
            ProtocolError: E3001, the store is unreachable.
        """
        return await self._finish(self._refresh(place))

    async def aclose(self) -> None:
        """Wait for the steps that are being taken."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _finish(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return await asyncio.shield(task)

    def _finished(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _LOG.debug("a step was not taken: %r", error)  # the task that waits for it is told, if there still is one

    async def _commit(
        self, place: SessionPlace, decide: Callable[[Replica], SessionStep | None], size: int
    ) -> list[str] | None:
        async with place.lock:
            await self._make_room(place.name, size)
            if place.replica is not None and size <= LONG:
                with suppress(_OthersFirst):
                    return await self._commit_alone(place, place.replica, decide)
            fence = await self._lease(place.name)
            try:
                replica = await self._catch_up(place, fence.last)
                async with self._working(place, replica, fence, size):
                    step = await off_loop(size, decide, replica)
                    frames = None if step is None else await replica.apply(step, size)
                if step is not None and frames is not None:
                    await self._record(place, replica, step, fence)
                    place.announce(replica, frames)
                    if self._is_save_due(replica, step):
                        await self._save(replica, fence)
                self._took(place, replica)
                return frames
            finally:
                with suppress(ProtocolError):  # it ends by itself
                    await self._log.release(fence)

    async def _commit_alone(
        self, place: SessionPlace, replica: Replica, decide: Callable[[Replica], SessionStep | None]
    ) -> list[str]:
        """Take a step in one operation of the log, as where no other worker uses the session.

        Raises:
            _OthersFirst: Nothing was logged: the step is decided again under the lease.
            ProtocolError: E3001, the store is unreachable: the step may have been taken or not.
        """
        number, place.replica = replica.number, None
        try:
            step = decide(replica)
            frames = None if step is None else await replica.apply(step)
        except Exception:  # what it says may be true of an older state only
            frames = step = None
        if step is None or frames is None:
            place.replica = replica if replica.number == number else None
            raise _OthersFirst
        place.is_unsure = True
        await replica.store_texts()
        is_logged = await self._log.append_next(place.name, replica.number, step.to_text())
        place.is_unsure = False
        if not is_logged:
            raise _OthersFirst
        place.replica = replica
        place.announce(replica, frames)
        if self._is_save_due(replica, step):
            await self._save_alone(replica)
        self._took(place, replica)
        return frames

    async def _save_alone(self, replica: Replica) -> None:
        """Take a snapshot, unless another worker has the lease or has gone on."""
        with suppress(ProtocolError):
            fence = await self._log.lease(replica.name, self._worker, self._limits.lease)
            if fence is not None:
                if fence.last == replica.number:
                    await self._save(replica, fence)
                await self._log.release(fence)

    def _took(self, place: SessionPlace, replica: Replica) -> None:
        self.on_current(place, replica)
        self._numbers.put(place.name, replica.number)
        self._weigh(place.name, replica)

    async def _make_room(self, name: str, size: int) -> None:
        """Count a session as used, by what it and a frame of `size` take; what is too much, other sessions give up.

        Raises:
            TooMany: E2003, its principal has its share, and all of it is in use.
        """
        owner = owner_of(name)
        for each in self._shares.admit(owner, name, self._is_busy):
            await self._give_up(each)
        for each in self._characters.admit(owner, name, self._is_busy, size=self._kept.get(name, _LEAST) + size):
            if isinstance(self._log, MemoryFrameLog):
                await self._give_up(each)
            else:
                self._forget(each)

    def _forget(self, name: str) -> None:
        """Free what this process keeps of a session; it is read from its log when it is used again."""
        self._kept.pop(name, None)
        self._characters.remove(owner_of(name), name)
        if (place := self._places.pop(name, None)) is not None:
            place.forget()

    async def _give_up(self, name: str) -> None:
        """Remove a session."""
        self._forget(name)
        self._shares.remove(owner_of(name), name)
        try:
            await self._remove(name, self._numbers.pop(name, 0))
        except ProtocolError as error:
            _LOG.warning("the session %r was not removed: %s", name, error)  # its log ends by itself

    def _weigh(self, name: str, replica: Replica) -> None:
        """Remember what a session takes in the memory of this process."""
        log = self._log.size(name) if isinstance(self._log, MemoryFrameLog) else 0
        self._kept.put(name, _LEAST + replica.characters + log)

    def _is_busy(self, name: str) -> bool:
        place = self._places.get(name)
        return place is not None and place.is_busy

    async def _remove(self, name: str, number: int) -> None:
        """Remove the log of a session, unless another worker uses it: there it counts as one of its own."""
        fence = await self._log.lease(name, self._worker, self._limits.lease)
        if fence is not None:
            try:
                if fence.last == number:
                    await self._log.delete(name)
            finally:
                await self._log.release(fence)

    @asynccontextmanager
    async def _working(self, place: SessionPlace, replica: Replica, fence: Fence, size: int) -> AsyncIterator[None]:
        """Keep a session for a step: while a thread works on it no other task reads it, and its lease goes on."""
        number = replica.number
        renewing = asyncio.ensure_future(self._renew(fence)) if size > LONG else None
        if renewing is not None:
            place.replica = None
        try:
            yield
        except BaseException as error:
            is_unchanged = replica.number == number and not isinstance(error, asyncio.CancelledError)
            place.replica = replica if is_unchanged else None
            raise
        else:
            place.replica = replica
        finally:
            if renewing is not None:
                await end_task(renewing)

    async def _renew(self, fence: Fence) -> None:
        while True:
            await asyncio.sleep(self._limits.lease / 3)
            await self._log.renew(fence, self._limits.lease)

    async def _record(self, place: SessionPlace, replica: Replica, step: SessionStep, fence: Fence) -> None:
        """Log a step that the session has taken; where that is not certain, the session is read again."""
        try:
            await replica.store_texts()
            text = await off_loop(len(step.text), step.to_text)
            if not await self._log.append(fence, replica.number, text):
                raise Fenced(fence)
        except BaseException:
            place.replica, place.is_unsure = None, True
            raise

    def _is_save_due(self, replica: Replica, step: SessionStep) -> bool:
        limits = self._limits
        is_old = step.now - replica.unsaved_since > limits.snapshot_age or replica.has_much_raw
        return is_old or replica.number % limits.snapshot_every == 0

    async def _save(self, replica: Replica, fence: Fence) -> None:
        """Replace the log by a snapshot; without one it only grows, up to the store's bound."""
        try:
            await replica.store_raw()
            text = await off_loop(replica.characters, replica.snapshot)
            await self._log.save(fence, replica.number, text)
            replica.unsaved_since = 0
        except ProtocolError as error:
            _LOG.warning("no snapshot of the session %r: %s", replica.name, error)

    async def _refresh(self, place: SessionPlace) -> Replica:
        async with place.lock:
            replica = await self._catch_up(place, None)
            self.on_current(place, replica)
            return replica

    def unsure(self) -> list[SessionPlace]:
        """Return the sessions whose last step may have been logged or not."""
        return [place for place in self._places.values() if place.is_unsure]

    async def _catch_up(self, place: SessionPlace, last: int | None) -> Replica:
        """Return the session with the steps of other workers, up to number `last` where it is known.

        Raises:
            ProtocolError: E2002, the store has removed a part of the log; or as the methods of the log.
        """
        replica, place.replica = place.replica, None
        if replica is None or not await self._read_on(place, replica, last):
            replica = await self._read_whole(place, last)
        place.replica, place.is_unsure = replica, False
        return replica

    async def _read_on(self, place: SessionPlace, replica: Replica, last: int | None) -> bool:
        """Take the logged steps that follow; return whether none is missing."""
        if last is not None and replica.number >= last:
            return True
        async for number, text in self._log.read(place.name, replica.number):
            if number != replica.number + 1:
                return False
            place.announce(replica, await replica.apply(SessionStep.from_text(text), len(text)))
            if number == last:
                break
        return last is None or replica.number >= last

    async def _read_whole(self, place: SessionPlace, last: int | None) -> Replica:
        known = -1
        while True:
            replica = await self._read_again(place)
            saved = replica.number
            if await self._read_on(place, replica, last):
                return replica
            # Without the lease, another worker may have put a snapshot in the place of what was to be read.
            if saved == known:
                raise ProtocolError("expected the whole log of the session", code=ErrorCode.REF_EXPIRED)
            known = saved

    async def _read_again(self, place: SessionPlace) -> Replica:
        """Return the session of the snapshot; a connection here has missed what led to it since the last step."""
        found = await self._log.snapshot(place.name)
        text = found[1] if found else None
        replica = await off_loop(len(text or ""), Replica, place.name, place.session_id, self._kind, text)
        place.announce(replica, None)
        return replica

    async def _lease(self, name: str) -> Fence:
        failures, clock = 0, asyncio.get_running_loop().time
        until = clock() + self._limits.lease_wait
        while (fence := await self._log.lease(name, self._worker, self._limits.lease)) is None:
            if clock() > until:
                reason = f"expected the session within {self._limits.lease_wait} seconds, another worker holds it"
                raise ProtocolError(reason, code=ErrorCode.TIMEOUT)
            failures += 1
            await asyncio.sleep(_BACKOFF.delay(failures))
        return fence
