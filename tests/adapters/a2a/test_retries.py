"""A request that comes again is answered with what it started; no other request is taken for one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from a2a.auth.user import User
from a2a.client import Client
from a2a.helpers import new_text_part
from a2a.server.context import ServerCallContext
from a2a.types import GetTaskRequest, SendMessageRequest, Task, TaskState
from a2a.utils.errors import A2AError

from accp_adapters.a2a import EXTENSION
from accp_adapters.a2a.retries import StartedRequests
from tests.adapters.a2a.calls import asking, connect, request, told
from tests.adapters.a2a.serve import Served, negotiating, serve


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    async with serve(negotiating) as running_agent:
        yield running_agent


class Principal(User):
    """A user whom the transport authenticated."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def is_authenticated(self) -> bool:
        return True

    @property
    def user_name(self) -> str:
        return self._name


def called_by(name: str, tenant: str = "") -> ServerCallContext:
    """Return the context of a call of an authenticated user who requests frames."""
    return ServerCallContext(user=Principal(name), tenant=tenant, requested_extensions={EXTENSION})


async def result_of(client: Client, asked: SendMessageRequest, **options: Any) -> Any:
    """Return the task or the message at the end of a call."""
    response = [each async for each in client.send_message(asked, **options)][-1]
    return response.task if response.HasField("task") else response.message


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON", "GRPC"])
async def test_an_identical_request_is_answered_with_its_task_and_runs_once(served: Served, binding: str) -> None:
    async with await connect(served.card, binding) as client:
        first = await result_of(client, request("several-once"))
        assert await result_of(client, request("several-once")) == first
    assert len(served.agent.seen) == 1


async def test_an_identical_request_is_answered_with_its_reply(served: Served) -> None:
    async with await connect(served.card) as client:
        first = await result_of(client, request("tck-message-response"))
        assert await result_of(client, request("tck-message-response")) == first
    async with await connect(served.card, streaming=True) as client:
        events = [await told(client, request("tck-message-response")) for _ in range(2)]
    assert events[0] == events[1]
    assert len(served.agent.seen) == 2


async def test_a_request_is_answered_with_its_task_as_that_is_now(served: Served) -> None:
    async with await connect(served.card) as client:
        task = await result_of(client, request("tck-input-required-1"))
        more = request("tck-input-required-2", new_text_part("Q3"), task_id=task.id, context_id=task.context_id)
        assert (await result_of(client, more)).status.state == TaskState.TASK_STATE_COMPLETED
        short = request("tck-input-required-1")
        short.configuration.history_length = 1
        tasks = [await result_of(client, short) for _ in range(2)]
        assert tasks[0].id == tasks[1].id != task.id, "another configuration is another request"
        assert [len(each.history) for each in tasks] == [1, 1]
        assert (await result_of(client, request("tck-input-required-1"))).status.state == TaskState.TASK_STATE_COMPLETED
    assert len(served.agent.seen) == 3


async def test_a_stream_that_comes_again_goes_on_with_the_same_task(served: Served) -> None:
    async with await connect(served.card, streaming=True) as client:
        first = aiter(client.send_message(request("gate-stream")))
        task_id = (await anext(first)).task.id
        again = aiter(client.send_message(request("gate-stream")))
        assert (await anext(again)).task.id == task_id
        served.agent.gate.set()
        ends = [[event async for event in stream][-1] for stream in (first, again)]
        assert ends[0] == ends[1]
        late = [each async for each in client.send_message(request("gate-stream"))]
    assert [each.task.id for each in late] == [task_id]
    assert len(served.agent.seen) == 1


async def test_a_request_that_comes_again_while_it_runs_waits_for_the_same_task(served: Served) -> None:
    async with await connect(served.card) as client:
        calls = [asyncio.ensure_future(result_of(client, request("gate-both"))) for _ in range(2)]
        other = asyncio.ensure_future(result_of(client, request("gate-other")))
        while len(served.agent.seen) < 2:
            await asyncio.sleep(0)
        served.agent.gate.set()
        one, two = await asyncio.gather(*calls)
        assert one.id == two.id != (await other).id
    assert len(served.agent.seen) == 2


async def test_a_request_whose_caller_has_gone_is_still_answered_once(served: Served) -> None:
    call = asyncio.ensure_future(served.handler.on_message_send(request("gate-gone"), called_by("ann")))
    while not served.agent.seen:
        await asyncio.sleep(0)
    call.cancel()
    served.agent.gate.set()
    task = await served.handler.on_message_send(request("gate-gone"), called_by("ann"))
    assert isinstance(task, Task)
    assert len(served.agent.seen) == 1


async def test_two_clients_may_use_one_message_id(served: Served) -> None:
    tasks = []
    for _ in range(2):
        async with await connect(served.card) as client:
            tasks.append(await result_of(client, request("1")))
            tasks.append(await result_of(client, request("1", new_text_part("another"))))
    assert len({task.id for task in tasks}) == 4
    assert len(served.agent.seen) == 4


async def test_a_caller_whom_nobody_knows_is_never_taken_for_another(served: Served) -> None:
    async with await connect(served.card, aware=False) as client:
        tasks = [await result_of(client, request("1"), context=asking()) for _ in range(2)]
    assert tasks[0].id != tasks[1].id


async def test_a_principal_is_part_of_the_key(served: Served) -> None:
    callers = [("ann", ""), ("bob", ""), ("ann", "acme"), ("annacme", "")]
    tasks = [await served.handler.on_message_send(request("1"), called_by(*caller)) for caller in callers]
    assert len({task.id for task in tasks if isinstance(task, Task)}) == len(callers)
    again = [await served.handler.on_message_send(request("1"), called_by(*caller)) for caller in callers]
    assert again == tasks


async def test_callers_without_frames_are_not_looked_at(served: Served) -> None:
    async with await connect(served.card, aware=False) as client:
        assert (await result_of(client, request("twice"))).id != (await result_of(client, request("twice"))).id


@pytest.mark.parametrize("streaming", [False, True])
async def test_a_request_that_started_nothing_may_come_again(served: Served, streaming: bool) -> None:
    async with await connect(served.card, streaming=streaming) as client:
        unknown = request("again", task_id="nowhere")
        first, second = await told(client, unknown), await told(client, unknown)
        assert first == second
        assert "TaskNotFoundError" in str(first)


async def test_who_waits_for_a_request_that_starts_nothing_runs_it_again() -> None:
    gate, runs = asyncio.Event(), []

    class Once:
        async def on_message_send(self, params: SendMessageRequest, context: ServerCallContext) -> Task:
            runs.append(params)
            if len(runs) == 1:
                await gate.wait()
                raise A2AError("not yet")
            return Task(id="t")

        async def on_get_task(self, params: GetTaskRequest, context: ServerCallContext) -> Task:
            return Task(id=params.id)

    started = StartedRequests(Once())  # type: ignore[arg-type]  # only two of its methods are called
    calls = [asyncio.ensure_future(started.send(request("1"), called_by("ann"))) for _ in range(3)]
    await asyncio.sleep(0)
    gate.set()
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert isinstance(results[0], A2AError)
    assert results[1:] == [Task(id="t")] * 2
    assert len(runs) == 2


async def test_a_task_that_is_gone_is_started_again(served: Served) -> None:
    first = await served.handler.on_message_send(request("1"), called_by("ann"))
    assert isinstance(first, Task)
    await served.store.delete(first.id, called_by("ann"))
    second = await served.handler.on_message_send(request("1"), called_by("ann"))
    assert isinstance(second, Task) and second.id != first.id


async def test_what_is_remembered_is_bounded_in_bytes(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.a2a.retries.MAX_BYTES", 10_000)
    started = StartedRequests(served.handler.inner)  # type: ignore[attr-defined]  # it is wrapped
    for number in range(20):
        await started.send(request(f"{number}", new_text_part("x" * 10_000)), called_by("ann"))
    assert len(served.agent.seen) == 20
    await started.send(request("19", new_text_part("x" * 10_000)), called_by("ann"))
    assert len(served.agent.seen) == 20
    assert started._started.size <= 10_000
    await started.send(request("0", new_text_part("x" * 10_000)), called_by("ann"))
    assert len(served.agent.seen) == 21
