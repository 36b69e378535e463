"""Workers that lose the lease of a session, and connections that come late: an honest client goes on (ACCP 11.2)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from accp_adapters.backoff import Backoff
from accp_adapters.bindings.accp.app import accp_app
from accp_adapters.bindings.accp.client_session import ClientSession
from accp_adapters.bindings.accp.connect import ClientOptions, connect
from accp_adapters.bindings.hosts import HostLimits, SessionHost
from accp_adapters.bindings.hosts.names import session_name
from accp_adapters.bindings.hosts.steps import SessionStep, StepKind
from accp_adapters.bindings.identity import ANONYMOUS
from accp_adapters.bindings.logs import Fence, LogError, MemoryFrameLog
from accp_core.accp import Intent, Message
from tests.adapters.bindings.accp.faults import cutting
from tests.adapters.bindings.accp.serving import echo, serve
from tests.adapters.bindings.hosts.agents import ANN, CODEC, Client
from tests.limits import PATIENCE, async_wait_until

NAME = session_name(ANONYMOUS, "s1")
QUICK = ClientOptions(backoff=Backoff(first=0.01, longest=0.1))


class Losing(MemoryFrameLog):
    """A log whose leases end while a step is taken, as those of a process that was stopped for a while."""

    losses = 0

    async def append(self, fence: Fence, number: int, text: str) -> bool:
        if self.losses and fence.name.startswith("s/"):
            self.losses -= 1
            await self.release(fence)
        return await super().append(fence, number, text)


class Late(MemoryFrameLog):
    """A log in which one worker waits until `go_on` before it gets the lease of a session."""

    def __init__(self) -> None:
        super().__init__()
        self.late: set[str] = set()
        self.waiting, self.go_on = asyncio.Event(), asyncio.Event()

    async def lease(self, name: str, owner: str, seconds: float) -> Fence | None:
        if owner in self.late and name.startswith("s/"):
            self.waiting.set()
            await self.go_on.wait()
        return await super().lease(name, owner, seconds)


class Moving(MemoryFrameLog):
    """A log in which something happens between the reading of a snapshot and that of the texts after it."""

    def __init__(self) -> None:
        super().__init__()
        self.happening: list[Callable[[], Awaitable[None]]] = []

    async def read(self, name: str, after: int) -> AsyncIterator[tuple[int, str]]:
        if self.happening:
            await self.happening.pop()()
        async for found in super().read(name, after):
            yield found


class Deaf(MemoryFrameLog):
    """A log whose client takes the first cancellation for its own timeout, as one of a server may."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting, self.heard = asyncio.Event(), 0

    async def renew(self, fence: Fence, seconds: float) -> None:
        self.waiting.set()
        try:
            await asyncio.sleep(PATIENCE)
        except asyncio.CancelledError:
            self.heard += 1
            if self.heard == 1:
                raise LogError("expected an answer in time") from None
            raise


def joined(address: str) -> Any:
    return connect(f"ws://{address}", agent_id="ann", codec=CODEC, options=QUICK, session_id="s1")


async def ask(session: ClientSession, number: int) -> object:
    asked = Message(sender="", intent=Intent.REQUEST, operation="add", payload={"n": number})
    return (await asyncio.wait_for(session.request(asked), PATIENCE)).payload["n"]


@asynccontextmanager
async def worker(log: MemoryFrameLog, **limits: Any) -> AsyncIterator[SessionHost]:
    async with SessionHost(echo, codec=CODEC, log=log, limits=HostLimits(**limits)) as host:
        yield host


async def test_a_client_stays_connected_over_leases_that_were_lost() -> None:
    log = Losing()
    async with (
        worker(log) as host,
        serve(accp_app(host)) as address,
        cutting(address) as proxy,
        joined(proxy.address) as session,
    ):
        for number in range(10):
            log.losses = number % 3
            assert await ask(session, number) == number
        assert proxy.connections == 1


async def test_a_client_whose_worker_has_missed_frames_connects_again() -> None:
    """Another worker has replaced by a snapshot steps that this one has not seen: what they sent is unknown here."""
    log = MemoryFrameLog()
    async with (
        worker(log, idle_poll=600) as host,
        worker(log, snapshot_every=1) as other,
        serve(accp_app(host)) as address,
        cutting(address) as proxy,
        joined(proxy.address) as session,
    ):
        for number in range(5):
            assert await ask(session, number) == number
            await skip(other)
        assert await ask(session, 5) == 5
        assert proxy.connections > 1


async def skip(host: SessionHost, name: str = NAME) -> None:
    """Take a step that changes nothing but the number of the last step."""
    place = host._journal.place(name, "s1")
    await host._journal.commit(
        place, lambda replica: SessionStep(kind=StepKind.GIVE_UP, now=replica.now, name="nothing")
    )


async def test_a_connection_that_is_late_does_not_end_a_newer_one() -> None:
    """The first worker hangs with the client's first connection, and goes on when the client has given it up."""
    log = Late()
    async with worker(log) as first, worker(log) as second:
        log.late.add(first._worker.name)
        async with (
            serve(accp_app(first)) as one,
            serve(accp_app(second)) as two,
            cutting(one) as proxy,
            joined(proxy.address) as session,
        ):
            await asyncio.wait_for(log.waiting.wait(), PATIENCE)
            proxy.go_over(two)
            assert await ask(session, 1) == 1
            log.go_on.set()
            await async_wait_until(lambda: not first._journal._tasks)
            for number in range(2, 5):
                assert await ask(session, number) == number
            assert proxy.connections == 2


@pytest.mark.parametrize("times", [1, 3])
async def test_a_snapshot_that_replaces_texts_while_they_are_read_is_read_instead(times: int) -> None:
    """Nothing is missing, so nothing is refused with E2002: whoever only reads holds no lease."""
    client, log, name = Client(), Moving(), session_name(ANN, "s1")
    async with worker(log, snapshot_every=2) as other, worker(log) as host:
        frames = await other.frames(ANN, client.ask("add", n=1))

        async def go_on() -> None:
            steps = 0
            while steps < 2 or not log._logs[name].texts:
                await skip(other, name)
                steps += 1

        log.happening = [go_on] * times
        replica = await host._journal.refresh(host._journal.place(name, "s1"))
        entry = replica.find("ann1")
    assert entry is not None
    assert (entry.frames, log.happening) == (frames, [])


async def test_a_closed_worker_gives_no_sign_of_life_even_where_its_log_takes_a_cancellation_for_a_timeout() -> None:
    log, before = Deaf(), asyncio.all_tasks()
    async with worker(log, lease=0.01):
        await asyncio.wait_for(log.waiting.wait(), PATIENCE)
    assert log.heard
    assert asyncio.all_tasks() == before
