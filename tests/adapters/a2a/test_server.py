"""The edge of the server: what stays plain, what is done once, what is refused."""

from __future__ import annotations

import asyncio
import json
import socket
import tracemalloc
from collections.abc import AsyncIterator
from copy import copy
from dataclasses import replace
from typing import Any

import pytest
from a2a.client import A2AClientError, Client
from a2a.helpers import new_text_part
from a2a.server.context import ServerCallContext
from a2a.server.request_handlers import RequestHandler
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    SendMessageConfiguration,
    StreamResponse,
    SubscribeToTaskRequest,
    Task,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils.errors import A2AError
from httpx import AsyncClient
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from accp_adapters.a2a import EXTENSION, AccpRequestHandler, declare, error_code
from accp_adapters.a2a.wire.events import encode
from accp_adapters.a2a.wire.part_locations import located_parts
from accp_adapters.a2a.wire.parts import codec
from accp_core.accp import Intent, serialize_frame
from accp_core.accp import Message as AccpMessage
from tests.adapters.a2a.agent import card
from tests.adapters.a2a.calls import ASKED, Recorder, asking, connect, request, told
from tests.adapters.a2a.serve import Served, always, negotiating, plain, running, serve
from tests.core.view.bombs import BOMBS
from tests.limits import PATIENCE, async_wait_until

BOMB = BOMBS["a repeated array"]
MEDIA_TYPE = ', "mediaType": "application/json"'


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    async with serve(always) as running_agent:
        yield running_agent


async def task_of(client: Client, name: str, **options: Any) -> Task:
    """Return the task that a request makes."""
    (response,) = [each async for each in client.send_message(request(name), **options)]
    return response.task


def holds_frames(value: object) -> bool:
    """Return whether there is a frame in what was sent or stored."""
    return "application/accp" in str(value) or "@agent>" in str(value)


async def test_the_store_and_the_agent_never_see_a_frame(served: Served) -> None:
    async with await connect(served.card) as client:
        task = await task_of(client, "several-stored")
    stored = await served.store.get(task.id, ServerCallContext())
    assert stored == task
    assert not holds_frames(stored)
    assert served.agent.seen[0].parts == ASKED
    assert not holds_frames(served.agent.seen)


async def test_reading_is_no_repetition(served: Served) -> None:
    async with await connect(served.card) as client:
        task = await task_of(client, "several-read")
        for _ in range(2):
            assert await client.get_task(GetTaskRequest(id=task.id)) == task
            listed = await client.list_tasks(ListTasksRequest(include_artifacts=True))
            assert [each.artifacts for each in listed.tasks] == [task.artifacts]
        frames = await client.get_task(GetTaskRequest(id=task.id, history_length=1))
        assert frames.history == task.history[-1:]


async def test_a_task_can_be_cancelled(served: Served) -> None:
    async with await connect(served.card) as client:
        asked = request("gate-cancel")
        asked.configuration.return_immediately = True
        (response,) = [each async for each in client.send_message(asked)]
        cancelled = await client.cancel_task(CancelTaskRequest(id=response.task.id))
        assert cancelled.status.state == TaskState.TASK_STATE_CANCELED
        with pytest.raises((A2AError, A2AClientError)) as refused:
            await client.cancel_task(CancelTaskRequest(id=response.task.id))
    assert error_code(refused.value) == "E5001"


async def events_of(stream: AsyncIterator[StreamResponse]) -> list[StreamResponse]:
    """Return all events of a stream."""
    return [event async for event in stream]


async def test_a_stream_that_begins_in_the_middle_is_decoded(served: Served) -> None:
    async with await connect(served.card, streaming=True) as client:
        first = aiter(client.send_message(request("gate-late")))
        task = (await anext(first)).task
        await anext(first)
        late = aiter(client.subscribe(SubscribeToTaskRequest(id=task.id)))
        assert not holds_frames(await anext(late))
        served.agent.gate.set()
        whole, rest = await events_of(first), await events_of(late)
    assert rest == whole
    assert not holds_frames(rest)


async def test_who_comes_later_is_given_the_task_as_it_is_then(served: Served) -> None:
    served.agent.second_gate.clear()
    async with await connect(served.card, streaming=True) as client:
        stream = aiter(client.send_message(request("gate-twice")))
        late = SubscribeToTaskRequest(id=(await anext(stream)).task.id)
        await anext(stream)
        early = aiter(client.subscribe(late))
        assert len((await anext(early)).task.artifacts[0].parts) == 1
        served.agent.gate.set()
        for _ in range(2):
            await anext(stream)
        later = aiter(client.subscribe(late))
        assert len((await anext(later)).task.artifacts[0].parts) == 5
        served.agent.second_gate.set()
        streams = await asyncio.gather(*map(events_of, (stream, later)))
        assert streams[0] == streams[1]
        assert (await events_of(early))[2:] == streams[0]


@pytest.mark.parametrize(
    "sign",
    [
        {"metadata": {"accp": True}},
        {"extensions": [EXTENSION]},
        {"parts": [Part(text="@me>req:task{d:hi}[mid:0123456789ab,seq:1]", media_type="application/accp")]},
    ],
    ids=["metadata", "extensions of the message", "a frame in the message"],
)
async def test_nothing_in_a_message_asks_for_frames_and_all_of_it_reaches_the_agent(
    served: Served, sign: dict[str, Any]
) -> None:
    asked = request("several-sign")
    asked.message.MergeFrom(Message(**sign))
    asked.configuration.CopyFrom(SendMessageConfiguration(accepted_output_modes=["application/accp"]))
    async with await connect(served.card, aware=False) as client:
        (response,) = [each async for each in client.send_message(asked)]
    assert not holds_frames(response.task.artifacts)
    (seen,) = served.agent.seen
    seen.ClearField("task_id")
    seen.ClearField("context_id")
    assert seen == asked.message


async def test_metadata_like_ours_pass_between_peers_that_exchange_frames(served: Served) -> None:
    asked = request("several-like-ours")
    asked.message.metadata.update({"accp": True, "mine": {"was": 1}})
    for context in (None, asking()):
        async with await connect(served.card, aware=context is None) as client:
            async for _ in client.send_message(asked, context=context):
                pass
        assert served.agent.seen[-1].metadata == asked.message.metadata


@pytest.mark.parametrize("payload", [{"view": BOMB}, {"view": BOMB, "layout": f"v3 on1+4s;1.0:{len(BOMB)}"}])
async def test_a_view_that_expands_is_refused_before_it_does(served: Served, payload: dict[str, str]) -> None:
    asked = request("bomb")
    part, location = next(iter(located_parts(asked.message)))
    bomb = AccpMessage(sender="user", intent=Intent.REQUEST, operation="task", payload=payload, schema=None)
    (frame,) = codec().encode(replace(bomb, envelope=location.envelope)).frames
    part.CopyFrom(Part(text=serialize_frame(frame)))
    asked.message.metadata["accp"] = True
    tracemalloc.start()
    async with await connect(served.card, aware=False) as client:
        ((kind, reason),) = await told(client, asked, context=asking())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert kind == "InvalidParamsError" and "E2003" in reason
    assert served.agent.seen == []
    assert peak < 20_000_000


async def test_a_broken_frame_is_refused_with_its_code(served: Served) -> None:
    asked = request("broken", new_text_part("hi"))
    asked.message.CopyFrom(encode(asked.message, never_larger=False))
    asked.message.parts[0].text = asked.message.parts[0].text.replace("d:hi", "x:hi")
    async with await connect(served.card, aware=False) as client:
        ((kind, reason),) = await told(client, asked, context=asking())
    assert kind == "InvalidParamsError" and "E1001: expected one of" in reason
    assert served.agent.seen == []


async def test_push_notifications_stay_plain(served: Served) -> None:
    posted: list[Any] = []

    async def receive(asked: Request) -> Response:
        posted.append(json.loads(await asked.body()))
        return Response()

    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
    async with (
        running(Starlette(routes=[Route("/", receive, methods=["POST"])]), listener),
        await connect(served.card) as client,
    ):
        asked = request("several-push")
        asked.configuration.task_push_notification_config.CopyFrom(TaskPushNotificationConfig(url=url))
        (response,) = [each async for each in client.send_message(asked)]
        assert response.task.status.state == TaskState.TASK_STATE_COMPLETED
        await async_wait_until(lambda: "TASK_STATE_COMPLETED" in str(posted))
    assert len(posted) > 1
    assert not holds_frames(posted)


async def test_push_configurations_pass_through(served: Served) -> None:
    async with await connect(served.card) as client:
        task = await task_of(client, "tck-input-required-push")
        config = TaskPushNotificationConfig(task_id=task.id, id="mine", url="http://127.0.0.1:9/")
        made = await client.create_task_push_notification_config(config)
        assert made.url == config.url
        named = {"task_id": task.id, "id": "mine"}
        found = await client.get_task_push_notification_config(named_request("Get", **named))
        assert found.url == config.url
        listed = await client.list_task_push_notification_configs(named_request("List", task_id=task.id))
        assert [each.id for each in listed.configs] == ["mine"]
        await client.delete_task_push_notification_config(named_request("Delete", **named))


def named_request(verb: str, **fields: str) -> Any:
    """Return a request about a push configuration."""
    import a2a.types as types  # noqa: PLC0415  # three names that only this function needs

    noun = "Configs" if verb == "List" else "Config"
    return getattr(types, f"{verb}TaskPushNotification{noun}Request")(**fields)


async def test_a_handler_has_what_the_inner_one_has(served: Served) -> None:
    assert isinstance(served.handler, AccpRequestHandler)
    assert served.handler.task_store is served.store
    assert copy(served.handler).inner is served.handler.inner
    with pytest.raises(AttributeError):
        _ = served.handler.nothing_of_this_name


async def test_an_extended_card_passes_through(served: Served) -> None:
    async with AsyncClient(timeout=PATIENCE) as http:
        body = {"jsonrpc": "2.0", "id": 1, "method": "GetExtendedAgentCard", "params": {}}
        answer = (await http.post(served.url, json=body, headers={"A2A-Version": "1.0"})).json()
    assert answer["error"]["message"] == "The agent does not support authenticated extended cards"


# --- A2A 0.3, through the compatibility routes ------------------------------------------------------------------------


async def ask_03(served: Served, name: str, method: str = "message/send", **headers: str) -> Any:
    """Return what a client of A2A 0.3 gets, without the ids and times that differ each time."""
    parts = [{"kind": "text", "text": "hello"}, {"kind": "data", "data": {"n": 1}}]
    message = {"kind": "message", "messageId": name, "role": "user", "parts": parts}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}
    async with Recorder() as http:
        await http.post(served.url, json=body, headers=headers)
    lines = [line.removeprefix("data: ") for line in http.answered[0].splitlines() if line.strip("\r\n: ")]
    return [without_ids(json.loads(line)) for line in lines if line.startswith("{")]


def without_ids(value: Any) -> Any:
    """Return JSON without ids and times."""
    if isinstance(value, dict):
        gone = {"id", "contextId", "taskId", "timestamp"}
        return {key: without_ids(member) for key, member in value.items() if key not in gone}
    return [without_ids(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("method", ["message/send", "message/stream"])
async def test_a_client_of_a2a_0_3_notices_nothing(method: str) -> None:
    async with serve(plain) as one, serve(negotiating) as two, serve(always) as three:
        expected = await ask_03(one, "several-03", method)
        assert expected and "error" not in expected[0]
        for served in (two, three):
            assert await ask_03(served, "several-03", method) == expected
            assert served.agent.seen[0].parts[0] == new_text_part("hello")


async def test_a_client_of_a2a_0_3_may_ask_for_frames(served: Served) -> None:
    (answer,) = await ask_03(served, "several-03", **{"X-A2A-Extensions": EXTENSION})
    assert answer["result"]["metadata"] == {"accp": True}
    assert answer["result"]["artifacts"][0]["parts"][0]["text"].startswith("@agent>sync:task{")


@pytest.mark.parametrize("streaming", [False, True])
async def test_frames_reach_a_client_that_speaks_a2a_0_3(streaming: bool) -> None:
    async with serve(plain) as one, serve(always) as two:
        results = []
        for served in (one, two):
            old = declare(card(jsonrpc=served.url))
            old.supported_interfaces[0].protocol_version = "0.3"
            async with await connect(old, streaming=streaming, aware=served is two) as client:
                results.append(await told(client, request("several-old", new_text_part("hello"))))
    # A2A 0.3 has no media type for text and data; a frame carries it all the same.
    plain_result, framed_result = (json.loads(json.dumps(result).replace(MEDIA_TYPE, "")) for result in results)
    assert framed_result == plain_result


# --- inner handlers of other make -------------------------------------------------------------------------------------


async def test_streams_of_copies_are_decoded_too() -> None:
    def copying(inner: RequestHandler) -> RequestHandler:
        own = inner.on_message_send_stream

        async def copied(params: Any, context: Any) -> AsyncIterator[Any]:
            async for event in own(params, context):
                yield type(event).FromString(event.SerializeToString())

        inner.on_message_send_stream = copied  # type: ignore[method-assign, assignment]  # gives each stream copies
        return always(inner)

    async with serve(copying) as copies, serve(plain) as one:
        async with await connect(copies.card, streaming=True) as client:
            framed = await told(client, request("several-copies"))
        async with await connect(one.card, streaming=True, aware=False) as client:
            assert await told(client, request("several-copies")) == framed
