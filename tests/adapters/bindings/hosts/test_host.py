"""The host of one worker."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from accp_adapters.bindings.hosts import HOST_SESSION, HostLimits, Request, SessionHost
from accp_adapters.serving.principals import Principal
from accp_adapters.stores import SqliteColdStore
from accp_core.accp import PRACTICAL_LIMITS, Message, StreamChunkReceived, StreamEnded, parse_frame
from accp_core.accp.frame import Intent
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError, ProtocolError
from tests.adapters.bindings.hosts.agents import ANN, BOB, CODEC, Client
from tests.limits import PATIENCE


async def echo(request: Request) -> Mapping[str, Any]:
    return {"echo": request.message.payload["n"], "key": request.idempotency_key, "runs": request.runs}


def host(handler: Any = echo, **limits: Any) -> SessionHost:
    return SessionHost(handler, codec=CODEC, limits=HostLimits(**limits))


async def test_a_request_is_answered_by_what_the_handler_returns() -> None:
    client = Client()
    async with host() as served:
        (message,) = client.messages(await served.frames(ANN, client.ask("add", n=7)))
    assert (message.sender, message.intent, message.operation) == ("agent", Intent.COMPLETE, "add")
    assert message.payload == {"echo": 7, "key": "ann1", "runs": 1}


async def test_the_same_frame_again_gets_the_same_frames_and_runs_nothing() -> None:
    client, runs = Client(), []

    async def handle(request: Request) -> Mapping[str, Any]:
        runs.append(request.idempotency_key)
        return {}

    async with host(handle) as served:
        frame = client.ask("pay")
        first = await served.frames(ANN, frame)
        assert await served.frames(ANN, frame) == first
        assert await asyncio.gather(*(served.frames(ANN, frame) for _ in range(5))) == [first] * 5
    assert runs == ["ann1"]


async def test_nobody_learns_which_session_ids_others_use() -> None:
    """ACCP 9: a session belongs to its principal; the same id of another principal is another session."""
    async with host() as served:
        frame, before = Client().ask("add", n=1), await served.frames(BOB, Client("free").ask("add", n=1))
        (ours,) = await served.frames(ANN, frame)
        (theirs,) = await served.frames(BOB, frame)
        async with served.attached(BOB, "s1"):
            pass
    found, other, free = (parse_frame(text) for text in (ours, theirs, *before))
    assert (found.params, found.envelope.sequence) == (other.params, other.envelope.sequence)
    assert found.envelope.msg_id != other.envelope.msg_id
    assert (other.params, other.envelope.sequence) == (free.params, free.envelope.sequence)


async def test_cold_texts_of_another_principal_are_not_found() -> None:
    """ACCP 9: "Cold state references MUST be scoped to the current session", whatever its id is."""
    store = SqliteColdStore()
    shared = replace(CODEC, shared_store=True)
    long = {"words": "a text of more than fifty characters, which is stored and not sent"}

    async def tell(_: Request) -> Mapping[str, Any]:
        return long

    async with SessionHost(tell, codec=shared, store=store) as served:
        (answer,) = await served.frames(ANN, Client().ask("tell"))
        ref = parse_frame(answer).params["words"]
        again = f"@ann>req:read{{words:${ref.key}}}[mid:a2,seq:2,ts:1000,sid:s1]"  # type: ignore[union-attr]  # a Ref
        (opened,) = await served.frames(ANN, again)
        (refused,) = await served.frames(BOB, again.replace("seq:2", "seq:1"))
    assert parse_frame(opened).intent is Intent.COMPLETE
    assert parse_frame(refused).params["code"] == ErrorCode.REF_NOT_FOUND


async def test_an_agent_that_the_principal_may_not_speak_for_is_refused() -> None:
    """ACCP 9: frames are not signed; a refused frame begins no session."""
    company = Principal("co", frozenset({"ann"}))
    async with host() as served:
        with pytest.raises(ProtocolError) as refused:
            await served.frames(company, Client(agent="mallory").ask("add", n=1))
        assert await served.frames(ANN, Client(agent="mallory").ask("add", n=1))
    assert refused.value.code == ErrorCode.POLICY_DENIED


async def test_a_session_id_that_no_answer_could_carry_is_refused() -> None:
    async with host() as served:
        await served.frames(ANN, Client("s" * 64).ask("add", n=1))
        for open_it in (
            served.frames(ANN, Client("s" * 65).ask("add", n=1)),
            served.attached(ANN, "s" * 65).__aenter__(),
        ):
            with pytest.raises(ProtocolError, match=r"^.*at most 64 characters, found 65: 'sss") as refused:
                await open_it
            assert refused.value.code == ErrorCode.PARSE_ERROR


async def test_a_text_without_a_head_is_refused_and_begins_no_session() -> None:
    """ACCP 11.1: "400 with ER-schema error frame body"."""
    async with host() as served:
        with pytest.raises(DecodeError) as refused:
            await served.frames(ANN, "@ann>req:")
        error = parse_frame(served.refusal(refused.value, "@ann>req:"))
        foreign = parse_frame(served.refusal(ProtocolError("no", code="X1"), Client().ask("add", n=1)))
    assert (refused.value.code, error.params["code"], error.envelope.sequence) == ("E1001", "E1001", 0)
    assert (foreign.params["code"], foreign.envelope.correlation_id) == ("E9999", "ann1")


async def test_a_frame_without_a_session_id_belongs_to_its_principal_and_sender() -> None:
    async with host() as served:
        (ours,) = await served.frames(ANN, "@ann>req:add{n:1}[mid:a,seq:1]")
        (theirs,) = await served.frames(BOB, "@ann>req:add{n:2}[mid:a,seq:1]")
        for _ in range(2):
            (other,) = await served.frames(ANN, "@ann>req:add{n:3}[mid:a,seq:1,sid:ann]")
    found = [parse_frame(text) for text in (ours, theirs, other)]
    assert [frame.params["echo"] for frame in found] == [1, 2, 3]
    assert [frame.envelope.session_id for frame in found] == [None, None, "ann"]


async def test_a_session_without_an_id_goes_on_without_one_in_another_worker() -> None:
    store = SqliteColdStore()
    for number in (1, 2, 3):
        async with SessionHost(echo, codec=CODEC, store=store) as served:
            (answer,) = await served.frames(ANN, f"@ann>req:add{{n:{number}}}[mid:a{number},seq:{number}]")
        frame = parse_frame(answer)
        assert (frame.envelope.sequence, frame.envelope.session_id) == (number, None)


async def test_chunks_that_a_handler_yields_are_a_stream() -> None:
    """ACCP 10.4 and 11.1: one ST frame for each chunk, the last one final."""
    client = Client()

    async def handle(request: Request) -> AsyncIterator[Any]:
        yield {"data": "one"}
        yield "two"

    async with host(handle) as served:
        frames = [frame async for frame in served.stream(ANN, client.ask("tell"))]
    events = client.take(frames)
    chunks = [event.message.payload["data"] for event in events if isinstance(event, StreamChunkReceived)]
    assert chunks == ["one", "two", ""]
    assert any(isinstance(event, StreamEnded) for event in events)


async def test_frames_that_are_recorded_while_one_is_sent_are_sent_too() -> None:
    """ACCP 10.4: a stream ends with its final chunk, however slowly it is read."""
    client, finished = Client(), asyncio.Event()

    async def handle(request: Request) -> AsyncIterator[Any]:
        for number in range(5):
            yield str(number)
        finished.set()

    frames = list[str]()
    async with host(handle) as served:
        asked = client.ask("tell")
        async for frame in served.stream(ANN, asked):
            frames.append(frame)
            await finished.wait()
        assert frames == await served.frames(ANN, asked)
    chunks = [event for event in client.take(frames) if isinstance(event, StreamChunkReceived)]
    assert [chunk.message.payload["data"] for chunk in chunks] == ["0", "1", "2", "3", "4", ""]


def cancel_this_task() -> None:
    task = asyncio.current_task()
    assert task
    task.cancel()


def fail(error: BaseException) -> Any:
    raise error


INTERNAL = ("E9999", "internal error")
REQUEST = Message(sender="", intent=Intent.REQUEST, operation="pay", payload={})


@pytest.mark.parametrize(
    ("act", "code", "words"),
    [
        (lambda: fail(ProtocolError("no such invoice", code="E2001")), "E2001", "no such invoice"),
        (lambda: fail(ProtocolError("own code", code="X9")), *INTERNAL),
        (lambda: fail(KeyError("secret")), *INTERNAL),
        (lambda: fail(TimeoutError()), "E3001", "the handler took too long"),
        (cancel_this_task, *INTERNAL),
        (lambda: fail(SystemExit(3)), *INTERNAL),
        (lambda: fail(asyncio.CancelledError()), *INTERNAL),
        (lambda: {"a": {1, 2}}, "E1004", ""),
        (lambda: {"a": float("nan")}, "E1004", ""),
        (lambda: {1: 2}, "E1004", ""),
        (lambda: 7, *INTERNAL),
        (lambda: REQUEST, *INTERNAL),
    ],
)
async def test_a_handler_that_raises_ends_itself_or_gives_no_answer_has_failed_and_runs_once(
    act: Any, code: str, words: str
) -> None:
    client, runs = Client(), []

    async def handle(request: Request) -> Any:
        runs.append(request.idempotency_key)
        answer = act()
        await asyncio.sleep(0)
        return answer

    async with host(handle, answer_wait=20.0) as served:
        (message,) = client.messages(await served.frames(ANN, client.ask("pay")))
    assert (message.intent, message.payload["code"], runs) == (Intent.FAILURE, code, ["ann1"])
    assert message.payload["message"].startswith(words)


async def test_a_cancel_stops_the_handler_and_its_answer() -> None:
    """ACCP 3.7: a cancel "MUST stop all processing for that request chain"."""
    client, begun, stopped = Client(), asyncio.Event(), asyncio.Event()

    async def handle(request: Request) -> Mapping[str, Any]:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return {}

    async with host(handle) as served:
        waiting = asyncio.ensure_future(served.frames(ANN, client.ask("pay")))
        await begun.wait()
        await served.frames(ANN, client.ask("pay", intent=Intent.CANCEL, correlation_id="ann1"))
        await stopped.wait()
        assert await waiting == []


async def test_a_connection_gets_the_answers_to_what_it_gave() -> None:
    """ACCP 11.2: one frame for each message, both ways."""
    client = Client()
    async with host() as served, served.attached(ANN, "s1") as attachment:
        for frame in client.session.connected(1_000):
            await attachment.receive(frame)
        for number in range(5):
            await attachment.receive(client.ask("add", n=number))
        found = [client.messages([await anext(attachment)])[0].payload["echo"] for _ in range(5)]
    assert found == [0, 1, 2, 3, 4]


async def test_another_connection_ends_the_first_one_and_sends_what_the_peer_misses() -> None:
    client = Client()
    async with host() as served, served.attached(ANN, "s1") as first:
        client.session.connected(1_000)
        await first.receive(client.ask("add", n=1))
        assert len([await anext(first)]) == 1  # it is lost: the client never takes it
        client.session.disconnected(1_000)
        async with served.attached(ANN, "s1") as second:
            assert [frame async for frame in first] == []
            for frame in client.session.connected(1_000):
                await second.receive(frame)
            found = []
            while not found:
                found = client.messages([await anext(second)])
    assert found[0].payload["echo"] == 1


class Gated(SqliteColdStore):
    """Saves nothing while its gate is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()
        self.gate.set()

    def save_session(self, *arguments: Any) -> bool:
        assert self.gate.wait(PATIENCE)
        return super().save_session(*arguments)


async def test_a_connection_whose_end_is_noticed_late_does_not_silence_the_next_one() -> None:
    """Both ends of the old connection, and the new one, wait for a step that the store holds up."""
    client, store = Client(), Gated()
    async with SessionHost(echo, codec=CODEC, store=store) as served, asyncio.timeout(PATIENCE):
        old, new = served.attached(ANN, "s1", number=1), served.attached(ANN, "s1", number=2)
        first = await old.__aenter__()
        client.session.connected(1_000)
        frame = client.ask("add", n=1)
        client.session.disconnected(1_000)
        store.gate.clear()
        waiting = list[Any]()
        for step in (first.receive(frame), new.__aenter__(), old.__aexit__(None, None, None)):
            waiting.append(asyncio.ensure_future(step))
            for _ in range(9):
                await asyncio.sleep(0)
        store.gate.set()
        _, second, _ = await asyncio.gather(*waiting)
        for greeting in client.session.connected(1_000):
            await second.receive(greeting)
        found = list[Message]()
        while not found:
            found = client.messages([await anext(second)])
        await new.__aexit__(None, None, None)
    assert found[0].payload["echo"] == 1


async def test_a_frame_that_asks_for_nothing_and_came_early_is_answered_when_its_turn_has_come() -> None:
    client = Client()
    async with host() as served:
        first, ping = client.ask("add", n=1), client.ask("hb", intent=Intent.PING)
        early = asyncio.ensure_future(served.frames(ANN, ping))
        await asyncio.sleep(0)
        answers = [*await served.frames(ANN, first), *await early]
    assert sorted(parse_frame(frame).intent for frame in answers) == ["done", "pong"]


async def test_a_frame_whose_predecessor_does_not_come_is_refused_and_taken_later() -> None:
    """ACCP 3.7: "A gap in sequence numbers MUST trigger error E3003 SEQUENCE_GAP"."""
    client, now = Client(first=1, reorder=8), [1_000.0]
    async with SessionHost(echo, codec=CODEC, clock=lambda: now[0]) as served:
        first, second = client.ask("add", n=1), client.ask("add", n=2)
        early = asyncio.ensure_future(served.frames(ANN, second))
        await asyncio.sleep(0.01)
        assert not early.done()
        now[0] += HOST_SESSION.gap_delay
        (gap,) = await early
        assert parse_frame(gap).params["code"] == ErrorCode.SEQUENCE_GAP
        repeated = asyncio.ensure_future(served.frames(ANN, second))
        await asyncio.sleep(0.01)
        assert not repeated.done()
        await served.frames(ANN, first)
        frames = await served.frames(ANN, second)
        assert frames == await repeated
    assert (frames[0], parse_frame(frames[-1]).params["echo"]) == (gap, 2)


async def test_the_answers_that_are_kept_are_bounded_by_their_length() -> None:
    client, size, limits = Client(), 50_000, HostLimits(answer_characters=300_000)

    async def handle(request: Request) -> Mapping[str, Any]:
        return {"text": "x" * size}

    async with SessionHost(handle, codec=replace(CODEC, limits=PRACTICAL_LIMITS), limits=limits) as served:
        asked = [client.ask("tell") for _ in range(8)]
        for frame in asked:
            await served.frames(ANN, frame)
        (refused,) = await served.frames(ANN, asked[0])
        (again,) = await served.frames(ANN, asked[-1])
    assert parse_frame(refused).params["code"] == ErrorCode.DUPLICATE
    assert len(again) > size


@pytest.mark.parametrize(
    ("intent", "operation", "payload"),
    [
        (Intent.WAITING, "approval", {"reason": "a person decides"}),
        (Intent.SYNCHRONIZE, "state", {"version": 1, "context": {"step": 1}}),
        (Intent.ACKNOWLEDGE, "pay", {}),
        (Intent.ESCALATE, "pay", {}),
        (Intent.STREAM, "pay", {"chunk_index": 0, "data": "one"}),
    ],
)
@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_handler_that_ends_without_an_answer_runs_once(
    intent: Intent, operation: str, payload: dict[str, Any], is_stream: bool
) -> None:
    """ACCP 3.7: a request is handled once; where its handler ends without an answer, that is a failure."""
    client, runs = Client(), []
    schema = "ST" if intent is Intent.STREAM else None
    message = Message(sender="", intent=intent, operation=operation, payload=payload, schema=schema)

    async def one(request: Request) -> Message:
        runs.append(request.idempotency_key)
        return message

    async def several(request: Request) -> AsyncIterator[Any]:
        runs.append(request.idempotency_key)
        yield message
        if intent is Intent.STREAM:
            raise ProtocolError("expected more", code="E9999")

    async with host(several if is_stream else one, answer_wait=20.0) as served:
        frame = client.ask("pay")
        frames = await served.frames(ANN, frame)
        assert await served.frames(ANN, frame) == frames
        await served.frames(ANN, client.ask("add", intent=Intent.PING))
    assert runs == ["ann1"]
    last = parse_frame(frames[-1])
    assert parse_frame(frames[0]).intent is intent
    if is_stream and intent is not Intent.STREAM:
        assert (last.intent, last.params["schema"]) == (Intent.STREAM, "ST")
    else:
        assert (last.intent, last.params["code"]) == (Intent.FAILURE, ErrorCode.INTERNAL_ERROR)
