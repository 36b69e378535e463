"""Several workers that share a store: whichever takes a frame, the session is the same."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest

from accp_adapters.bindings.hosts import HOST_SESSION, Handler, HostLimits, Request, SessionHost
from accp_adapters.stores import SqliteColdStore
from accp_adapters.stores.texts import pack_text, unpack_text
from accp_core.accp import FrameRefused, StreamChunkReceived, parse_frame
from accp_core.errors import ProtocolError
from tests.adapters.bindings.hosts.agents import ANN, CODEC, Client
from tests.limits import PATIENCE

HOUR = 3_600.0


async def echo(request: Request) -> Mapping[str, Any]:
    return {"echo": request.message.payload["n"], "runs": request.runs}


class Workers:
    """Workers of one file; each opens it for itself, as processes do."""

    def __init__(self, stack: AsyncExitStack, path: Path) -> None:
        self.stack, self.path = stack, path

    async def start(self, handler: Handler = echo, *, clock: Any = None, **limits: Any) -> SessionHost:
        store = SqliteColdStore(self.path)
        self.stack.callback(store.close)
        host = SessionHost(handler, codec=CODEC, store=store, clock=clock, limits=HostLimits(**limits))
        return await self.stack.enter_async_context(host)


@pytest.fixture
async def workers(tmp_path: Path) -> AsyncIterator[Workers]:
    async with AsyncExitStack() as stack:
        yield Workers(stack, tmp_path / "sessions.sqlite")


class Once:
    """A handler whose first run never ends; it notes its runs."""

    def __init__(self) -> None:
        self.begun, self.ended = asyncio.Event(), asyncio.Event()
        self.runs: list[tuple[str, int]] = []

    async def __call__(self, request: Request) -> Mapping[str, Any]:
        self.runs.append((request.idempotency_key, request.runs))
        if request.runs == 1:
            self.begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.ended.set()
        return {"run": request.runs}


async def test_any_worker_takes_any_frame_of_a_session(workers: Workers) -> None:
    client, hosts = Client(), [await workers.start() for _ in range(3)]
    for number in range(30):
        frame = client.ask("add", n=number)
        frames = await hosts[number % 3].frames(ANN, frame)
        assert await hosts[(number + 1) % 3].frames(ANN, frame) == frames
        (message,) = client.messages(frames)
        assert message.payload == {"echo": number, "runs": 1}


async def test_parallel_requests_of_one_session_on_three_workers_are_each_answered_once(workers: Workers) -> None:
    client, hosts = Client(reorder=64, first=1), [await workers.start() for _ in range(3)]

    async def ask(place: int, frame: str) -> list[str]:
        while True:  # as a client does for HTTP 503
            try:
                return await hosts[place % 3].frames(ANN, frame)
            except ProtocolError as error:
                assert error.code == "E3001"
                await asyncio.sleep(0.01 * place)

    asked = [client.ask("add", n=number) for number in range(12)]
    answers = await asyncio.wait_for(asyncio.gather(*(ask(*each) for each in enumerate(asked))), PATIENCE)
    events = client.take([frame for answer in answers for frame in answer])
    assert not [event for event in events if isinstance(event, FrameRefused)]
    assert [parse_frame(answer[-1]).params["echo"] for answer in answers] == list(range(12))


async def test_a_request_whose_worker_is_gone_is_handled_by_the_next_one(workers: Workers) -> None:
    """It runs again with the same idempotency key, once the peer sends its frame again; the first run ends."""
    client, handle = Client(), Once()
    first, second = await workers.start(handle, takeover_wait=PATIENCE), await workers.start(handle)
    frame = client.ask("pay")
    waiting = asyncio.ensure_future(first.frames(ANN, frame))
    await handle.begun.wait()
    frames = await second.frames(ANN, frame)
    assert [message.payload for message in client.messages(frames)] == [{"run": 2}]
    assert await first.frames(ANN, frame) == frames  # it loads the session, and ends its own run
    await asyncio.wait_for(handle.ended.wait(), PATIENCE)
    assert await waiting == frames
    assert handle.runs == [("ann1", 1), ("ann1", 2)]


async def test_a_worker_that_lost_a_session_gives_the_answer_of_the_other_one(workers: Workers) -> None:
    """Its next step, here the answer of its handler, is refused; whoever waits gets what the other has recorded."""
    client, go_on, begun = Client(), asyncio.Event(), asyncio.Event()

    async def handle(request: Request) -> Mapping[str, Any]:
        if request.runs == 1:
            begun.set()
            await go_on.wait()
        return {"run": request.runs}

    first, second = await workers.start(handle), await workers.start(handle)
    frame = client.ask("pay")
    waiting = asyncio.ensure_future(first.frames(ANN, frame))
    await begun.wait()
    frames = await second.frames(ANN, frame)
    go_on.set()
    assert await asyncio.wait_for(waiting, PATIENCE) == frames
    assert [message.payload for message in client.messages(frames)] == [{"run": 2}]


async def test_a_worker_that_ends_leaves_its_requests_to_the_others_at_once(workers: Workers) -> None:
    client, handle = Client(), Once()
    first, second = await workers.start(handle), await workers.start(handle)
    frame = client.ask("pay")
    waiting = asyncio.ensure_future(first.frames(ANN, frame))
    await handle.begun.wait()
    waiting.cancel()
    await first.aclose()
    assert [message.payload for message in client.messages(await second.frames(ANN, frame))] == [{"run": 2}]
    assert handle.runs == [("ann1", 1), ("ann1", 2)]


async def test_a_connection_to_another_worker_takes_the_session_over(workers: Workers) -> None:
    client, handle = Client(), Once()
    first, second = await workers.start(handle), await workers.start(handle)
    async with first.attached(ANN, "s1", number=1) as old:
        client.session.connected(1_000)
        await old.receive(client.ask("pay"))
        await handle.begun.wait()
        client.session.disconnected(1_000)
        async with second.attached(ANN, "s1", number=2) as new:
            for frame in client.session.connected(1_000):
                await new.receive(frame)
            found = list[Any]()
            async for frame in new:
                found += client.messages([frame])
                for reply in client.session.frames_to_send():
                    await new.receive(reply)
                if found:
                    break
            async with first.attached(ANN, "s1", number=1) as late:  # its client has given it up
                assert [frame async for frame in late] == [] and late.is_replaced
    assert [message.payload for message in found] == [{"run": 2}]


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
    frames = await second.frames(ANN, frame)
    waiting.cancel()
    events = client.take(frames)
    chunks = [event.message.payload["data"] for event in events if isinstance(event, StreamChunkReceived)]
    if same:
        assert chunks == ["one", "two", ""]
    else:
        assert (chunks, parse_frame(frames[-1]).params["code"]) == (["one"], "E9999")


async def test_a_session_goes_on_in_a_new_process_with_its_numbers(workers: Workers) -> None:
    client, first = Client(), await workers.start()
    for number in range(10):
        client.take(await first.frames(ANN, client.ask("add", n=number)))
    await first.aclose()
    second = await workers.start()
    (message,) = client.messages(await second.frames(ANN, client.ask("add", n=10)))
    assert (message.payload["echo"], message.envelope.sequence) == (10, 11)


async def test_a_peer_that_does_not_resume_goes_on_in_another_worker(workers: Workers) -> None:
    """ACCP 3.7: it counts on, and a frame that comes again is E3002, whichever worker has taken it."""
    hosts = [await workers.start(), await workers.start()]
    for number in range(5, 9):
        text = f"@ann>req:add{{n:{number}}}[mid:a{number},seq:{number},sid:s1]"
        (answer,) = await hosts[number % 2].frames(ANN, text, resumes=False)
        assert parse_frame(answer).params["echo"] == number
        (again,) = await hosts[(number + 1) % 2].frames(ANN, text, resumes=False)
        assert parse_frame(again).params["code"] == "E3002"


class Unsure(SqliteColdStore):
    """A store that saves, and then fails: its caller does not know whether it did."""

    fails = 0

    def save_session(self, name: str, version: int, data: str) -> bool:
        saved = super().save_session(name, version, data)
        self.fails -= 1
        if self.fails == 0:
            raise ProtocolError("the connection was lost", code="E3001")
        return saved


@pytest.mark.parametrize("step", [1, 2, 3, 4])
async def test_a_step_of_which_nobody_knows_whether_it_was_saved_is_read_from_the_store(step: int) -> None:
    client, store, runs = Client(), Unsure(), []
    store.fails = step

    async def handle(request: Request) -> AsyncIterator[Any]:
        runs.append(request.idempotency_key)
        yield "one"
        yield "two"

    async with SessionHost(handle, codec=CODEC, store=store, limits=HostLimits(takeover_wait=0.05)) as host:
        frame = client.ask("tell")
        with suppress(ProtocolError) if step == 4 else pytest.raises(ProtocolError, match="E3001"):
            await host.frames(ANN, frame)
        events = client.take(await host.frames(ANN, frame))
    chunks = [event.message.payload["data"] for event in events if isinstance(event, StreamChunkReceived)]
    assert (chunks, set(runs)) == (["one", "two", ""], {"ann1"})


async def test_the_clock_of_a_session_goes_on_from_that_of_a_worker_that_was_ahead(workers: Workers) -> None:
    """ACCP 3.7: a gap is named after `gap_delay`, not when the slower clock has caught up."""
    client, now = Client(first=1, reorder=8), [1_000.0]
    ahead = await workers.start(clock=lambda: 1_000.0 + HOUR)
    behind = await workers.start(clock=lambda: now[0])
    await ahead.frames(ANN, client.ask("add", n=0))
    client.ask("add", n=1)  # is lost
    early = asyncio.ensure_future(behind.frames(ANN, client.ask("add", n=2)))
    await asyncio.sleep(0.1)
    assert not early.done()
    now[0] += HOST_SESSION.gap_delay + 1
    (gap,) = await early
    assert parse_frame(gap).params["code"] == "E3003"


def changed(name: str, value: object) -> Callable[[str], object]:
    return lambda text: pack_text(json.dumps({**json.loads(text), name: value}))


MANY = '"more":[' + "[]," * 8_000_000 + '1],"received":'
STRANGE: list[object] = [None, -1e308, "x", [[]]]
HOSTILE: dict[str, Callable[[str], object]] = {
    "bytes": lambda _: b"\xff\x00",
    "a number": lambda _: 7,
    "an empty map": lambda _: pack_text("{}"),
    "a list": lambda _: pack_text("[]"),
    "deep": lambda _: pack_text("[" * 100_000),
    "no text": lambda _: pack_text("x"),
    "many values": lambda text: pack_text(text.replace('"received":', MANY)),
} | {
    f"{name} is {value}": changed(name, value)
    for name in ("session", "received", "principal", "connected", "now")
    for value in STRANGE
}


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_session_that_somebody_else_wrote_is_refused_alone(workers: Workers, name: str) -> None:
    first, ann, bob = await workers.start(), Client("s1"), Client("s2")
    for client in (ann, bob):
        client.take(await first.frames(ANN, client.ask("add", n=1)))
    await first.aclose()
    with closing(sqlite3.connect(workers.path)) as database, database:
        for row, data in database.execute("SELECT name, data FROM sessions").fetchall():
            if "s1" in row:
                database.execute("UPDATE sessions SET data = ? WHERE name = ?", (HOSTILE[name](unpack_text(data)), row))
    second = await workers.start()
    with suppress(ProtocolError) if "is" in name else pytest.raises(ProtocolError, match="E"):
        await second.frames(ANN, ann.ask("add", n=2))
    (message,) = bob.messages(await second.frames(ANN, bob.ask("add", n=2)))
    assert message.payload["echo"] == 2
