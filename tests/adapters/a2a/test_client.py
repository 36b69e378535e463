"""The edge of the client: when it acts, and what it makes of a peer that lies."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import pytest
from a2a.client import ClientCallContext
from a2a.client.interceptors import AfterArgs, BeforeArgs
from a2a.helpers import new_data_part, new_text_part
from a2a.types import (
    AgentCard,
    Artifact,
    GetTaskRequest,
    Message,
    Part,
    Role,
    SendMessageResponse,
    StreamResponse,
    Task,
    TaskArtifactUpdateEvent,
    TaskStatus,
)

from accp_adapters.a2a import EXTENSION, AccpClientInterceptor, declare
from accp_adapters.a2a.wire.events import encode
from accp_adapters.a2a.wire.extension import VIEWS
from accp_adapters.a2a.wire.parts import ChunkStart
from accp_core.errors import ProtocolError
from tests.adapters.a2a.agent import TICKETS, card
from tests.adapters.a2a.calls import request

AWARE = declare(card())


async def begun(agent: AgentCard = AWARE, context: ClientCallContext | None = None, **options: bool) -> BeforeArgs:
    """Return a call after the interceptor saw it leave."""
    args = BeforeArgs(input=request("m"), method="send_message", agent_card=agent, context=context)
    await AccpClientInterceptor(**options).before(args)
    return args


async def received(events: Sequence[Any], context: ClientCallContext | None = None) -> list[Any]:
    """Return what an application gets of the events of one stream."""
    context = context or (await begun()).context
    interceptor, results = AccpClientInterceptor(), []
    for event in events:
        args = AfterArgs(result=event, method="send_message_streaming", agent_card=AWARE, context=context)
        await interceptor.after(args)
        results.append(args.result)
    return results


def chunk(index: int, *, append: bool = True, task: str = "t", restart: int = 0, **fields: Any) -> StreamResponse:
    """Return a chunk as our servers send it: part `index` of artifact "a", since it was begun anew `restart` times."""
    artifact = Artifact(artifact_id="a", parts=[new_text_part(f"piece {index}")])
    event = TaskArtifactUpdateEvent(task_id=task, context_id="c", artifact=artifact, append=append, **fields)
    return StreamResponse(artifact_update=encode(event, ChunkStart(index, restart), never_larger=False))


def begins(*parts: Part) -> StreamResponse:
    """Return the task that a stream begins with."""
    return StreamResponse(task=Task(id="t", context_id="c", artifacts=[Artifact(artifact_id="a", parts=parts)]))


async def test_a_call_asks_for_frames_and_keeps_what_the_caller_gave() -> None:
    context = ClientCallContext(
        state={"mine": 1}, timeout=3, service_parameters={"A2A-Extensions": "urn:x", "key": "1"}
    )
    args = await begun(context=context)
    assert args.context is not None and args.context is not context
    parameters = dict(args.context.service_parameters or {})
    assert len(parameters.pop("ACCP-Client")) == 32
    assert parameters == {"A2A-Extensions": f"{EXTENSION},urn:x,{VIEWS}", "key": "1"}
    assert args.context.timeout == 3
    assert args.context.state is context.state
    assert context.service_parameters == {"A2A-Extensions": "urn:x", "key": "1"}


async def test_a_request_is_not_changed_for_the_caller() -> None:
    asked = request("m")
    before = deepcopy(asked)
    args = BeforeArgs(input=asked, method="send_message", agent_card=AWARE)
    await AccpClientInterceptor().before(args)
    assert args.input != asked == before
    assert args.input.message.parts[1].text.startswith("@user>req:task{view:")


async def test_a_small_request_goes_as_it_is() -> None:
    asked = request("m", new_text_part("hi"))
    args = BeforeArgs(input=asked, method="send_message", agent_card=AWARE)
    await AccpClientInterceptor().before(args)
    assert args.input is asked


async def test_nothing_happens_with_an_agent_that_declares_nothing() -> None:
    args = await begun(card())
    assert args.context is None
    assert args.input == request("m")
    framed = encode(request("m").message, never_larger=False)
    after = AfterArgs(result=SendMessageResponse(message=framed), method="send_message", agent_card=card())
    await AccpClientInterceptor().after(after)
    assert after.result.message is not None and after.result.message == framed


async def test_other_results_pass() -> None:
    for result in (AWARE, None, StreamResponse(), GetTaskRequest(id="t")):
        assert await received([result]) == [result]


async def test_a_result_without_the_context_of_its_call_is_opened_all_the_same() -> None:
    args = AfterArgs(result=chunk(0, append=False), method="subscribe", agent_card=AWARE)
    await AccpClientInterceptor().after(args)
    assert args.result.artifact_update.artifact.parts[0].text == "piece 0"


# --- a peer that lies -------------------------------------------------------------------------------------------------


async def test_chunks_in_their_order_pass() -> None:
    first = [chunk(0, append=False, restart=1), chunk(1, restart=1), chunk(2, restart=1)]
    events = [begins(), *first, chunk(0, append=False, restart=2), chunk(1, restart=2)]
    texts = [each.artifact_update.artifact.parts[0].text for each in (await received(events))[1:]]
    assert texts == ["piece 0", "piece 1", "piece 2", "piece 0", "piece 1"]


@pytest.mark.parametrize(
    ("events", "code"),
    [
        ([begins(), chunk(0, append=False, restart=1), chunk(1, restart=1), chunk(1, restart=1)], "E3002"),
        ([begins(), chunk(0, append=False, restart=1), chunk(2, restart=1)], "E3003"),
        ([begins(), chunk(1, append=False, restart=1)], "E3003"),
        ([begins(new_text_part("one"), new_text_part("two")), chunk(1)], "E3002"),
        ([begins(new_text_part("one")), chunk(3)], "E3003"),
    ],
    ids=["repeated", "lost", "begun too late", "repeated after a snapshot", "lost after a snapshot"],
)
async def test_a_chunk_that_comes_twice_or_too_early_is_refused(events: list[StreamResponse], code: str) -> None:
    assert len(await received(events[:-1])) == len(events) - 1
    with pytest.raises(ProtocolError, match=code):
        await received(events)


async def test_streams_do_not_disturb_each_other() -> None:
    one, two = (await begun()).context, (await begun()).context
    await received([chunk(0, append=False), chunk(1)], one)
    assert len(await received([chunk(0, append=False)], two)) == 1
    assert len(await received([chunk(2)], one)) == 1


async def test_a_frame_of_another_task_opens_nothing() -> None:
    moved = chunk(0, append=False, task="other")
    moved.artifact_update.task_id = "t"
    (got,) = await received([moved])
    assert got.artifact_update.artifact.parts[0].text.startswith("@agent>stream:task{")


async def test_a_state_that_nobody_knows_passes() -> None:
    words = Message(message_id="m", role=Role.ROLE_AGENT, parts=[new_text_part("?"), new_data_part(TICKETS)])
    task = Task(id="t", context_id="c", status=TaskStatus(state=99, message=words))  # type: ignore[arg-type]
    (got,) = await received([StreamResponse(task=encode(task, never_larger=False))])
    assert got.task == task


HOSTILE = {
    "bracket bomb": "{" * 100_000,
    "digits": f"@agent>stream:task{{idx:0|d:{'9' * 5_000}|schema:ST}}[mid:MID,seq:1]",
    "deep": f"@agent>stream:task{{idx:0|d:{'[' * 50}{']' * 50}|schema:ST}}[mid:MID,seq:1]",
    "a huge text": f"@agent>stream:task{{idx:0|d:{'x' * 2_000_000}|schema:ST}}[mid:MID,seq:1]",
    "no schema": "@agent>stream:task{idx:0|d:x|schema:ZZ}[mid:MID,seq:1]",
    "a reference": "@agent>stream:task{idx:0|d:x|schema:$cold.x}[mid:MID,seq:1]",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
async def test_what_is_no_frame_of_ours_stays_text(text: str) -> None:
    hostile = chunk(0, append=False)
    mid = hostile.artifact_update.artifact.parts[0].text.partition("[mid:")[2][:12]
    hostile.artifact_update.artifact.parts[0].text = text.replace("MID", mid)
    (got,) = await received([hostile])
    assert got.artifact_update.artifact.parts[0].text == text.replace("MID", mid)


BROKEN = {
    "nothing": ("idx:0", "E1001"),
    "two contents": ("idx:0|d:x|value:y", "E1001"),
    "a broken view": ('idx:0|view:"rows_\\[3\\]_a"', "E1001"),
    "a view that asks for too much": ("idx:0|view:*1", "E1001"),
    "a number beyond a double": (f"idx:0|d:{'9' * 400}", "E1004"),
    "a reference": ("idx:0|d:$cold.secret", "E1004"),
    "a reference inside": ("idx:0|d:{x:$warm.secret}", "E1004"),
}


@pytest.mark.parametrize(("payload", "code"), BROKEN.values(), ids=BROKEN)
async def test_a_frame_of_ours_that_holds_nothing_of_ours_is_refused(payload: str, code: str) -> None:
    broken = chunk(0, append=False)
    part = broken.artifact_update.artifact.parts[0]
    part.text = f"@agent>stream:task{{{payload}|schema:ST}}[{part.text.partition('[')[2]}"
    with pytest.raises(ProtocolError, match=code):
        await received([broken])


async def test_huge_parts_pass_as_they_are() -> None:
    huge = Task(id="t", context_id="c", artifacts=[Artifact(artifact_id="a", parts=[new_text_part("x" * 2_000_000)])])
    huge.artifacts[0].parts.append(new_data_part({"rows": [{"n": n} for n in range(20_000)]}))
    framed = encode(huge)
    assert len(framed.artifacts[0].parts[1].text) < 200_000
    (got,) = await received([StreamResponse(task=framed)])
    assert got.task == huge
