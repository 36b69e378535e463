"""The edges of server and client: what stays plain, who is given frames, what a fault of our own costs."""

from __future__ import annotations

import asyncio
import json
import socket
import tracemalloc
from collections.abc import AsyncIterator
from copy import copy
from typing import Any

import pytest
from a2a import types
from a2a.client import A2AClientError, Client, ClientCallContext
from a2a.client.interceptors import AfterArgs, BeforeArgs
from a2a.helpers import new_data_part, new_text_part
from a2a.server.context import ServerCallContext
from a2a.types import AgentCard, Message, Part, SendMessageRequest, Task, TaskState
from a2a.utils import errors
from a2a.utils.errors import A2AError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from accp_adapters.a2a import (
    EXTENSION,
    VIEWS,
    AccpClientInterceptor,
    AccpRequestHandler,
    declare,
    error_code,
    is_declared,
)
from accp_adapters.a2a.frames import codec
from accp_core.accp import Envelope, Intent, serialize_frame
from accp_core.accp import Message as AccpMessage
from tests.adapters.a2a.agent import card
from tests.adapters.a2a.calls import ASKED, Recorder, asking, connect, request, told
from tests.adapters.a2a.serve import Served, always, negotiating, plain, running, serve
from tests.core.view.bombs import BOMBS
from tests.limits import async_wait_until

BOMB = BOMBS["a repeated array"]


def framed(**payload: Any) -> str:
    """Return a frame with this payload."""
    envelope = Envelope(msg_id="0123456789ab", sequence=1)
    message = AccpMessage(sender="user", intent=Intent.REQUEST, operation="task", payload=payload, envelope=envelope)
    (frame,) = codec().encode(message).frames
    return serialize_frame(frame)


LAYOUT = f"v4 on1l+4s;1.0:{len(BOMB)}"
FRAME = "@me>req:task{d:hi}[mid:0123456789ab,seq:1]"
AWARE = declare(card())
MEDIA_TYPE = ', "mediaType": "application/json"'


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    async with serve(always) as running_agent:
        yield running_agent


async def task_of(client: Client, name: str, asked: SendMessageRequest | None = None, **options: Any) -> Task:
    """Return the task that a request makes."""
    (response,) = [each async for each in client.send_message(asked or request(name), **options)]
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
            assert await client.get_task(types.GetTaskRequest(id=task.id)) == task
            listed = await client.list_tasks(types.ListTasksRequest(include_artifacts=True))
            assert [each.artifacts for each in listed.tasks] == [task.artifacts]
        frames = await client.get_task(types.GetTaskRequest(id=task.id, history_length=1))
        assert frames.history == task.history[-1:]


async def test_a_task_can_be_cancelled(served: Served) -> None:
    async with await connect(served.card) as client:
        asked = request("gate-cancel")
        asked.configuration.return_immediately = True
        (response,) = [each async for each in client.send_message(asked)]
        cancelled = await client.cancel_task(types.CancelTaskRequest(id=response.task.id))
        assert cancelled.status.state == TaskState.TASK_STATE_CANCELED
        with pytest.raises((A2AError, A2AClientError)) as refused:
            await client.cancel_task(types.CancelTaskRequest(id=response.task.id))
    assert error_code(refused.value) == "E5001"


async def events_of(stream: AsyncIterator[types.StreamResponse]) -> list[types.StreamResponse]:
    """Return all events of a stream."""
    return [event async for event in stream]


async def test_who_comes_later_is_given_the_task_as_it_is_then(served: Served) -> None:
    served.agent.second_gate.clear()
    async with await connect(served.card, streaming=True) as client:
        stream = aiter(client.send_message(request("gate-twice")))
        late = types.SubscribeToTaskRequest(id=(await anext(stream)).task.id)
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
        assert streams[0] == streams[1] and not holds_frames(streams)
        assert (await events_of(early))[2:] == streams[0]


@pytest.mark.parametrize(
    "sign",
    [
        {"metadata": {"accp": True}},
        {"extensions": [EXTENSION]},
        {"parts": [Part(text=FRAME, media_type="application/accp")]},
    ],
    ids=["metadata", "extensions of the message", "a frame in the message"],
)
async def test_nothing_in_a_message_asks_for_frames_and_all_of_it_reaches_the_agent(
    served: Served, sign: dict[str, Any]
) -> None:
    asked = request("several-sign")
    asked.message.MergeFrom(Message(**sign))
    asked.configuration.CopyFrom(types.SendMessageConfiguration(accepted_output_modes=["application/accp"]))
    async with await connect(served.card, aware=False) as client:
        (response,) = [each async for each in client.send_message(asked)]
    assert not holds_frames(response.task.artifacts)
    (seen,) = served.agent.seen
    seen.ClearField("task_id")
    seen.ClearField("context_id")
    assert seen == asked.message


# "Frames are embedded as A2A message parts with content type application/accp" (ACCP section 11.4), whoever wrote them.
async def test_a_frame_of_a_stranger_reaches_the_agent_as_what_it_says(served: Served) -> None:
    asked = request("several-frame", Part(text=FRAME, media_type="application/accp"))
    async with await connect(served.card, aware=False) as client:
        async for _ in client.send_message(asked, context=asking()):
            pass
    assert [part.text for part in served.agent.seen[0].parts] == ["hi"]


@pytest.mark.parametrize("payload", [{"view": BOMB}, {"view": BOMB, "layout": LAYOUT}])
async def test_a_view_that_expands_is_passed_on_before_it_does(served: Served, payload: dict[str, str]) -> None:
    text = framed(**payload)
    tracemalloc.start()
    async with await connect(served.card, aware=False) as client:
        asked = request("bomb", Part(text=text, media_type="application/accp"))
        await told(client, asked, context=asking())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert served.agent.seen[0].parts[0].text == text
    assert peak < 20_000_000


ROWS = [{"a": 1, "b": "x", "c": 2}]


@pytest.mark.parametrize(
    "asked",
    [
        request("m", new_data_part({"v": ROWS * 17_000})),
        request("m", *[new_data_part({"v": [{"a": n, "b": "x", "c": 2} for n in range(9_000)]})] * 2),
    ],
    ids=["equal rows", "two parts"],
)
async def test_the_values_in_frames_count_as_those_of_a_plain_body(served: Served, asked: SendMessageRequest) -> None:
    async with Recorder() as http, await connect(served.card, http=http) as client:
        with pytest.raises(A2AError, match="at most 10,000 values, found more in its frames") as refused:
            await task_of(client, "m", asked=asked)
        async with await connect(served.card, aware=False, http=http) as direct:
            with pytest.raises(A2AClientError, match="413"):
                await task_of(direct, "m", asked=asked)
        assert error_code(refused.value) == "E2003" and not served.agent.seen
        fewer = request("m", new_data_part({"v": ROWS * 2_000}))
        assert (await task_of(client, "m", asked=fewer)).history[0].parts == fewer.message.parts


@pytest.mark.parametrize("streaming", [False, True])
async def test_an_agent_that_lost_our_line_is_noticed_and_then_sent_plain_parts(streaming: bool) -> None:
    async with serve(plain, declared=True) as running, await connect(running.card, streaming=streaming) as client:
        with pytest.raises(A2AClientError, match="expected 'fixture' to read the frames that its card declares"):
            await told(client, request("several-stale"), raises=True)
        assert holds_frames(running.agent.seen)
        again = await told(client, request("several-again"), raises=True)
    assert running.agent.seen[1].parts == ASKED and not holds_frames(again)


async def test_the_switch_stops_frames_and_those_that_arrive_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    before = AccpClientInterceptor(never_larger=False)
    monkeypatch.setenv("ACCP_DISABLED", "1")
    assert (await begun()).input == request("m") and (await begun()).context is None
    assert not is_declared(declare(card()))
    async with serve(always, declared=False) as running, Recorder() as http:
        monkeypatch.delenv("ACCP_DISABLED")
        args = BeforeArgs(input=request("several-off"), method="send_message", agent_card=AWARE)
        await before.before(args)
        assert holds_frames(args.input)
        async with await connect(running.card, aware=False, http=http) as client:
            await told(client, args.input, context=args.context)
    assert running.agent.seen[0].parts == ASKED and not holds_frames(http.answered)


async def test_a_fault_of_our_own_loses_nothing_and_is_logged_once(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with await connect(served.card, aware=False, streaming=True) as client:
        expected = await told(client, request("several-fault"))

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("a fault of our own")

    monkeypatch.setattr("accp_adapters.a2a.frames.walk", broken)
    async with await connect(served.card, streaming=True) as client:
        assert await told(client, request("several-fault")) == expected
    assert isinstance(served.handler, AccpRequestHandler) and served.handler.faults > 3
    logged = [each for each in caplog.records if each.levelname == "WARNING" and each.name == "accp.a2a"]
    assert len(logged) == 2  # the server's and the client's first one


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
        asked.configuration.task_push_notification_config.CopyFrom(types.TaskPushNotificationConfig(url=url))
        (response,) = [each async for each in client.send_message(asked)]
        assert response.task.status.state == TaskState.TASK_STATE_COMPLETED
        await async_wait_until(lambda: "TASK_STATE_COMPLETED" in str(posted))
    assert len(posted) > 1
    assert not holds_frames(posted)


async def test_a_handler_has_what_the_inner_one_has(served: Served) -> None:
    assert isinstance(served.handler, AccpRequestHandler)
    assert served.handler.task_store is served.store
    assert copy(served.handler).inner is served.handler.inner
    with pytest.raises(AttributeError):
        _ = served.handler.nothing_of_this_name


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


# --- the client -------------------------------------------------------------------------------------------------------


async def begun(agent: AgentCard = AWARE, context: ClientCallContext | None = None, **options: bool) -> BeforeArgs:
    """Return a call after the interceptor saw it leave."""
    args = BeforeArgs(input=request("m"), method="send_message", agent_card=agent, context=context)
    await AccpClientInterceptor(**options).before(args)
    return args


async def test_a_call_asks_for_frames_and_keeps_what_the_caller_gave() -> None:
    context = ClientCallContext(
        state={"mine": 1}, timeout=3, service_parameters={"A2A-Extensions": "urn:x", "key": "1"}
    )
    args = await begun(context=context)
    assert args.context is not None
    assert args.context.service_parameters == {"A2A-Extensions": f"{EXTENSION},urn:x,{VIEWS}", "key": "1"}
    assert (args.context.timeout, args.context.state) == (3, context.state)
    assert context.service_parameters == {"A2A-Extensions": "urn:x", "key": "1"}
    assert args.input.message.parts[1].text.startswith("@user>req:task{view:")
    assert request("m").message.parts[1].HasField("data")


async def test_nothing_happens_with_an_agent_that_declares_nothing_and_to_other_results() -> None:
    args = await begun(card())
    assert (args.context, args.input) == (None, request("m"))
    answer = types.SendMessageResponse(message=Message(parts=[Part(text=FRAME, media_type="application/accp")]))
    for agent, result in ((card(), answer), (AWARE, AWARE), (AWARE, None), (AWARE, types.StreamResponse())):
        after = AfterArgs(result=result, method="send_message", agent_card=agent)  # type: ignore[arg-type]
        await AccpClientInterceptor().after(after)
        assert after.result == result


def test_a_card_declares_the_extension_once_and_never_requires_it() -> None:
    signed = card(jsonrpc="http://x/")
    signed.signatures.add(protected="x", signature="y")
    declared = declare(signed)
    declarations = [(each.uri, each.required) for each in declared.capabilities.extensions]
    assert declarations == [(EXTENSION, False), (VIEWS, False)]
    assert is_declared(declared) and not is_declared(signed)
    assert list(declared.default_output_modes) == ["text/plain", "application/accp"]
    assert not declared.signatures and len(signed.signatures) == 1
    assert declare(declared) == declared


@pytest.mark.parametrize(
    ("kind", "code"),
    [(errors.TaskNotFoundError, "E2001"), (errors.InvalidParamsError, "E1004"), (A2AClientError, "E3001")],
)
def test_every_error_has_a_code(kind: type[Exception], code: str) -> None:
    assert error_code(kind("why")) == code
    assert error_code(errors.InvalidParamsError(data={"accp": "E3002"})) == "E3002"
    assert error_code(errors.InvalidParamsError(data={"accp": "E7777"})) == "E1004"
