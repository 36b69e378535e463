"""Several workers that share a log: whichever takes a frame, the session is the same."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from accp_adapters.bindings.hosts import Handler, HostLimits, OtherWorkers, Request, SessionHost
from accp_adapters.bindings.hosts.names import session_name
from accp_adapters.bindings.logs import Fenced, FrameLog, MemoryFrameLog, open_log
from accp_core.accp import FrameRefused, StreamChunkReceived, parse_frame
from accp_core.errors import ProtocolError
from tests.adapters.bindings.hosts.agents import ANN, CODEC, Client
from tests.limits import PATIENCE, async_wait_until

SHORT = 0.3
NAME = session_name(ANN, "s1")


async def echo(request: Request) -> Mapping[str, Any]:
    return {"echo": request.message.payload["n"], "runs": request.runs}


class Workers:
    """Workers of one log."""

    def __init__(self, stack: AsyncExitStack, log: FrameLog) -> None:
        self.stack, self.log = stack, log

    async def start(self, handler: Handler = echo, **limits: Any) -> SessionHost:
        host = SessionHost(handler, codec=CODEC, log=self.log, limits=HostLimits(**{"lease": SHORT, **limits}))
        return await self.stack.enter_async_context(host)


@pytest.fixture(params=["memory", "sqlite"])
async def workers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Workers]:
    log = MemoryFrameLog() if request.param == "memory" else open_log(f"sqlite:{tmp_path / 'log'}", power_safe=False)
    async with AsyncExitStack() as stack:
        yield Workers(stack, log)
    await log.aclose()


async def test_any_worker_takes_any_frame_of_a_session(workers: Workers) -> None:
    client, hosts = Client(), [await workers.start(snapshot_every=4) for _ in range(3)]
    for number in range(30):
        frame = client.ask("add", n=number)
        frames = await hosts[number % 3].frames(ANN, frame)
        assert await hosts[(number + 1) % 3].frames(ANN, frame) == frames
        (message,) = client.messages(frames)
        assert message.payload == {"echo": number, "runs": 1}


async def test_parallel_requests_of_one_session_on_three_workers_are_each_answered_once(workers: Workers) -> None:
    client, hosts = Client(reorder=64, first=1), [await workers.start() for _ in range(3)]
    asked = [client.ask("add", n=number) for number in range(24)]
    answers = await asyncio.gather(*(hosts[place % 3].frames(ANN, frame) for place, frame in enumerate(asked)))
    events = client.take([frame for answer in answers for frame in answer])
    assert not [event for event in events if isinstance(event, FrameRefused)]
    assert [parse_frame(answer[-1]).params["echo"] for answer in answers] == list(range(24))


async def test_a_request_whose_worker_is_gone_is_handled_by_another_one(workers: Workers) -> None:
    """The handler runs again, with the same idempotency key; the answer of the first run is not recorded any more."""
    client, begun, go_on, runs = Client(), asyncio.Event(), asyncio.Event(), []

    async def handle(request: Request) -> Mapping[str, Any]:
        runs.append((request.idempotency_key, request.runs))
        if request.runs == 1:
            begun.set()
            await go_on.wait()
        return {"run": request.runs}

    first, second = await workers.start(handle, lease=SHORT), await workers.start(handle)
    frame = client.ask("pay")
    waiting = asyncio.ensure_future(first.frames(ANN, frame))
    await begun.wait()
    assert first._ticker
    first._ticker.cancel()  # it hangs: no sign of life any more
    frames = await second.frames(ANN, frame)
    go_on.set()
    assert await waiting == frames
    assert [message.payload for message in client.messages(frames)] == [{"run": 2}]
    assert runs == [("ann1", 1), ("ann1", 2)]


async def test_a_worker_that_ends_leaves_its_requests_to_the_others_at_once(workers: Workers) -> None:
    client, begun = Client(), asyncio.Event()

    async def handle(request: Request) -> Mapping[str, Any]:
        if request.runs == 1:
            begun.set()
            await asyncio.Event().wait()
        return {"run": request.runs}

    first, second = await workers.start(handle, lease=600.0), await workers.start(handle, lease=600.0)
    frame = client.ask("pay")
    waiting = asyncio.ensure_future(first.frames(ANN, frame))
    await begun.wait()
    waiting.cancel()
    await first.aclose()
    assert [message.payload for message in client.messages(await second.frames(ANN, frame))] == [{"run": 2}]


async def test_a_connection_gets_the_answer_of_a_handler_on_another_worker(workers: Workers) -> None:
    client, go_on, begun = Client(), asyncio.Event(), asyncio.Event()

    async def handle(request: Request) -> Mapping[str, Any]:
        begun.set()
        await go_on.wait()
        return {"run": request.runs}

    first, second = await workers.start(handle), await workers.start(handle)
    async with first.attached(ANN, "s1") as old:
        client.session.connected(1_000)
        await old.receive(client.ask("pay"))
        await begun.wait()
        client.session.disconnected(1_000)
        async with second.attached(ANN, "s1") as new:
            for frame in client.session.connected(1_000):
                await new.receive(frame)
            go_on.set()
            found = list[Any]()
            async for frame in new:
                found += client.messages([frame])
                for reply in client.session.frames_to_send():
                    await new.receive(reply)
                if found:
                    break
    assert [message.payload for message in found] == [{"run": 1}]


@pytest.mark.parametrize("same", [True, False])
async def test_a_stream_that_is_begun_again_goes_on_only_with_the_same_chunks(workers: Workers, same: bool) -> None:
    """ACCP 10.4: chunks that were sent stay sent; another run must come to the same ones."""
    client, sent = Client(), asyncio.Event()

    async def handle(request: Request) -> AsyncIterator[Any]:
        yield "one" if same or request.runs == 1 else "another"
        if request.runs == 1:
            sent.set()
            await asyncio.Event().wait()
        yield "two"

    first, second = await workers.start(handle), await workers.start(handle)
    frame = client.ask("tell")
    waiting = asyncio.ensure_future(first.frames(ANN, frame))
    await sent.wait()
    assert first._ticker
    first._ticker.cancel()
    frames = await second.frames(ANN, frame)
    await waiting
    events = client.take(frames)
    chunks = [event.message.payload["data"] for event in events if isinstance(event, StreamChunkReceived)]
    if same:
        assert chunks == ["one", "two", ""]
    else:
        assert (chunks, parse_frame(frames[-1]).params["code"]) == (["one"], "E9999")


async def test_a_session_goes_on_in_a_new_process_after_a_snapshot(workers: Workers) -> None:
    client, first = Client(), await workers.start(snapshot_every=3)
    for number in range(10):
        client.take(await first.frames(ANN, client.ask("add", n=number)))
    await first.aclose()
    second = await workers.start()
    (message,) = client.messages(await second.frames(ANN, client.ask("add", n=10)))
    assert (message.payload["echo"], message.envelope.sequence) == (10, 11)


class Unreliable(MemoryFrameLog):
    """A log that fails after it has appended: its caller does not know whether it did."""

    fails = 0

    async def append(self, fence: Any, number: int, text: str) -> bool:
        appended = await super().append(fence, number, text)
        self.fails -= fence.name == NAME
        if self.fails == 0 and fence.name == NAME:
            raise ProtocolError("the connection was lost", code="E3001")
        return appended


async def test_a_step_of_which_nobody_knows_whether_it_was_logged_is_read_from_the_log() -> None:
    client, log = Client(), Unreliable()
    log.fails = 1
    async with SessionHost(echo, codec=CODEC, log=log) as host:
        frame = client.ask("add", n=1)
        with pytest.raises(ProtocolError, match="connection was lost"):
            await host.frames(ANN, frame)
        (message,) = client.messages(await host.frames(ANN, frame))
        assert message.payload == {"echo": 1, "runs": 1}


@pytest.mark.parametrize("step", [2, 3, 4])
async def test_an_answer_of_which_nobody_knows_whether_it_was_logged_is_recorded_once(step: int) -> None:
    client, log = Client(), Unreliable()
    log.fails = step

    async def handle(request: Request) -> AsyncIterator[Any]:
        yield "one"
        yield "two"

    async with SessionHost(handle, codec=CODEC, log=log, limits=HostLimits(lease=SHORT)) as host:
        events = client.take(await host.frames(ANN, client.ask("tell")))
    chunks = [event.message.payload["data"] for event in events if isinstance(event, StreamChunkReceived)]
    assert chunks == ["one", "two", ""]


class Slow(MemoryFrameLog):
    """A log whose leases end while a step is taken."""

    late = 0

    async def append(self, fence: Any, number: int, text: str) -> bool:
        self.late -= fence.name == NAME
        if self.late >= 0 and fence.name == NAME:
            await self.release(fence)
        return await super().append(fence, number, text)


class Distant(MemoryFrameLog):
    """A log that takes its time to be read."""

    async def read(self, name: str, after: int) -> AsyncIterator[tuple[int, str]]:
        await asyncio.sleep(0.01)
        async for found in super().read(name, after):
            yield found


async def test_requests_are_handled_while_others_read_the_log_all_the_time() -> None:
    client, log = Client(first=1, reorder=8), Distant()
    async with SessionHost(echo, codec=CODEC, log=log, limits=HostLimits(poll=0.001), clock=lambda: 1_000.0) as host:
        frames = [client.ask("add", n=number) for number in range(4)]
        waiting = [asyncio.ensure_future(host.frames(ANN, frame)) for frame in frames[:0:-1]]
        await async_wait_until(lambda: NAME in log._logs and len(log._logs[NAME].texts) == 3)
        answers = await asyncio.wait_for(asyncio.gather(host.frames(ANN, frames[0]), *waiting), 20)
    assert sorted(parse_frame(answer[-1]).params["echo"] for answer in answers) == [0, 1, 2, 3]


async def test_a_request_whose_client_has_left_is_handled_though_its_step_was_in_doubt() -> None:
    client, log, runs = Client(), Unreliable(), asyncio.Event()
    log.fails = 1

    async def handle(request: Request) -> Mapping[str, Any]:
        runs.set()
        return {}

    async with SessionHost(handle, codec=CODEC, log=log, limits=HostLimits(lease=0.03)) as host:
        with pytest.raises(ProtocolError, match="connection was lost"):
            await host.frames(ANN, client.ask("pay"))
        await asyncio.wait_for(runs.wait(), 20)


@pytest.mark.parametrize("late", [1, 2, 3])
async def test_a_step_that_took_longer_than_its_lease_is_taken_again(late: int) -> None:
    client, log = Client(), Slow()
    log.late = late
    async with SessionHost(echo, codec=CODEC, log=log) as host:
        frame = client.ask("add", n=1)
        if late == 3:
            with pytest.raises(Fenced):
                await host.frames(ANN, frame)
        (message,) = client.messages(await host.frames(ANN, frame))
    assert message.payload == {"echo": 1, "runs": 1}


async def test_a_session_of_which_a_part_is_missing_is_refused() -> None:
    client, log = Client(), MemoryFrameLog()
    async with SessionHost(echo, codec=CODEC, log=log) as host:
        await host.frames(ANN, client.ask("add", n=1))
    log._logs[NAME].texts.popleft()
    async with SessionHost(echo, codec=CODEC, log=log) as host:
        with pytest.raises(ProtocolError, match="expected the whole log") as refused:
            await host.frames(ANN, client.ask("add", n=2))
    assert refused.value.code == "E2002"


async def test_more_sessions_than_a_worker_keeps_are_read_again() -> None:
    async with SessionHost(echo, codec=CODEC, limits=HostLimits(replicas=2)) as host:
        clients = [Client(f"s{number}") for number in range(5)]
        for number in range(3):
            for client in clients:
                (message,) = client.messages(await host.frames(ANN, client.ask("add", n=number)))
                assert message.payload["echo"] == number
        await async_wait_until(lambda: len(host._journal._places) <= 2)


@pytest.mark.parametrize(
    ("other", "words"),
    [({"secret": b"another"}, "found one with another secret"), ({"agent_id": "crm"}, "found one of @agent for @crm")],
)
async def test_a_worker_that_does_not_fit_the_others_is_refused_at_its_start(
    other: dict[str, Any], words: str, workers: Workers
) -> None:
    client, secret = Client(), b"a secret that is not written down"
    async with SessionHost(echo, codec=CODEC, log=workers.log, secret=secret) as first:
        await first.frames(ANN, client.ask("add", n=1))
    wrong, frame = (
        SessionHost(echo, codec=CODEC, log=workers.log, **{"secret": secret, **other}),
        client.ask("add", n=2),
    )
    for attempt in (wrong.__aenter__(), wrong.frames(ANN, frame)):
        with pytest.raises(OtherWorkers, match=words) as refused:
            await attempt
        assert secret.decode() not in str(refused.value)
    await wrong.aclose()
    async with SessionHost(echo, codec=CODEC, log=workers.log, secret=secret) as last:
        (message,) = client.messages(await last.frames(ANN, frame))
    assert message.payload["echo"] == 2


async def test_what_workers_must_have_in_common_stays_written_down(workers: Workers) -> None:
    host = await workers.start(lease=0.03, snapshot_age=0.05)
    numbers = set[int]()
    async with asyncio.timeout(PATIENCE):
        while len(numbers) < 3:
            found = await workers.log.snapshot("w/agreement")
            assert found
            numbers.add(found[0])
            await asyncio.sleep(0.01)
    await host._agreement.check()
