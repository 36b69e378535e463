"""What takes long to encode or to decode is done in a thread, and costs the event loop nothing."""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncIterator, Awaitable
from types import FrameType
from typing import Any, Final

import pytest
from a2a.client.interceptors import AfterArgs, BeforeArgs
from a2a.helpers import new_data_part, new_text_part
from a2a.server.context import ServerCallContext
from a2a.server.request_handlers import RequestHandler
from a2a.types import (
    Artifact,
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    ListTasksResponse,
    Message,
    Part,
    Role,
    SendMessageRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    Task,
    TaskArtifactUpdateEvent,
)

from accp_adapters.a2a import EXTENSION, AccpClientInterceptor, AccpRequestHandler, declare
from accp_adapters.a2a.wire.events import decode, encode
from accp_adapters.a2a.wire.offloading import decode_aside, encode_aside, is_small
from tests.adapters.a2a.agent import card

CONTEXT: Final = ServerCallContext(requested_extensions={EXTENSION})


def rows(number: int) -> Part:
    """Return a data part of so many rows."""
    return new_data_part({"rows": [{"id": n, "name": f"row {n}"} for n in range(number)]})


def a_task(*parts: Part) -> Task:
    """Return a task with one artifact."""
    return Task(id="t", context_id="c", artifacts=[Artifact(artifact_id="a", parts=parts)])


def update(*parts: Part) -> TaskArtifactUpdateEvent:
    """Return a chunk of an artifact."""
    return TaskArtifactUpdateEvent(task_id="t", context_id="c", artifact=Artifact(artifact_id="a", parts=parts))


class Inner(RequestHandler):
    """Gives the same task, update or list to every call."""

    def __init__(self, part: Part) -> None:
        self.task = a_task(part)
        self.update = update(part)

    async def _events(self, *_: Any) -> AsyncIterator[Any]:
        yield self.task
        yield self.update

    async def _task(self, *_: Any) -> Task:
        return self.task

    async def _list(self, *_: Any) -> ListTasksResponse:
        return ListTasksResponse(tasks=[self.task, self.task])

    on_message_send = on_get_task = on_cancel_task = _task  # type: ignore[assignment]  # each gives the task
    on_message_send_stream = on_subscribe_to_task = _events  # type: ignore[assignment]  # each gives both events
    on_list_tasks = _list  # type: ignore[assignment]


Inner.__abstractmethods__ = frozenset()  # type: ignore[attr-defined]  # the other methods are not called


def sent(part: Part) -> SendMessageRequest:
    """Return a request with one part, framed."""
    message = Message(message_id="m", role=Role.ROLE_USER, parts=[part])
    return SendMessageRequest(message=encode(message, never_larger=False))


async def all_calls(part: Part) -> None:
    """Make every call of a server, and both ends of one of a client, with this part in all that is sent."""
    handler = AccpRequestHandler(Inner(part))
    await handler.on_message_send(sent(part), CONTEXT)
    await handler.on_get_task(GetTaskRequest(id="t"), CONTEXT)
    await handler.on_cancel_task(CancelTaskRequest(id="t"), CONTEXT)
    await handler.on_list_tasks(ListTasksRequest(), CONTEXT)
    assert len([each async for each in handler.on_message_send_stream(sent(part), CONTEXT)]) == 2
    assert len([each async for each in handler.on_subscribe_to_task(SubscribeToTaskRequest(id="t"), CONTEXT)]) == 2
    agent, interceptor = declare(card()), AccpClientInterceptor()
    asked = SendMessageRequest(message=decode(sent(part).message))
    before = BeforeArgs(input=asked, method="send_message", agent_card=agent)
    await interceptor.before(before)
    for result in (encode(a_task(part)), StreamResponse(artifact_update=encode(update(part)))):
        after = AfterArgs(result=result, method="get_task", agent_card=agent, context=before.context)
        await interceptor.after(after)


async def test_whatever_is_large_is_encoded_and_decoded_in_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: dict[str, list[bool]] = {"encode": [], "decode": []}
    here = threading.get_ident()
    for name, work in (("encode", encode), ("decode", decode)):

        def noted(event: Any, *given: Any, work: Any = work, name: str = name, **options: Any) -> Any:
            threads[name].append(threading.get_ident() == here)
            return work(event, *given, **options)

        monkeypatch.setattr(f"accp_adapters.a2a.wire.offloading.{name}", noted)
    await all_calls(rows(400))
    assert len(threads["encode"]) == 9 and len(threads["decode"]) == 4
    assert not any(threads["encode"] + threads["decode"])
    await all_calls(rows(2))
    assert all(threads["encode"][9:] + threads["decode"][4:])


async def calls_in_loop(run: Awaitable[object]) -> int:
    """Return how many functions the thread of the event loop calls until `run` is done."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    sys.setprofile(count)
    try:
        await run
    finally:
        sys.setprofile(None)
    return calls


async def test_the_loop_does_no_more_for_what_is_large() -> None:
    calls = []
    for number in (400, 400, 1_200):
        handler = AccpRequestHandler(Inner(rows(number)))
        calls.append(await calls_in_loop(handler.on_get_task(GetTaskRequest(id="t"), CONTEXT)))
    assert calls[2] <= 1.1 * calls[1]


@pytest.mark.parametrize(
    ("part", "small"),
    [
        (new_text_part("x" * 4_000), True),
        (new_text_part("x" * 5_000), False),
        (new_data_part(["x" * 2_000, {"k": [1, None, True]}]), True),
        (new_data_part([1] * 5_000), False),
        (new_data_part({f"{n}": 1 for n in range(5_000)}), False),
        (new_data_part({"k" * 5_000: 1}), False),
        (Part(raw=b"x" * 10_000), True),
    ],
)
def test_what_is_small_is_told_by_what_must_be_encoded(part: Part, small: bool) -> None:
    assert is_small(a_task(part)) == small


def test_many_small_parts_are_large() -> None:
    assert not is_small(a_task(*[new_text_part("")] * 5_000))


async def test_what_comes_back_is_the_same() -> None:
    task = a_task(rows(400))
    assert await encode_aside(task, never_larger=False) == encode(task, never_larger=False)
    assert await decode_aside(encode(task)) == task
